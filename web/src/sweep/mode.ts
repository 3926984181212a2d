import type { App, Mode } from "../app";
import { ChannelPlots } from "../plots/channels";
import { Cast } from "../replay/cast";
import { displayPanel } from "../runs/display";
import { type FolderEntry, getJson, type Listing } from "../server/api";
import { ServerSource } from "../server/source";
import { h } from "../shell/dom";
import type { View } from "../shell/link";
import { Parallel } from "./parallel";
import type { Value } from "./scale";
import { Scatter } from "./scatter";
import { RunTable, words } from "./table";

/** A sweep as the server gives it: columns of equal length, a row for each result. */
interface SweepTable {
  axes: string[];
  results: string[];
  columns: Record<string, Value[]>;
  /** What came out, in words; of a finished sweep. */
  conclusion?: string;
}

type Choice = "x" | "y" | "color";

const STATUS = "status";
/** How runs ended that have a recording. */
const RECORDED = ["completed", "diverged"];
/** Identifies the table of all runs; keys of its rows have their folder before them. */
const ALL = "all";
/** Columns with an axis in the parallel coordinates, as far as there is room. */
const MOST_AXES = 8;

/** Results of sweeps, batches and of all runs over what was varied; from a row, a point or a line to its replay. */
export class SweepMode implements Mode {
  readonly id = "sweep";
  readonly title = "Sweeps";
  readonly about = "Plot any result over what was varied, and go from a point to its replay.";
  cast: Cast | null = null;
  private app!: App;
  private folder: FolderEntry | null = null;
  private table: SweepTable = { axes: [], results: [], columns: {} };
  private scatter: Scatter | null = null;
  private plots: ChannelPlots | null = null;
  private selected = -1;
  private parallel: Parallel | null = null;
  private turn = 0;
  private opening = 0;
  private readonly rows = new RunTable(() => this.app.layout.stage);
  private stop: (() => void)[] = [];
  private readonly folders = h("select", { "aria-label": "Sweep" });
  private readonly choices: Record<Choice, HTMLSelectElement> = {
    x: h("select", { "aria-label": "x" }),
    y: h("select", { "aria-label": "y" }),
    color: h("select", { "aria-label": "colour" }),
  };
  private readonly logs: Record<"x" | "y", HTMLInputElement> = {
    x: h("input", { type: "checkbox", "aria-label": "logarithmic x" }),
    y: h("input", { type: "checkbox", "aria-label": "logarithmic y" }),
  };
  private readonly count = h("p.empty");
  private readonly conclusion = h("p.conclusion");
  private readonly details = h("div.details", { "aria-live": "polite" });

  constructor() {
    for (const input of [...Object.values(this.choices), ...Object.values(this.logs)])
      input.addEventListener("change", () => this.draw());
    this.folders.addEventListener("change", () => {
      void this.app.guarded(() => this.open(this.folders.value));
    });
  }

  async enter(app: App): Promise<void> {
    this.app = app;
    const cast = (this.cast = new Cast(app));
    const left = app.layout.panel("left", "Sweep");
    const right = app.layout.panel("right", "Results");
    const { folders } = await getJson<Listing>("api/runs");
    if (app.mode !== this) return;
    // A batch is a sweep of its cases; those with a sweep file come first.
    const several = folders.filter((folder) => folder.runs.length > 1);
    several.sort((a, b) => Number(b.sweep ?? false) - Number(a.sweep ?? false));
    if (!folders.some((folder) => folder.runs.length)) {
      left.append(h("p.empty", {}, "No runs yet: kinetarium sweep FILE.toml --out DIR in this folder."));
      return;
    }
    several.push({ id: ALL, name: "all runs", runs: [] });
    cast.invitation = "A point, a line or ▶ shows its run here.";
    cast.arrange();
    this.folders.replaceChildren(...several.map(({ id, name }) => h("option", { value: id }, name)));
    const { x, y, color } = this.choices;
    const row = (name: string, ...fields: HTMLElement[]) =>
      h("div.row", {}, h("span", {}, name), ...fields);
    left.append(
      this.folders,
      row("x", x, h("label", {}, this.logs.x, " log")),
      row("y", y, h("label", {}, this.logs.y, " log")),
      row("colour", color),
      this.count,
      this.rows.element,
    );
    this.stop.push(displayPanel(app, cast, app.layout.panel("left", "View")));
    const scatter = (this.scatter = new Scatter(app));
    const parallel = (this.parallel = new Parallel(app));
    right.append(this.conclusion, scatter.element, parallel.element, this.details);
    const plots = (this.plots = new ChannelPlots(app, cast, app.layout.panel("right", "Plots")));
    this.stop.push(
      ...[scatter, parallel, this.rows].map((part) => part.picked.on((at) => void app.guarded(() => this.pick(at)))),
      ...[scatter, parallel, this.rows].map((part) => () => part.dispose()),
      () => plots.dispose(),
      app.live.message.on((message) => {
        if (message.type === "runs") void app.guarded(() => this.read(this.folders.value));
      }),
    );
    const { asked } = app;
    const first = several.find((folder) => folder.id === asked.get("sweep")) ?? several[0]!;
    await this.open(first.id, several);
    for (const [choice, select] of Object.entries(this.choices)) {
      const name = asked.get(choice);
      if (name !== null && this.table.columns[name]) select.value = name;
    }
    for (const [axis, box] of Object.entries(this.logs)) box.checked = asked.getAll("log").includes(axis);
    plots.choose(asked.getAll("channel"));
    cast.read(asked);
    this.draw();
    const picked = (this.table.columns.key ?? []).indexOf(asked.get("key"));
    if (picked >= 0) await this.pick(picked);
  }

