import { complaint } from "../server/source";
import { h } from "../shell/dom";
import type { Finding } from "./room_socket";

/** What the server found in a dropped robot. */
export interface Dropped {
  ok: boolean;
  id?: string;
  name?: string;
  file: string;
  text: string;
  message?: string;
  links?: number;
  joints?: number;
  mass?: number;
  findings: Finding[];
}

/** Suffixes of robot files, and of all files that are sent. */
export interface Kinds {
  robot: string[];
  beside: string[];
}

const MOST_BYTES = 3_900_000;
/** Lines shown before and after one with a finding. */
const AROUND = 1;

const ends = (name: string, suffixes: string[]) => suffixes.some((suffix) => name.toLowerCase().endsWith(suffix));

/** Send a robot file, and the meshes that were dropped with it, to the server. */
export async function sendRobot(files: File[], kinds: Kinds): Promise<Dropped> {
  const path = (file: File) => file.webkitRelativePath || file.name;
  const kept = files.filter((file) => ends(file.name, kinds.beside));
  const main = kept.find((file) => ends(file.name, kinds.robot));
  if (!main) throw new Error(`a robot file ends with one of ${kinds.robot.join(", ")}`);
  const size = kept.reduce((sum, file) => sum + file.size, 0);
  if (size > MOST_BYTES) throw new Error(`the files have ${(size / 1e6).toFixed(1)} MB; up to ${MOST_BYTES / 1e6} MB can be dropped. Larger ones: kinetarium inspect`);
  const head = new TextEncoder().encode(JSON.stringify({ file: path(main), files: kept.map((file) => [path(file), file.size]) }));
  const length = new Uint8Array(new Uint32Array([head.length]).buffer);
  const answer = await fetch("api/live/robots", { method: "POST", body: new Blob([length, head, ...kept]) });
  if (!answer.ok) throw new Error(await complaint(answer));
  return (await answer.json()) as Dropped;
}

/** Take files that are dropped anywhere on the page. */
export function dropTarget(take: (files: File[]) => void): void {
  const veil = h("div.veil", { hidden: true }, h("strong", {}, "Drop a robot file: URDF, xacro or MJCF, with its meshes"));
  document.body.append(veil);
  const holdsFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
  document.addEventListener("dragover", (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    veil.hidden = false;
  });
  document.addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) veil.hidden = true;
  });
  document.addEventListener("drop", (event) => {
    veil.hidden = true;
    if (!holdsFiles(event)) return;
    event.preventDefault();
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length) take(files);
  });
}

/** What was found in a robot file, each at its lines. */
export function findingsView({ ok, file, text, message, name, links, joints, mass, findings }: Dropped): HTMLElement {
  const lines = text.split("\n");
  const verdict = ok
    ? `${name}: ${links} links, ${joints} moving joints, ${mass?.toFixed(2)} kg; ${findings.length ? `${findings.length} to look at` : "nothing to complain of"}`
    : `Refused: ${findings.length || 1} ${findings.length === 1 || !findings.length ? "fault" : "faults"}`;
  return h(
    "div.findings",
    { "data-ok": ok },
    h("p.verdict", {}, h("b", {}, file), h("br"), verdict),
    !ok && !findings.length && h("p.failed", {}, message ?? ""),
    ...findings.map(({ level, code, text: words, line, file: place }) =>
      h(
        "div.finding",
        { "data-level": level, "data-line": line ?? "" },
        h("p", {}, h("b", {}, level), ` ${words} `, h("i", {}, `[${code}]`)),
        line !== null && (!place || place.endsWith(file)) && excerpt(lines, line),
      ),
    ),
  );
}

function excerpt(lines: string[], line: number): HTMLElement {
  const from = Math.max(1, line - AROUND);
  const rows = lines.slice(from - 1, line + AROUND);
  return h("pre", {}, ...rows.map((row, i) =>
    h("span", { "data-here": from + i === line }, `${String(from + i).padStart(4)}  ${row.slice(0, 200)}\n`)));
}
