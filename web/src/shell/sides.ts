import { h } from "./dom";
import { recall, remember } from "./memory";

export type Side = "left" | "right";

/** The least width of a side, and that of the stage between them [px]. */
const LEAST = 180;
const LEAST_STAGE = 260;
/** By how much a key press moves an edge [px]. */
const STEP = 20;
interface Kept {
  /** Width [px]; 0 as the style sheet says. */
  width: number;
  folded: boolean;
}

/** The panels of one side of the stage: their edge is moved by mouse and keys, and they fold away. */
export class SidePanels {
  readonly element: HTMLElement;
  /** The edge between the panels and the stage. */
  readonly edge: HTMLElement;
  /** Folds the side and unfolds it. */
  readonly button: HTMLButtonElement;
  private readonly kept: Kept;
  private empty = true;

  constructor(private readonly side: Side) {
    const saved = recall<Partial<Kept>>(`side-${side}`, {});
    this.kept = { width: Number(saved?.width) || 0, folded: saved?.folded === true };
    this.element = h(`aside.side`, { id: `side-${side}`, "aria-label": `Panels on the ${side}` });
    this.element.classList.add(side);
    this.edge = h("div.edge", {
      role: "separator",
      tabindex: 0,
      "aria-orientation": "vertical",
      "aria-controls": this.element.id,
      "aria-label": `Edge of the panels on the ${side}`,
      "aria-valuemin": LEAST,
      title: "Drag, or press arrow keys; a double click restores the width",
    });
    this.button = h("button.fold", { "data-side": side, "aria-controls": this.element.id, onclick: () => this.toggle() });
    this.listen();
    this.show();
  }

  toggle(): void {
    this.kept.folded = !this.kept.folded;
    this.keep();
  }

  /** Put a panel there. */
  append(panel: HTMLElement): void {
    this.element.append(panel);
    this.empty = false;
    this.show();
  }

  clear(): void {
    this.element.replaceChildren();
    this.empty = true;
    this.show();
  }

  private listen(): void {
    const { edge } = this;
    edge.addEventListener("pointerdown", (event) => {
      edge.setPointerCapture(event.pointerId);
      event.preventDefault(); // no text is selected
      edge.focus();
    });
    edge.addEventListener("pointermove", (event) => {
      if (!edge.hasPointerCapture(event.pointerId)) return;
      const box = this.element.getBoundingClientRect();
      this.resize(this.side === "left" ? event.clientX - box.left : box.right - event.clientX);
    });
    edge.addEventListener("dblclick", () => this.resize(0));
    edge.addEventListener("keydown", (event) => {
      const wider = this.side === "left" ? "ArrowRight" : "ArrowLeft";
      const narrower = this.side === "left" ? "ArrowLeft" : "ArrowRight";
      const now = this.element.offsetWidth;
      const width = { [wider]: now + STEP, [narrower]: now - STEP, Home: LEAST, End: Infinity }[event.key];
      if (width === undefined) return;
      event.preventDefault();
      this.resize(width);
    });
  }

  /** Set the width [px], as far as there is room; 0 restores it. */
  private resize(width: number): void {
    const room = this.element.offsetWidth + this.stageWidth() - LEAST_STAGE;
    this.kept.width = width ? Math.round(Math.max(LEAST, Math.min(width, room))) : 0;
    this.keep();
  }

  private stageWidth(): number {
    return this.element.parentElement?.querySelector(".center")?.clientWidth ?? LEAST_STAGE;
  }

  private keep(): void {
    remember(`side-${this.side}`, this.kept);
    this.show();
  }

  private show(): void {
    const { folded, width } = this.kept;
    this.element.hidden = this.edge.hidden = folded || this.empty;
    this.button.hidden = this.empty;
    this.element.style.width = width ? `${width}px` : "";
    this.edge.setAttribute("aria-valuenow", String(this.element.offsetWidth || width || LEAST));
    const inwards = (this.side === "left") === folded;
    this.button.textContent = inwards ? "›" : "‹";
    this.button.setAttribute("aria-expanded", String(!folded));
    const name = `${folded ? "Show" : "Hide"} the panels on the ${this.side}`;
    this.button.setAttribute("aria-label", name);
    this.button.title = `${name} (${this.side === "left" ? "<" : ">"})`;
  }
}