  view(): View {
    const { x, y, color } = this.choices;
    const key = this.value("key", this.selected);
    return {
      sweep: this.folder?.id ?? [],
      x: x.value,
      y: y.value,
      color: color.value,
      log: Object.entries(this.logs).filter(([, box]) => box.checked).map(([axis]) => axis),
      key: key === null ? [] : String(key),
      channel: this.plots?.channels ?? [],
      ...this.cast?.written(),
    };
  }

  leave(): void {
    for (const stop of this.stop.splice(0)) stop();
    this.cast?.clear();
    this.cast = this.scatter = this.parallel = this.plots = this.folder = null;
    this.selected = -1;
    this.details.replaceChildren();
  }

  state(): Record<string, unknown> {
    return {
      sweep: this.folder?.name ?? null,
      rows: this.length,
      key: this.value("key", this.selected),
      lines: (this.parallel?.lines ?? []).slice(0, 100).map((line) => line.map((at) => at && this.parallel!.onPage(at))),
      points: (this.scatter?.places ?? []).slice(0, 100).map((at) => at && this.scatter!.onPage(at)),
    };
  }

  private get length(): number {
    return this.table.columns.key?.length ?? 0;
  }

  private value(column: string, row: number): Value {
    return this.table.columns[column]?.[row] ?? null;
  }

  /** Show a folder. */
  private async open(id: string, folders?: FolderEntry[]): Promise<void> {
    this.opening++;
    await this.read(id, folders);
  }

  /** Read a folder and show it; with what is chosen, if it is shown already. */
  private async read(id: string, folders?: FolderEntry[]): Promise<void> {
    const { opening } = this;
    const listed = folders ?? (await getJson<Listing>("api/runs")).folders;
    const folder = id === ALL ? { id, name: "all runs", runs: [] } : listed.find((one) => one.id === id);
    if (!folder) return;
    const table = await getJson<SweepTable>(`api/sweeps/${id}`);
    // Another may have been asked for meanwhile.
    if (this.app.mode !== this || opening !== this.opening) return;
    const again = id === this.folder?.id;
    const key = this.value("key", this.selected);
    [this.folder, this.table] = [folder, table];
    this.folders.value = id;
    this.selected = again ? (table.columns.key ?? []).indexOf(key) : -1;
    this.offer(again);
    this.draw();
    if (!again) this.clear();
  }

  /** Offer all columns, at first what was varied over the first result. */
  private offer(keep: boolean): void {
    const { axes, results, columns } = this.table;
    const names = Object.keys(columns).filter((name) => name !== "key" && name !== "message");
    const numbers = results.filter((name) => columns[name]!.some((value) => typeof value === "number"));
    const words = names.find((name) => columns[name]!.some((value) => typeof value === "string"));
    const first: Record<Choice, string> = {
      x: axes.find((axis) => axis !== "engine") ?? axes[0] ?? names[0] ?? "",
      y: numbers[0] ?? results[0] ?? STATUS,
      color: names.includes("engine") ? "engine" : (axes[1] ?? words ?? STATUS),
    };
    for (const choice of Object.keys(first) as Choice[]) {
      const select = this.choices[choice];
      const chosen = keep && names.includes(select.value) ? select.value : first[choice];
      select.replaceChildren(...names.map((name) => h("option", { value: name }, name)));
      select.value = chosen;
    }
  }

