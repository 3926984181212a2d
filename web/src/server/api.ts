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

/** Ask the server for plain data. */
export async function getJson<T>(address: string): Promise<T> {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(await complaint(answer));
  return (await answer.json()) as T;
}

/** Give the server plain data, and take the answer. */
export async function postJson(address: string, data: unknown): Promise<Response> {
  const answer = await fetch(address, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(data),
  });
  if (!answer.ok) throw new Error(await complaint(answer));
  return answer;
}
