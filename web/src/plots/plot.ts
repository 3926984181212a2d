import "./plots.css";
import uPlot from "uplot";
import type { App } from "../app";
import { h, short } from "../shell/dom";
import { save } from "../shell/tools";
import { axisWidth, FONT, logTexts, tickTexts } from "./axis";
import { Legend } from "./legend";
import { csv, labelOf, type Line, valueAt, within } from "./lines";
import { thinned } from "./thinned";
import { TimeWindow } from "./time_window";

export type { Line } from "./lines";

const HEIGHT = 150;
/** Least distance of the ticks of values [px]. */
const TICKS = 18;
/** How often the legend follows while playing [ms]. */
const LEGEND_EVERY = 250;
const MOST = 3000;
/** The least part of a chart's height that its legend tells from nothing. */
const FINEST = 2e-5;
/** Lines whose values are shown beside the mouse. */
const MOST_HOVERED = 9;
/** How much less or more of time a turn of the wheel shows. */
const TURN = 1.25;
/** The least width of a rectangle that is zoomed to [px]. */
const LEAST = 8;
/** A rectangle of less than this part of the height is meant for time alone. */
const FLAT = 0.2;

/** What a chart keeps when it is drawn anew. */
export interface PlotChoice {
  log: boolean;
  hidden: Set<string>;
}

/**
 * A chart over time. A marker shows the clock's time, a click or a drag sets it; the mouse shows
 * values, and with Shift draws the rectangle to zoom to.
 */
export class Plot {
  readonly element = h("div.plot");
  private chart!: uPlot;
  private readonly marker = h("div.marker");
  private readonly hair = h("div.hair", { hidden: true });
  private readonly box = h("div.zoombox", { hidden: true });
  private readonly tip = h("div.tip", { hidden: true, role: "status" });
  private readonly frame = h("div.frame");
  private readonly legend: Legend;
  private readonly zoomed = h("button.tool", { title: "Show all of time again (double click)", hidden: true }, "all");
  private readonly zooming = h("button.tool", { title: "Draw a rectangle to zoom to (Shift and drag)", "aria-pressed": false }, "zoom");
  private readonly logged = h("button.tool", { title: "Logarithmic axis" }, "log");
  private readonly title = h("b");
  private readonly stop: (() => void)[] = [];
  private up: [number, number] | null = null;
  private from: [number, number] | null = null;
  private told = 0;

  /**
   * @param name What is plotted, with its unit.
   * @param lines The lines; their times may differ.
   * @param window The part of time that is shown, shared with other charts.
   * @param choice How it is drawn, kept by who draws it anew.
   * @param tools Buttons of the chart's head.
   */
  constructor(
    private readonly app: App,
    private readonly name: string,
    private readonly lines: Line[],
    private readonly window = new TimeWindow(),
    private readonly choice: PlotChoice = { log: false, hidden: new Set() },
    tools: HTMLElement[] = [],
  ) {
    this.legend = new Legend(lines, choice.hidden, (i, show) => this.chart.setSeries(i + 1, { show }));
    const saved = h("button.tool", { title: "Save what is drawn as CSV, with all samples", onclick: () => this.saveCsv() }, "CSV");
    const head = h("div.plothead", {}, this.title, h("span.plottools", {}, ...tools, this.logged, this.zooming, this.zoomed, saved));
    this.element.append(head, this.frame, this.legend.element, this.tip);
    this.logged.addEventListener("click", () => {
      choice.log = !choice.log;
      this.build();
    });
    this.zooming.addEventListener("click", () => this.zooming.setAttribute("aria-pressed", String(!this.armed)));
    this.zoomed.addEventListener("click", () => this.reset());
    this.build();
    this.stop.push(app.stage.drawn.on(() => this.mark()), window.changed.on(() => this.move()));
    const resize = new ResizeObserver(() => {
      if (this.element.clientWidth) this.chart.setSize({ width: this.element.clientWidth, height: HEIGHT });
      this.mark();
    });
    resize.observe(this.element);
    this.stop.push(() => resize.disconnect());
  }

  dispose(): void {
    for (const stop of this.stop) stop();
    this.chart.destroy();
    this.element.remove();
  }

