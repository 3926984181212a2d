import type { App } from "../app";
import { Plot } from "../plots/plot";
import { TimeWindow } from "../plots/time_window";
import { h } from "../shell/dom";
import { LEG_NAMES } from "./plan";
import type { Troupe } from "./troupe";
import type { Walker } from "./walker";

const DEGREES = 180 / Math.PI;
/** How long nothing must have changed before plots are drawn anew [ms]. */
const QUIET = 120;

/** The joint values of all four legs at the time shown, and as plots over time. */
export class JointWindow {
  readonly table = h("table.joints");
  readonly plots = h("div");
  private readonly charts = h("div");
  private readonly choice = h("div.choice");
  private shown = new Set(["h_x", "margin"]);
  private drawn: Plot[] = [];
  private cells: HTMLElement[][] = [];
  private waiting = 0;
  private readonly window = new TimeWindow();
  private readonly stop: (() => void)[];

  /** @param busy Tells whether plots should wait, as the walk is about to change again. */
  constructor(
    private readonly app: App,
    private readonly troupe: Troupe,
    private readonly busy: () => boolean = () => false,
  ) {
    this.plots.append(this.choice, this.charts);
    this.stop = [
      troupe.changed.on(() => this.renew()),
      app.theme.changed.on(() => this.renew()),
      app.stage.drawn.on(() => this.tell()),
      troupe.picked.on(() => this.mark()),
    ];
  }

  dispose(): void {
    clearTimeout(this.waiting);
    for (const stop of this.stop) stop();
    for (const plot of this.drawn.splice(0)) plot.dispose();
  }

  private renew(): void {
    const { walker } = this.troupe;
    if (!walker) return this.clear();
    const turning = walker.facts.kind === "ttr";
    const names = ["leg", "h_x", turning ? "ω [°]" : "h_y", "v_z", "thigh [°]", "shank [°]", "hinge [°]", ""];
    const head = names.map((name) => h("th", {}, name));
    const rows = LEG_NAMES.map((name, leg) => {
      const cells = names.slice(1).map(() => h("td"));
      this.cells[leg] = cells;
      const choose = () => this.troupe.chooseLeg(this.troupe.leg === leg + 1 ? 0 : leg + 1);
      return h("tr", { title: name, "data-leg": leg + 1, onclick: choose }, h("th", {}, h(`i.swatch.leg${leg + 1}`), leg + 1, h("small", {}, name)), ...cells);
    });
    this.table.replaceChildren(h("tr", {}, ...head), ...rows);
    this.mark();
    this.tell();
    clearTimeout(this.waiting);
    this.waiting = window.setTimeout(() => (this.busy() ? this.renew() : this.plot(walker)), QUIET);
  }

  /** Mark the leg that is worked on. */
  private mark(): void {
    [...this.table.rows].slice(1).forEach((row, i) => row.setAttribute("aria-selected", String(i + 1 === this.troupe.leg)));
  }

  private clear(): void {
    clearTimeout(this.waiting);
    this.cells = [];
    this.table.replaceChildren();
    for (const plot of this.drawn.splice(0)) plot.dispose();
  }

  /** Write the values at the time shown. */
  private tell(): void {
    const { walker } = this.troupe;
    if (!walker || !this.cells.length) return;
    const { frames, kind } = walker.facts;
    const { joints, angles, support } = walker.numbers;
    const frame = this.troupe.frame;
    this.cells.forEach((cells, leg) => {
      const value = (column: number) => joints[(3 * leg + column) * frames + frame]!;
      const shown = [value(0), value(1) * (kind === "ttr" ? DEGREES : 1), value(2)];
      for (const column of [0, 1, 2]) shown.push(angles[(3 * leg + column) * frames + frame]!);
      shown.forEach((number, i) => write(cells[i]!, i < 3 ? fixed(number) : number.toFixed(1).replace(/^-0\.0$/, "0.0")));
      write(cells[6]!, support[leg * frames + frame]! > 0.5 ? "stands" : "swings");
    });
  }

  private plot(walker: Walker): void {
    const { app } = this;
    const { frames, kind } = walker.facts;
    const { time } = walker.actor.file;
    const turning = kind === "ttr";
    const column = (values: Float32Array, index: number) => values.subarray(index * frames, (index + 1) * frames);
    const drive = (index: number, factor = 1) =>
      LEG_NAMES.map((name, leg) => ({
        name: `${leg + 1} ${name}`,
        time,
        values: column(walker.numbers.joints, 3 * leg + index).map((value) => value * factor),
        color: legColor(app, leg),
      }));
    const angle = (name: string, index: number) => () =>
      new Plot(app, `angle of the ${name} [°]`, LEG_NAMES.map((leg, i) => ({
        name: `${i + 1} ${leg}`, time, values: column(walker.numbers.angles, 3 * i + index), color: legColor(app, i),
      })), this.window);
    const quantities: Record<string, () => Plot> = {
      h_x: () => new Plot(app, "h_x [unit]", drive(0), this.window),
      [turning ? "ω" : "h_y"]: () => new Plot(app, turning ? "ω [°]" : "h_y [unit]", drive(1, turning ? DEGREES : 1), this.window),
      v_z: () => new Plot(app, "v_z [unit]", drive(2), this.window),
      margin: () => new Plot(app, "stability margin [unit]", [{ name: "margin", time, values: walker.numbers.margin, color: app.theme.color("ink") }], this.window),
      thigh: angle("thigh and its parallel bar", 0),
      shank: angle("crank and shank", 1),
      hinge: angle("hinge", 2),
    };
    for (const plot of this.drawn.splice(0)) plot.dispose();
    this.drawn = Object.entries(quantities).filter(([name]) => this.shown.has(name)).map(([, make]) => make());
    this.charts.replaceChildren(...this.drawn.map((plot) => plot.element));
    const toggle = (name: string) => {
      if (!this.shown.delete(name)) this.shown.add(name);
      this.plot(walker);
    };
    this.choice.replaceChildren(
      ...Object.keys(quantities).map((name) => h("button.chip", { "aria-pressed": String(this.shown.has(name)), onclick: () => toggle(name) }, name)),
    );
    app.stage.request();
  }
}

/** The colour of a leg, the one its links have. */
function legColor(app: App, leg: number): string {
  return app.theme.color(`leg${leg + 1}`);
}

function fixed(value: number): string {
  const text = value.toFixed(2);
  return text === "-0.00" ? "0.00" : text;
}

/** Change a text only where it differs, which costs the page nothing. */
function write(cell: HTMLElement, text: string): void {
  if (cell.textContent !== text) cell.textContent = text;
}
