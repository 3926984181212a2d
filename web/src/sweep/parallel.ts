import type { App } from "../app";
import { h } from "../shell/dom";
import { type Place, RowChart } from "./row_chart";
import { type Dimension, Scale } from "./scale";

const HEIGHT = 210;
const TOP = 30;
const BOTTOM = 12;
const SIDE = 44;
/** The least distance of two axes [px]. */
const APART = 60;
/** Room to the right of the last axis [px]. */
const EDGE = 14;
/** Numbers at an axis. */
const MOST_TICKS = 5;
/** How near a click must be to a line [px]. */
const NEAR = 6;

/** The rows of a table as lines over parallel axes, a column each; a click chooses a row. */
export class Parallel extends RowChart {
  /** The corners of each row's line [px]; null where it has no value. */
  lines: (Place | null)[][] = [];
  private shown: { columns: Dimension[]; paint: (row: number) => string } | null = null;

  constructor(app: App) {
    super(app, h("div.parallel"), HEIGHT);
  }

  /** @param paint Gives the colour of a row. */
  show(columns: Dimension[], paint: (row: number) => string): void {
    this.shown = { columns, paint };
    this.canvas.setAttribute("aria-label", `Rows over ${columns.map(({ name }) => name).join(", ")}`);
    this.draw();
  }

  protected nearest([x, y]: Place): number {
    let [row, least] = [-1, NEAR];
    this.lines.forEach((corners, i) => {
      corners.slice(1).forEach((b, k) => {
        const a = corners[k]!;
        if (!a || !b || x < a[0] - NEAR || x > b[0] + NEAR) return;
        const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
        const part = Math.min(Math.max(((x - a[0]) * dx + (y - a[1]) * dy) / (dx * dx + dy * dy), 0), 1);
        const distance = Math.hypot(x - a[0] - part * dx, y - a[1] - part * dy);
        if (distance < least) [row, least] = [i, distance];
      });
    });
    return row;
  }

  protected paintRows(pen: CanvasRenderingContext2D, width: number): void {
    if (!this.shown) return;
    const { paint } = this.shown;
    const columns = this.shown.columns.slice(0, Math.max(3, 1 + Math.floor((width - SIDE - EDGE) / APART)));
    const { theme } = this.app;
    const step = (width - SIDE - EDGE) / Math.max(1, columns.length - 1);
    const at = (i: number) => SIDE + i * step;
    const up = (v: number) => TOP + (1 - v) * (HEIGHT - TOP - BOTTOM);
    const scales = columns.map((column) => new Scale(column));
    this.lines = (columns[0]?.values ?? []).map((_, row) =>
      columns.map((column, i) => {
        const v = scales[i]!.at(column.values[row] ?? null);
        return Number.isNaN(v) ? null : [at(i), up(v)];
      }),
    );
    pen.lineWidth = 1;
    pen.globalAlpha = Math.max(0.15, Math.min(0.8, 40 / Math.max(1, this.lines.length)));
    this.lines.forEach((corners, row) => stroke(pen, corners, paint(row)));
    pen.globalAlpha = 1;
    const chosen = this.lines[this.selected];
    if (chosen) {
      pen.lineWidth = 3;
      stroke(pen, chosen, theme.color("ink"));
      pen.lineWidth = 1.5;
      stroke(pen, chosen, paint(this.selected));
    }
    pen.lineWidth = 1;
    pen.font = "10px system-ui";
    columns.forEach((column, i) => {
      pen.strokeStyle = theme.color("soft");
      pen.fillStyle = theme.color("ink");
      pen.beginPath();
      pen.moveTo(at(i), up(0));
      pen.lineTo(at(i), up(1));
      pen.stroke();
      // Names in two rows have twice the room; the first and the last end at the edges.
      const last = i > 0 && i === columns.length - 1;
      pen.textAlign = i === 0 ? "left" : last ? "right" : "center";
      const room = i === 0 || last ? 1.4 * step : 1.9 * step;
      pen.fillText(shortened(pen, column.name, room), i === 0 ? 2 : last ? width - 2 : at(i), i % 2 ? 22 : 10);
      pen.fillStyle = theme.color("soft");
      pen.strokeStyle = theme.color("panel");
      pen.textAlign = "right";
      for (const tick of spread(scales[i]!.ticks())) {
        const text = shortened(pen, tick.text, (i === 0 ? SIDE : step) - 6);
        pen.lineWidth = 3; // lines do not run through numbers
        pen.strokeText(text, at(i) - 3, up(tick.at) + 3);
        pen.fillText(text, at(i) - 3, up(tick.at) + 3);
        pen.lineWidth = 1;
      }
    });
  }
}

/** Of many ticks every other one, or fewer. */
function spread<T>(ticks: T[]): T[] {
  const step = Math.ceil(ticks.length / MOST_TICKS);
  return ticks.filter((_, i) => i % step === 0);
}

/** Shorten a text to a width [px]. */
function shortened(pen: CanvasRenderingContext2D, text: string, room: number): string {
  let kept = text;
  while (kept.length > 2 && pen.measureText(kept).width > room) kept = `${kept.slice(0, -2)}…`;
  return kept;
}

function stroke(pen: CanvasRenderingContext2D, corners: (Place | null)[], color: string): void {
  pen.strokeStyle = color;
  pen.beginPath();
  let on = false;
  for (const corner of corners) {
    if (corner) (on ? pen.lineTo : pen.moveTo).call(pen, ...corner);
    on = corner !== null;
  }
  pen.stroke();
}