  private get armed(): boolean {
    return this.zooming.getAttribute("aria-pressed") === "true";
  }

  /** The first and the last time of all lines. */
  private get whole(): [number, number] {
    const times = this.lines.filter(({ time }) => time.length);
    const low = times.reduce((least, { time }) => Math.min(least, time[0]!), Infinity);
    return [low, times.reduce((most, { time }) => Math.max(most, time[time.length - 1]!), -Infinity)];
  }

  /** Draw the chart anew, on a linear or a logarithmic axis. */
  private build(): void {
    const { app, lines, choice } = this;
    const ink = app.theme.color("soft");
    const grid = { stroke: app.theme.color("line"), width: 1 };
    const negative = choice.log && lines.some(({ values }) => Array.prototype.some.call(values, (value: number) => value < 0));
    this.title.textContent = negative ? `|${this.name}|` : this.name;
    this.logged.setAttribute("aria-pressed", String(choice.log));
    this.chart?.destroy();
    this.chart = new uPlot(
      {
        width: this.element.clientWidth || 340,
        height: HEIGHT,
        legend: { show: false },
        cursor: { show: false },
        hooks: { draw: [(chart) => chart === this.chart && this.mark()] },
        scales: { x: { time: false }, y: choice.log ? { distr: 3 } : {} },
        axes: [
          { stroke: ink, grid, ticks: grid, size: 26, font: FONT },
          { stroke: ink, grid, ticks: grid, space: TICKS, size: axisWidth, font: FONT, values: (_, v, __, ___, step) => (choice.log ? logTexts(v) : tickTexts(v, step)) },
        ],
        series: [
          {},
          ...lines.map((line) => ({
            stroke: line.color,
            width: 1.2,
            dash: line.dash?.length ? line.dash : undefined,
            show: !choice.hidden.has(line.name),
            points: { show: false },
          })),
        ],
      },
      this.data(),
      this.frame,
    );
    this.chart.over.append(this.marker, this.hair, this.box);
    this.listen(this.chart.over);
    this.move();
  }

  /** The samples to draw: of the time that is shown, and without signs on a logarithmic axis. */
  private data(): uPlot.AlignedData {
    const { range } = this.window;
    const tables = this.lines.map((line) => {
      const { time, values } = range ? within(line, ...range) : line;
      const [times, kept] = thinned(time, values, MOST);
      const sized = this.choice.log ? kept.map((value) => (value ? Math.abs(value) : null)) : kept;
      return [times, sized] as uPlot.AlignedData;
    });
    return tables.length ? uPlot.join(tables) : [[]];
  }

  /** Show the part of time, and of values, that was zoomed to. */
  private move(): void {
    const { range } = this.window;
    if (!range) this.up = null;
    this.zoomed.hidden = !range && !this.up;
    this.chart.setData(this.data(), !range);
    if (range) this.chart.setScale("x", { min: range[0], max: range[1] });
    if (this.up) this.chart.setScale("y", { min: this.up[0], max: this.up[1] });
    this.mark();
  }

  private reset(): void {
    this.up = null;
    this.window.reset();
  }