  private draw(): void {
    const column = (choice: Choice, log = false) => {
      const name = this.choices[choice].value;
      return { name, values: this.table.columns[name] ?? [], log };
    };
    const [x, y] = [column("x", this.logs.x.checked), column("y", this.logs.y.checked)];
    // A run of another study has no such result; that is no failure, which would be marked on the axis.
    const states = this.table.columns[STATUS] ?? [];
    x.values = x.values.map((value, row) => ((y.values[row] ?? null) === null && RECORDED.includes(String(states[row])) ? null : value));
    this.scatter?.show(x, y, column("color"));
    this.scatter?.select(this.selected);
    const paint = this.scatter?.paint ?? (() => "");
    const names = (["x", "y", "color"] as const).map((choice) => this.choices[choice].value);
    this.rows.show(this.table.columns, [...new Set(names)], paint);
    this.rows.select(this.selected);
    this.parallel?.show(this.axes().map((name) => ({ name, values: this.table.columns[name] ?? [] })), paint);
    this.parallel?.select(this.selected);
    const failed = (this.table.columns[STATUS] ?? []).filter((status) => status !== "completed").length;
    this.conclusion.textContent = this.table.conclusion ?? "";
    this.conclusion.hidden = !this.table.conclusion;
    this.count.textContent = `${this.length} results, ${failed} not completed`;
  }

  /** The columns of the parallel coordinates that differ: what was chosen, what was varied, other results. */
  private axes(): string[] {
    const { axes, results, columns } = this.table;
    const { x, y, color } = this.choices;
    const found = new Map<string, string>();
    for (const name of new Set([x.value, color.value, y.value, ...axes, ...results])) {
      const values = columns[name];
      if (!values) continue;
      // A column of words that divides the rows as another does has nothing to add.
      const first = new Map<string, number>();
      const parts = values.map((value, row) => first.get(String(value)) ?? (first.set(String(value), row), row));
      const words = values.some((value) => typeof value === "string");
      const key = words ? parts.join() : name;
      const differs = new Set(values.filter((value) => value !== null)).size > 1;
      if (differs && !found.has(key)) found.set(key, name);
    }
    return [...found.values()].slice(0, MOST_AXES);
  }

  /** Show a case: its values, and its replay if it has one. */
  private async pick(row: number): Promise<void> {
    this.selected = row;
    for (const part of [this.scatter, this.parallel, this.rows]) part?.select(row);
    this.clear();
    const { axes, results } = this.table;
    const facts = [...axes, ...results].filter((name) => this.value(name, row) !== null);
    const status = String(this.value(STATUS, row));
    this.details.replaceChildren(
      h("h3", {}, axes.map((name) => `${name} ${words(this.value(name, row))}`).join(", ")),
      h("dl", {}, ...facts.flatMap((name) => [h("dt", {}, name), h("dd", {}, words(this.value(name, row)))])),
    );
    if (!RECORDED.includes(status)) {
      const message = String(this.value("message", row) ?? "");
      this.details.prepend(h("p.failed", {},
        `${status}, so that there is no replay: ${message || "no reason is known"}. `,
        h("code", {}, `kinetarium resume ${this.folder!.name} --retry-failed`), " runs it again."));
      return;
    }
    const { turn, cast } = this;
    const key = String(this.value("key", row));
    const cut = this.folder!.id === ALL ? key.indexOf("/") : -1;
    const folder = cut < 0 ? this.folder!.id : key.slice(0, cut);
    const added = await cast!.add(new ServerSource(`api/replay/${folder}/${encodeURIComponent(key.slice(cut + 1))}`));
    // Another point may have been chosen meanwhile.
    if (turn !== this.turn) cast!.remove(added);
  }

  private clear(): void {
    this.turn++;
    this.details.replaceChildren();
    for (const actor of [...(this.cast?.actors ?? [])]) this.cast?.remove(actor);
  }
}
