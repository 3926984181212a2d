import type { App } from "../app";
import { h } from "../shell/dom";
import type { ReplayFile } from "../replay/replay_file";
import type { Event } from "../shell/events";
import { type Facts, LEG_NAMES } from "./plan";

/** Walks whose legs are shown: of the workshop, or of a run. */
export interface Gaits {
  readonly changed: Event;
  readonly walker?: { facts: Pick<Facts, "frames" | "steps" | "warnings">; actor: { file: ReplayFile } } | undefined;
  /** Show a frame. */
  goTo(frame: number): void;
}

const SVG = "http://www.w3.org/2000/svg";
const ROW = 10;
/** Leg steps that are seen at once. */
const SEEN = 32;

/** When each leg stands and swings, frame by frame; a click shows a frame. */
export class GaitDiagram {
  readonly element: HTMLElement;
  private readonly drawing = document.createElementNS(SVG, "svg");
  private readonly marker = h("div.marker");
  private readonly stop: (() => void)[];
  private from = 0;
  private width = 1;

  constructor(
    private readonly app: App,
    private readonly troupe: Gaits,
    private readonly legs: readonly string[] = LEG_NAMES,
  ) {
    this.drawing.setAttribute("preserveAspectRatio", "none");
    const field = h("div.drawing", {}, this.drawing, this.marker);
    this.element = h("div.gait", {}, h("div.legs", {}, ...legs.map((name, i) => h("span", { title: name }, i + 1))), field);
    const seek = (event: PointerEvent) => {
      const box = field.getBoundingClientRect();
      troupe.goTo(Math.round(Math.min(Math.max(this.from + ((event.clientX - box.left) / box.width) * this.width, 0), this.last)));
    };
    field.addEventListener("pointerdown", seek);
    field.addEventListener("pointermove", (event) => {
      if (event.buttons & 1) seek(event);
    });
    this.stop = [troupe.changed.on(() => this.draw()), app.stage.drawn.on(() => this.mark())];
  }

  dispose(): void {
    for (const stop of this.stop) stop();
  }

  private get last(): number {
    return (this.troupe.walker?.facts.frames ?? 1) - 1;
  }

  private draw(): void {
    const walker = this.troupe.walker;
    if (!walker) return this.drawing.replaceChildren();
    const { steps, warnings, frames } = walker.facts;
    const bars: SVGElement[] = [];
    for (let leg = 1; leg <= this.legs.length; leg++) {
      bars.push(bar(0, (leg - 1) * ROW + 2, frames - 1, ROW - 4, "stance"));
    }
    for (const [leg, first, last] of steps) bars.push(bar(first, (leg - 1) * ROW + 1, last - first, ROW - 2, `swing leg${((leg - 1) % 4) + 1}`));
    for (const { frame } of warnings) bars.push(bar(frame - 0.5, this.legs.length * ROW, 1, 3, "mark"));
    this.drawing.replaceChildren(...bars);
    this.mark();
  }

  /** Move the marker; a long walk is seen through a window that moves with it. */
  private mark(): void {
    const walker = this.troupe.walker;
    if (!walker) return;
    const { file } = walker.actor;
    const [sample, part] = file.place(this.app.clock.time);
    const at = sample + part;
    const each = this.last / Math.max(1, walker.facts.steps.length);
    this.width = Math.max(1, Math.min(this.last, SEEN * each));
    this.from = Math.min(Math.max(at - this.width / 2, 0), this.last - this.width);
    const seen = `${this.from} 0 ${this.width} ${this.legs.length * ROW + 3}`;
    if (seen !== this.drawing.getAttribute("viewBox")) this.drawing.setAttribute("viewBox", seen);
    this.marker.style.transform = `translateX(${((at - this.from) / this.width) * 100}%)`;
  }
}

function bar(x: number, y: number, width: number, height: number, name: string): SVGElement {
  const rect = document.createElementNS(SVG, "rect");
  for (const [key, value] of Object.entries({ x, y, width, height, class: name })) rect.setAttribute(key, String(value));
  return rect;
}
