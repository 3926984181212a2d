import type { App } from "../app";
import { h } from "../shell/dom";
import { Event } from "../shell/events";

export type Place = [x: number, y: number];

/** A picture of the rows of a table, of its element's width; a click chooses the row that is nearest. */
export abstract class RowChart {
  /** The row that was clicked. */
  readonly picked = new Event<number>();
  protected readonly canvas = h("canvas", { role: "img" });
  protected selected = -1;
  private readonly stop: (() => void)[];

  /** @param height Of the picture [px]. */
  constructor(
    protected readonly app: App,
    readonly element: HTMLElement,
    private readonly height: number,
  ) {
    element.append(this.canvas);
    const resize = new ResizeObserver(() => this.draw());
    resize.observe(element);
    this.stop = [app.theme.changed.on(() => this.draw()), () => resize.disconnect()];
    this.canvas.addEventListener("click", (event) => {
      const row = this.under(event);
      if (row >= 0) this.picked.emit(row);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      this.canvas.style.cursor = this.under(event) >= 0 ? "pointer" : "";
    });
  }

  dispose(): void {
    for (const stop of this.stop) stop();
    this.element.remove();
  }

  /** Mark a row; -1 for none. */
  select(row: number): void {
    this.selected = row;
    this.draw();
  }

  /** Where a point of the picture is on the page [px]. */
  onPage([x, y]: Place): Place {
    const box = this.canvas.getBoundingClientRect();
    return [box.left + x, box.top + y];
  }

  /** The row that is near enough to a point of the picture [px]; -1 for none. */
  protected abstract nearest(at: Place): number;

  /** Draw all rows with a pen; `width` is that of the picture [px]. */
  protected abstract paintRows(pen: CanvasRenderingContext2D, width: number): void;

  protected draw(): void {
    const width = this.element.clientWidth;
    const pen = this.canvas.getContext("2d");
    if (!pen || !width) return;
    const ratio = devicePixelRatio;
    [this.canvas.width, this.canvas.height] = [width * ratio, this.height * ratio];
    [this.canvas.style.width, this.canvas.style.height] = [`${width}px`, `${this.height}px`];
    pen.scale(ratio, ratio);
    this.paintRows(pen, width);
  }

  private under(event: MouseEvent): number {
    const box = this.canvas.getBoundingClientRect();
    return this.nearest([event.clientX - box.left, event.clientY - box.top]);
  }
}
