import uPlot from "uplot";
import type { App } from "../app";
import { h, short } from "../shell/dom";
import { after } from "../time/clock";
import { thinned } from "./thinned";

export interface Line {
  name: string;
  time: ArrayLike<number>;
  values: ArrayLike<number>;
  color: string;
  dashed?: boolean;
}

const HEIGHT = 150;
/** How often the legend follows while playing [ms]. */
const LEGEND_EVERY = 250;
/** Lines in a legend; more are not told apart by their colours either. */
const MOST_NAMED = 16;
const MOST = 3000;
/** The least part of a chart's height that its legend tells from nothing. */
const FINEST = 2e-5;

/** A chart over time; a marker shows the clock's time, and a click or a drag sets it. */
export class Plot {
  readonly element = h("div.plot");
  private readonly chart: uPlot;
  private readonly marker = h("div.marker");
  private readonly stop: (() => void)[] = [];
  private readonly values: HTMLOutputElement[] = [];
  private readonly lines: Line[];
  private told = 0;

  /**
   * @param title What is plotted, with its unit.
   * @param lines The lines; their times may differ.
   */
  constructor(
    private readonly app: App,
    title: string,
    lines: Line[],
  ) {
    this.lines = lines;
    const ink = app.theme.color("soft");
    const grid = { stroke: app.theme.color("line"), width: 1 };
    this.chart = new uPlot(
      {
        width: 340,
        height: HEIGHT,
        title,
        legend: { show: false },
        cursor: { show: false },
        scales: { x: { time: false } },
        axes: [
          { stroke: ink, grid, ticks: grid, size: 26, font: "11px system-ui" },
          { stroke: ink, grid, ticks: grid, size: axisWidth, font: "11px system-ui", values: (_, v, __, ___, step) => tickTexts(v, step) },
        ],
        series: [
          {},
          ...lines.map((line) => ({
            stroke: line.color,
            width: 1.2,
            dash: line.dashed ? [5, 4] : undefined,
            points: { show: false },
          })),
        ],
      },
      aligned(lines),
      this.element,
    );
    this.chart.over.append(this.marker);
    this.element.append(this.legend(lines));
    const seek = (event: PointerEvent) => {
      const box = this.chart.over.getBoundingClientRect();
      app.clock.pause();
      app.clock.set(this.chart.posToVal(event.clientX - box.left, "x"));
    };
    this.chart.over.addEventListener("pointerdown", (event) => {
      this.chart.over.setPointerCapture(event.pointerId);
      seek(event);
    });
    this.chart.over.addEventListener("pointermove", (event) => {
      if (event.buttons & 1) seek(event);
    });
    this.stop.push(app.stage.drawn.on(() => this.mark()));
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

  /** Make the legend: a press on a name hides its line. */
  private legend(lines: Line[]): HTMLElement {
    const entries = lines.slice(0, MOST_NAMED).map((line, i) => {
      const value = h("output");
      this.values.push(value);
      const entry = h("button.entry", { "aria-pressed": true }, h("i"), line.name, value);
      entry.style.setProperty("--series", line.color);
      entry.addEventListener("click", () => {
        const show = entry.getAttribute("aria-pressed") !== "true";
        entry.setAttribute("aria-pressed", String(show));
        this.chart.setSeries(i + 1, { show });
      });
      return entry;
    });
    return h("div.entries", {}, ...entries);
  }

  /** Write the values at the marker into the legend; while playing not at every picture. */
  private tell(): void {
    const { time, playing } = this.app.clock;
    const now = performance.now();
    if (playing && now < this.told + LEGEND_EVERY) return;
    this.told = now;
    const grain = FINEST * ((this.chart.scales.y?.max ?? 0) - (this.chart.scales.y?.min ?? 0));
    this.values.forEach((output, i) => {
      // Of the line itself, as the chart may show fewer samples.
      const line = this.lines[i]!;
      const value = line.values[Math.max(0, after(line.time, time + 1e-9) - 1)] ?? NaN;
      output.textContent = short(Math.abs(value) < grain ? 0 : value);
    });
  }

  /** Move the marker; the chart itself is not drawn again. */
  private mark(): void {
    const x = this.chart.valToPos(this.app.clock.time, "x");
    const inside = x >= 0 && x <= this.chart.bbox.width / devicePixelRatio;
    this.marker.style.display = inside ? "" : "none";
    if (inside) this.marker.style.transform = `translateX(${x}px)`;
    this.tell();
  }
}

/**
 * Write the values of ticks with the digits that tell them apart; very large and very small ones
 * with an exponent, a multiple of three.
 *
 * @param step Distance of two ticks.
 */
export function tickTexts(values: readonly number[], step: number): string[] {
  const greatest = Math.max(...values.map(Math.abs), step);
  const power = Math.floor(Math.log10(greatest));
  const exponent = power >= 5 || power < -3 ? 3 * Math.floor(power / 3) : 0;
  // Steps are 1, 2, 2.5 or 5 times a power of ten.
  const digits = [0, 1].find((more) => isWhole(step / 10 ** (Math.floor(Math.log10(step)) - more))) ?? 2;
  const places = Math.min(Math.max(0, exponent - Math.floor(Math.log10(step)) + digits), 15);
  const end = exponent ? `e${exponent}` : "";
  return values.map((value) => {
    const text = (value / 10 ** exponent).toFixed(places);
    return Number(text) === 0 ? "0" : text + end;
  });
}

function isWhole(value: number): boolean {
  return Math.abs(value - Math.round(value)) < 1e-6;
}

/** The width of an axis: that of its longest text. */
function axisWidth(chart: uPlot, texts: string[] | null, index: number, cycle: number): number {
  const axis = chart.axes[index]! as uPlot.Axis & { _size: number };
  const { ctx } = chart;
  ctx.save();
  ctx.font = "11px system-ui";
  const width = Math.max(0, ...(texts ?? []).map((text) => ctx.measureText(text).width));
  ctx.restore();
  const needed = Math.ceil(width + (axis.ticks?.size ?? 0) + (axis.gap ?? 0)) + 2;
  return cycle > 1 ? Math.max(needed, axis._size) : needed; // sizes have to settle
}

/** Put lines of different times on one axis. */
function aligned(lines: Line[]): uPlot.AlignedData {
  const tables = lines.map(({ time, values }) => thinned(time, values, MOST) as uPlot.AlignedData);
  return tables.length ? uPlot.join(tables) : [[]];
}
