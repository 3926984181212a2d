import { h, short } from "../shell/dom";
import { labelOf, type Line, valueAt } from "./lines";

const SVG = "http://www.w3.org/2000/svg";
/** Legends that are longer can be folded. */
const LONG = 12;

/** The names of all lines of a chart with their values; a press on one hides its line. */
export class Legend {
  readonly element: HTMLElement;
  private readonly values: HTMLOutputElement[] = [];
  private readonly entries: HTMLButtonElement[];
  private readonly list: HTMLElement;

  /**
   * @param hidden Names of the lines that are not drawn; kept up to date.
   * @param show Draws a line, or does not.
   */
  constructor(
    private readonly lines: readonly Line[],
    private readonly hidden: Set<string>,
    private readonly show: (index: number, shown: boolean) => void,
  ) {
    this.entries = lines.map((line, i) => {
      const value = h("output");
      this.values.push(value);
      const entry = h("button.entry", { "aria-pressed": !hidden.has(line.name), title: line.unit ? `${line.name} [${line.unit}]` : line.name }, sample(line), h("span", {}, labelOf(line)), value);
      entry.style.setProperty("--series", line.color);
      entry.addEventListener("click", () => this.set(i, this.hidden.has(line.name)));
      return entry;
    });
    this.list = h("div.entries", {}, ...this.entries);
    this.element = h("div.legends", {}, ...(lines.length > LONG ? [this.head()] : []), this.list);
  }

  /** Write the values at a time; what is smaller than a grain is nothing. */
  tell(time: number, grain: number): void {
    this.values.forEach((output, i) => {
      const value = valueAt(this.lines[i]!, time);
      const text = short(Math.abs(value) < grain ? 0 : value);
      if (output.textContent !== text) output.textContent = text;
    });
  }

  private set(index: number, shown: boolean): void {
    const { name } = this.lines[index]!;
    if (shown) this.hidden.delete(name);
    else this.hidden.add(name);
    this.entries[index]!.setAttribute("aria-pressed", String(shown));
    this.show(index, shown);
  }

  private head(): HTMLElement {
    const all = (shown: boolean) => this.lines.forEach((_, i) => this.set(i, shown));
    const fold = h("button.tool", { "aria-expanded": true, title: "Fold the legend" }, "fold");
    fold.addEventListener("click", () => {
      this.list.hidden = !this.list.hidden;
      fold.setAttribute("aria-expanded", String(!this.list.hidden));
      fold.textContent = this.list.hidden ? "unfold" : "fold";
    });
    return h("div.legendhead", {}, `${this.lines.length} lines`,
      h("button.tool", { title: "Draw all lines", onclick: () => all(true) }, "all"),
      h("button.tool", { title: "Draw no line", onclick: () => all(false) }, "none"), fold);
  }
}

/** A stroke as the line is drawn. */
function sample(line: Line): SVGElement {
  const picture = document.createElementNS(SVG, "svg");
  const stroke = document.createElementNS(SVG, "line");
  const attributes = { x1: 0, x2: 22, y1: 4, y2: 4, stroke: line.color, "stroke-width": 2, "stroke-dasharray": (line.dash ?? []).join(" ") };
  for (const [name, value] of Object.entries(attributes)) stroke.setAttribute(name, String(value));
  for (const [name, value] of Object.entries({ width: 22, height: 8, "aria-hidden": true })) picture.setAttribute(name, String(value));
  picture.append(stroke);
  return picture;
}
