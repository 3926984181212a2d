import type { App } from "../app";
import { postJson } from "../server/api";
import { h } from "../shell/dom";
import { exportedView } from "../shell/export_button";
import { save } from "../shell/tools";
import type { Machine, Plan, Point } from "./plan";
import type { Planner } from "./planner";

/** What a file can hold for the workshop. */
type Loaded = { plan: Partial<Plan> } | { machine: Partial<Machine> } | { waypoints: Point[] };

const SAVED: [name: string, label: string, title: string][] = [
  ["walk.json", "walk JSON", "The plan and the results of its walk; can be loaded again"],
  ["machine.json", "robot JSON", "The robot alone, for kinetarium walk --machine"],
  ["joints.csv", "joints CSV", "Body, joints and margin of every frame"],
  ["walk.html", "page HTML", "One file that plays the walk without a server"],
  ["walker.xml", "robot MJCF", "The robot for MuJoCo, with closed loops"],
];

/** Files of walks: saved by the server, loaded by the page. */
export class Files {
  readonly element: HTMLElement;
  private readonly input = h("input", { type: "file", accept: ".json,.csv,.txt", hidden: true, "data-load": "walk" });

  /** @param moved Told when another path was loaded, which may lie elsewhere. */
  constructor(
    private readonly app: App,
    private readonly planner: Planner,
    private readonly moved: () => void,
  ) {
    this.input.addEventListener("change", () => {
      const file = this.input.files?.[0];
      this.input.value = "";
      if (file) void app.guarded(() => this.read(file));
    });
    const saving = SAVED.map(([name, label, title]) =>
      h("button", { title, "data-save": name, onclick: () => void app.guarded(() => this.save(name)) }, label),
    );
    const picture = async () => save(await app.stage.png(), "walk.png");
    this.element = h("div", {},
      h("p.empty", {}, "Save"),
      h("div.buttons", {}, ...saving, h("button", { title: "A picture of the view", "data-save": "walk.png", onclick: () => void app.guarded(picture) }, "picture PNG")),
      h("p.empty", {}, "Load a walk, a robot, or waypoints (CSV x,y or JSON)"),
      h("div.buttons", {}, h("button", { onclick: () => this.load() }, "load a file"), this.input),
    );
  }

  /** Ask for a file. */
  load(): void {
    this.input.click();
  }

  private async save(name: string): Promise<void> {
    const { plan, kinds } = this.planner;
    const answer = await postJson(`api/walking/files/${name}`, { plan, kinds, view: exportedView(this.app) });
    save(await answer.blob(), name);
  }

  private async read(file: File): Promise<void> {
    const { planner } = this;
    const loaded = understand(await file.text());
    if ("plan" in loaded) await planner.replace(loaded.plan);
    else if ("machine" in loaded) await planner.replace({ machine: { ...planner.plan.machine, ...loaded.machine } });
    else await planner.replace({ waypoints: loaded.waypoints });
    if (!("machine" in loaded)) this.moved();
  }
}

/** Tell what the text of a file holds. */
export function understand(text: string): Loaded {
  if (!/^\s*[[{]/.test(text)) return { waypoints: points(rows(text)) };
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    throw new Error("this file is not JSON");
  }
  if (Array.isArray(data)) return { waypoints: points(data) };
  const { schema_version: _, facts: __, ...fields } = data as Record<string, unknown>;
  if ("plan" in fields) return { plan: fields.plan as Partial<Plan> };
  if ("machine" in fields) return { plan: fields as Partial<Plan> };
  if ("waypoints" in fields) return { waypoints: points(fields.waypoints) };
  if ("l1" in fields || "gain" in fields) return { machine: fields as Partial<Machine> };
  throw new Error("this file contains neither a walk nor a robot nor waypoints");
}

/** Cut CSV into rows; a first line of names is left out. */
function rows(text: string): unknown[] {
  const lines = text.split(/\r?\n/).filter((line) => line.trim());
  return (/\d/.test(lines[0] ?? "") ? lines : lines.slice(1)).map((line) => line.split(/[,;\t]/).map(Number));
}

function points(data: unknown): Point[] {
  const fine = Array.isArray(data) && data.length > 0 && data.every(
    (point) => Array.isArray(point) && point.length === 2 && point.every((value) => Number.isFinite(value)),
  );
  if (!fine) throw new Error("each waypoint must be two numbers");
  return data as Point[];
}
