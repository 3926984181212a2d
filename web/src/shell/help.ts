import type { App } from "../app";
import { dialog } from "./dialog";
import { h } from "./dom";
import type { Key } from "./keys";

const MOUSE = [
  ["drag", "turn the camera"],
  ["right drag", "move it sideways"],
  ["wheel", "zoom to the pointer"],
  ["drag on a plot", "set the time"],
];
const NAMES: Record<string, string> = {
  " ": "Space", ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Escape: "Esc", Backspace: "⌫", "-": "−",
};
/** What keys are about, by words of their help; the first that fits. */
const SUBJECTS: [title: string, words: RegExp][] = [
  ["Time", /play|sample|start|end\b|slower|faster|loop/],
  ["Camera", /camera|view\b|perspective|zoom|fit/],
  ["Page", /panels|dark|picture|list|link|video/],
  ["This mode", /./],
];

/** Show the keys and what the mouse does. */
export function showHelp(app: App): void {
  const groups = new Map<string, Key[]>(SUBJECTS.map(([title]) => [title, []]));
  for (const key of app.keys.list()) {
    const [title] = SUBJECTS.find(([, words]) => words.test(key.help))!;
    groups.get(title)!.push(key);
  }
  const lists = [...groups].filter(([, keys]) => keys.length).map(([title, keys]) =>
    list(title, together(keys)));
  dialog("Keys and mouse", h("div.keys", {}, ...lists, list("Mouse on the stage", MOUSE.map(([what, help]) => [[what!], help!]))));
}

function list(title: string, rows: [caps: string[], help: string][]): HTMLElement {
  return h("section", {},
    h("h3", {}, title),
    h("dl", {}, ...rows.flatMap(([names, help]) => [h("dt", {}, ...names.map((name) => h("kbd", {}, name))), h("dd", {}, help)])),
  );
}

/** Put keys that do the same in one row: Shift and any of the arrows. */
function together(keys: Key[]): [caps: string[], help: string][] {
  const rows = new Map<string, [caps: string[], help: string]>();
  for (const { key, help } of keys) {
    const names = caps(key);
    const same = [...names.slice(0, -1), help].join(" ");
    rows.set(same, [[...new Set([...(rows.get(same)?.[0] ?? []), ...names])], help]);
  }
  return [...rows.values()];
}

/** Give the caps of the keyboard that a key is pressed by. */
function caps(key: string): string[] {
  const parts = key === "+" ? ["+"] : key.split("+").filter(Boolean);
  return parts.map((part) => NAMES[part] ?? (part.length === 1 ? part.toUpperCase() : part));
}
