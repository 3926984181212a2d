import type { App } from "../app";
import { h } from "../shell/dom";
import { SEQUENTIAL } from "../shell/palette";
import { type Place, RowChart } from "./row_chart";
import { clipped, type Dimension, Scale } from "./scale";

const HEIGHT = 300;
const LEFT = 58;
const BOTTOM = 40;
const MARGIN = 14;
/** How near a click must be to a point [px]. */
const NEAR = 10;
const RADIUS = 3.5;

/** Points of a table over two of its columns, coloured by a third; a click chooses a row. */
export class Scatter extends RowChart {
  /** Where each row is drawn [px]; null if it has no value for x. */
  places: (Place | null)[] = [];
  /** Gives the colour of a row. */
  paint: (row: number) => string = () => "";
  private readonly legend = h("div.entries");
  private shown: { x: Dimension; y: Dimension; color: Dimension } | null = null;

  constructor(app: App) {
    super(app, h("div.scatter"), HEIGHT);
    this.element.append(this.legend);
  }

  show(x: Dimension, y: Dimension, color: Dimension): void {
    this.shown = { x, y, color };
    this.canvas.setAttribute("aria-label", `${y.name} over ${x.name}, coloured by ${color.name}`);
    this.draw();
  }

  protected nearest([x, y]: Place): number {
    let [row, least] = [-1, NEAR];
    this.places.forEach((place, i) => {
      const distance = place ? Math.hypot(place[0] - x, place[1] - y) : Infinity;
      if (distance < least) [row, least] = [i, distance];
    });
    return row;
  }

  protected paintRows(pen: CanvasRenderingContext2D, width: number): void {
    if (!this.shown) return;
    const { x, y, color } = this.shown;
    const [across, up] = [new Scale(x), new Scale(y)];
    const [w, t] = [width - LEFT - MARGIN, HEIGHT - BOTTOM - 2 * MARGIN];
    const at = (u: number, v: number): Place => [LEFT + u * w, 2 * MARGIN + (1 - v) * t];
    this.axes(pen, across, up, at);
    const paint = (this.paint = this.painter(color));
    this.places = x.values.map((value, row) => {
      const [u, v] = [across.at(value), up.at(y.values[row] ?? null)];
      // A case without a result, for it failed, lies on the axis.
      return Number.isNaN(u) ? null : at(u, Number.isNaN(v) ? 0 : v);
    });
    this.places.forEach((place, row) => {
      if (!place) return;
      const failed = (y.values[row] ?? null) === null;
      pen.strokeStyle = pen.fillStyle = failed ? this.app.theme.color("bad") : paint(row);
      pen.beginPath();
      if (failed) cross(pen, place);
      else pen.arc(...place, RADIUS, 0, 2 * Math.PI);
      if (failed) pen.stroke();
      else pen.fill();
    });
    const chosen = this.places[this.selected];
    if (!chosen) return;
    pen.strokeStyle = this.app.theme.color("ink");
    pen.lineWidth = 2;
    pen.beginPath();
    pen.arc(...chosen, RADIUS + 4, 0, 2 * Math.PI);
    pen.stroke();
  }

  private axes(
    pen: CanvasRenderingContext2D,
    across: Scale,
    up: Scale,
    at: (u: number, v: number) => Place,
  ): void {
    pen.strokeStyle = this.app.theme.color("line");
    pen.fillStyle = this.app.theme.color("soft");
    pen.font = "11px system-ui";
    const line = (from: Place, to: Place) => {
      pen.beginPath();
      pen.moveTo(...from);
      pen.lineTo(...to);
      pen.stroke();
    };
    pen.textAlign = "center";
    for (const tick of across.ticks()) {
      line(at(tick.at, 0), at(tick.at, 1));
      const half = pen.measureText(clipped(tick.text)).width / 2;
      const middle = Math.min(at(tick.at, 0)[0], this.element.clientWidth - half);
      pen.fillText(clipped(tick.text), middle, HEIGHT - BOTTOM + 14);
    }
    pen.fillText(this.shown!.x.name, at(0.5, 0)[0], HEIGHT - 8);
    pen.textAlign = "left";
    pen.fillText(this.shown!.y.name, 2, MARGIN);
    pen.textAlign = "right";
    for (const tick of up.ticks()) {
      line(at(0, tick.at), at(1, tick.at));
      pen.fillText(clipped(tick.text), LEFT - 6, at(0, tick.at)[1] + 4);
    }
  }

  /** The colour of each row, and a legend that says what it means. */
  private painter(color: Dimension): (row: number) => string {
    const scale = new Scale(color);
    const { names } = scale;
    const entry = (text: string, shade: string) => {
      const element = h("span.entry", {}, h("i"), text);
      element.style.setProperty("--series", shade);
      return element;
    };
    const { theme } = this.app;
    if (names) {
      this.legend.replaceChildren(...names.map((name, i) => entry(name, theme.series(i))));
      return (row) => {
        const value = color.values[row] ?? null;
        return value === null ? theme.color("soft") : theme.series(names.indexOf(String(value)));
      };
    }
    const shade = (at: number) => SEQUENTIAL[Math.round(at * (SEQUENTIAL.length - 1))]!;
    const ticks = scale.ticks().map((tick) => entry(tick.text, shade(tick.at)));
    this.legend.replaceChildren(color.name, ...ticks);
    return (row) => {
      const at = scale.at(color.values[row] ?? null);
      return Number.isNaN(at) ? theme.color("soft") : shade(at);
    };
  }
}

function cross(pen: CanvasRenderingContext2D, [x, y]: Place): void {
  for (const side of [-1, 1]) {
    pen.moveTo(x - RADIUS, y - side * RADIUS);
    pen.lineTo(x + RADIUS, y + side * RADIUS);
  }
}
