import type { App, Mode } from "../app";
import { ChannelPlots } from "../plots/channels";
import { Cast } from "../replay/cast";
import { displayPanel } from "../runs/display";
import { type FolderEntry, getJson, type Listing } from "../server/api";
import { ServerSource } from "../server/source";
import { h, short } from "../shell/dom";
import type { View } from "../shell/link";
import { Scatter, type Value } from "./scatter";

/** A sweep as the server gives it: columns of equal length, a row for each result. */
interface SweepTable {
  axes: string[];
  results: string[];
  columns: Record<string, Value[]>;
}

type Choice = "x" | "y" | "color";

const STATUS = "status";
/** How runs ended that have a recording. */
const RECORDED = ["completed", "diverged"];
/** Rows of the table in the page; the plot has all. */
const MOST_ROWS = 200;

/** Sweeps: results over what was varied, and from a point to its replay. */
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
  private turn = 0;
  private ascending = true;
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
  private readonly rows = h("div.rows");
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
    if (!several.length) {
      left.append(h("p.empty", {}, "No sweeps yet: kinetarium sweep FILE.toml --out DIR in this folder."));
      return;
    }
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
      this.rows,
    );
    this.stop.push(displayPanel(app, cast, app.layout.panel("left", "View")));
    const scatter = (this.scatter = new Scatter(app));
    right.append(scatter.element, this.details);
    const plots = (this.plots = new ChannelPlots(app, cast, app.layout.panel("right", "Plots")));
    this.stop.push(
      scatter.picked.on((at) => void app.guarded(() => this.pick(at))),
      () => scatter.dispose(),
      () => plots.dispose(),
      app.live.message.on((message) => {
        if (message.type === "runs") void app.guarded(() => this.open(this.folders.value));
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
    this.cast = this.scatter = this.folder = this.plots = null;
    this.selected = -1;
    this.details.replaceChildren();
  }

  state(): Record<string, unknown> {
    const box = this.scatter?.element.querySelector("canvas")?.getBoundingClientRect();
    const places = this.scatter?.places ?? [];
    return {
      rows: this.length,
      key: this.value("key", this.selected),
      points: places.slice(0, 100).map((at) => (at && box ? [box.left + at[0], box.top + at[1]] : null)),
    };
  }

  private get length(): number {
    return this.table.columns.key?.length ?? 0;
  }

  private value(column: string, row: number): Value {
    return this.table.columns[column]?.[row] ?? null;
  }

  /** Show a folder; again when it has changed, with what was chosen. */
  private async open(id: string, folders?: FolderEntry[]): Promise<void> {
    const again = id === this.folder?.id;
    const key = this.value("key", this.selected);
    const listed = folders ?? (await getJson<Listing>("api/runs")).folders;
    const folder = listed.find((one) => one.id === id);
    if (!folder) return;
    const table = await getJson<SweepTable>(`api/sweeps/${id}`);
    if (this.app.mode !== this) return;
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
    this.scatter?.show(column("x", this.logs.x.checked), column("y", this.logs.y.checked), column("color"));
    this.scatter?.select(this.selected);
    this.list();
  }

  /** List the rows by their y, the first ones only. */
  private list(): void {
    const { x, y, color } = this.choices;
    const names = [...new Set([x.value, y.value, color.value])];
    const values = this.table.columns[y.value] ?? [];
    const order = values.map((_, row) => row).sort((a, b) => {
      const sign = compared(values[a] ?? null, values[b] ?? null);
      return this.ascending ? sign : -sign;
    });
    const failed = (this.table.columns[STATUS] ?? []).filter((status) => status !== "completed").length;
    const several = this.length > MOST_ROWS ? `, ${MOST_ROWS} listed` : "";
    this.count.textContent = `${this.length} results${several}, ${failed} not completed`;
    const turn = h("button.chip", {
      title: "Sort by y, the other way",
      onclick: () => {
        this.ascending = !this.ascending;
        this.list();
      },
    }, this.ascending ? "▲" : "▼");
    this.rows.replaceChildren(
      h("table.sweep", {},
        h("tr", {}, ...names.map((name) => h("th", {}, name)), h("th", {}, turn)),
        ...order.slice(0, MOST_ROWS).map((row) => this.row(row, names)),
      ),
    );
  }

  private row(row: number, names: string[]): HTMLElement {
    const open = () => void this.app.guarded(() => this.pick(row));
    return h(
      "tr",
      {
        "aria-selected": row === this.selected,
        "data-status": this.value(STATUS, row),
        title: this.value(STATUS, row),
      },
      ...names.map((name) => h("td", {}, words(this.value(name, row)))),
      h("td", {}, h("button.chip", { title: "Show its replay", onclick: open }, "▶")),
    );
  }

  /** Show a case: its values, and its replay if it has one. */
  private async pick(row: number): Promise<void> {
    this.selected = row;
    this.scatter?.select(row);
    this.list();
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
    const key = encodeURIComponent(String(this.value("key", row)));
    const added = await cast!.add(new ServerSource(`api/replay/${this.folder!.id}/${key}`));
    // Another point may have been chosen meanwhile.
    if (turn !== this.turn) cast!.remove(added);
  }

  private clear(): void {
    this.turn++;
    this.details.replaceChildren();
    for (const actor of [...(this.cast?.actors ?? [])]) this.cast?.remove(actor);
  }
}

function words(value: Value): string {
  return typeof value === "number" ? short(value) : String(value ?? "–");
}

/** Compare two values of a column; rows without one come last. */
function compared(a: Value, b: Value): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
}