  private listen(over: HTMLElement): void {
    const at = (event: MouseEvent): [number, number] => {
      const box = over.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    const seek = (event: PointerEvent) => {
      this.app.clock.pause();
      this.app.clock.set(this.chart.posToVal(at(event)[0], "x"));
    };
    over.addEventListener("pointerdown", (event) => {
      over.setPointerCapture(event.pointerId);
      if (event.shiftKey || this.armed) this.from = at(event);
      else seek(event);
    });
    over.addEventListener("pointermove", (event) => {
      const here = at(event);
      if (this.from) this.stretch(this.from, here);
      else if (event.buttons & 1) seek(event);
      this.hover(here);
    });
    over.addEventListener("pointerup", (event) => {
      if (this.from) this.zoom(this.from, at(event));
      this.from = null;
      this.box.hidden = true;
    });
    over.addEventListener("pointerleave", () => this.hover(null));
    over.addEventListener("dblclick", () => this.reset());
    over.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.shiftKey) return; // the panel scrolls
      event.preventDefault();
      const back = event.deltaY + event.deltaX > 0;
      this.window.scale(this.chart.posToVal(at(event)[0], "x"), back ? TURN : 1 / TURN, this.whole);
    }, { passive: false });
  }

  private stretch(from: [number, number], to: [number, number]): void {
    this.box.hidden = false;
    const flat = this.isFlat(from, to);
    const [top, bottom] = flat ? [0, this.chart.over.clientHeight] : [Math.min(from[1], to[1]), Math.max(from[1], to[1])];
    this.box.style.left = `${Math.min(from[0], to[0])}px`;
    this.box.style.width = `${Math.abs(to[0] - from[0])}px`;
    this.box.style.top = `${top}px`;
    this.box.style.height = `${bottom - top}px`;
  }

  private isFlat(from: [number, number], to: [number, number]): boolean {
    return Math.abs(to[1] - from[1]) < FLAT * this.chart.over.clientHeight;
  }

  /** Show a rectangle; a flat one leaves the values as they are. */
  private zoom(from: [number, number], to: [number, number]): void {
    if (Math.abs(to[0] - from[0]) < LEAST) return;
    const ends = (axis: 0 | 1, scale: string) => {
      const values = [from, to].map((place) => this.chart.posToVal(place[axis], scale));
      return [Math.min(...values), Math.max(...values)] as [number, number];
    };
    this.up = this.isFlat(from, to) ? null : ends(1, "y");
    this.window.set(...ends(0, "x"));
  }

  /** Show the values of the lines nearest to the mouse; null if it has left. */
  private hover(place: [number, number] | null): void {
    this.hair.hidden = this.tip.hidden = !place || !this.lines.length;
    if (!place) return;
    const time = this.chart.posToVal(place[0], "x");
    const seen = this.lines.filter(({ name, time: times }) => !this.choice.hidden.has(name) && time <= times[times.length - 1]! + 1e-9);
    const told = seen.map((line) => {
      const value = valueAt(line, time);
      const y = this.chart.valToPos(this.choice.log ? Math.abs(value) : value, "y");
      return { line, value, off: Math.abs(y - place[1]) };
    });
    const nearest = told.filter(({ off }) => Number.isFinite(off)).sort((a, b) => a.off - b.off).slice(0, MOST_HOVERED);
    const rows = nearest.map(({ line, value }) => {
      const row = h("div.told", {}, h("i"), h("span", {}, labelOf(line)), h("output", {}, short(value)));
      row.style.setProperty("--series", line.color);
      return row;
    });
    const more = told.length - nearest.length;
    this.hair.style.transform = `translateX(${place[0]}px)`;
    this.tip.replaceChildren(h("b", {}, `${short(time, 5)} s`), ...rows, more > 0 ? h("small", {}, `and ${more} more`) : "");
    const over = this.chart.over;
    const left = over.offsetLeft + place[0];
    const right = place[0] > over.clientWidth / 2;
    this.tip.style.left = right ? "" : `${left + 12}px`;
    this.tip.style.right = right ? `${this.element.clientWidth - left + 12}px` : "";
    this.tip.style.top = `${this.frame.offsetTop + 4}px`;
  }

  private saveCsv(): void {
    const drawn = this.lines.filter(({ name }) => !this.choice.hidden.has(name));
    save(new Blob([csv(drawn)], { type: "text/csv" }), `${this.name.replace(/[^\w.-]+/g, "_").replace(/^_+|_+$/g, "")}.csv`);
  }

  /** Move the marker, and write its values into the legend; the chart itself is not drawn again. */
  private mark(): void {
    const { time, playing } = this.app.clock;
    const x = this.chart.valToPos(time, "x");
    const inside = x >= 0 && x <= this.chart.bbox.width / devicePixelRatio;
    this.marker.style.display = inside ? "" : "none";
    if (inside) this.marker.style.transform = `translateX(${x}px)`;
    const now = performance.now();
    if (playing && now < this.told + LEGEND_EVERY) return;
    this.told = now;
    const { y } = this.chart.scales;
    this.legend.tell(time, this.choice.log ? 0 : FINEST * ((y?.max ?? 0) - (y?.min ?? 0)));
  }
}
