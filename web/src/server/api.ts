import { complaint } from "./source";

export interface RunEntry {
  key: string;
  label: string;
  case: Record<string, unknown>;
  status: string;
  message: string;
  rows: Record<string, unknown>[];
}

export interface FolderEntry {
  id: string;
  name: string;
  study?: string;
  title?: string;
  finished?: boolean;
  sweep?: boolean;
  error?: string;
  runs: RunEntry[];
}

export interface MapEntry {
  id: string;
  name: string;
}

export interface Listing {
  root: string;
  folders: FolderEntry[];
  maps: MapEntry[];
}

/** The server does not answer, which says nothing of what it was asked for. */
export class Unreachable extends Error {}

async function ask(address: string, request?: RequestInit): Promise<Response> {
  try {
    return await fetch(address, request);
  } catch {
    throw new Unreachable("the server does not answer");
  }
}

/** Ask the server for plain data. */
export async function getJson<T>(address: string): Promise<T> {
  const answer = await ask(address);
  if (!answer.ok) throw new Error(await complaint(answer));
  return (await answer.json()) as T;
}

/** Give the server plain data, and take the answer. */
export async function postJson(address: string, data: unknown): Promise<Response> {
  const answer = await ask(address, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(data),
  });
  if (!answer.ok) throw new Error(await complaint(answer));
  return answer;
}
