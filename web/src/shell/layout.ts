import { h } from "./dom";

export type Side = "left" | "right";

/** The regions of the page: a bar of modes and tools, panels to both sides, the stage, the time. */
export class Layout {
  readonly modes = h("nav.modes", { "aria-label": "Modes" });
  readonly tools = h("div.tools");
  readonly stage = h("div.stage");
  readonly overlay = h("div.overlay");
  readonly timeline = h("footer.timeline");
  private readonly sides: Record<Side, HTMLElement> = {
    left: h("aside.side.left"),
    right: h("aside.side.right"),
  };
  private readonly notices = h("div.notices", { role: "status", "aria-live": "polite" });

  constructor() {
    const center = h("section.center", {}, this.stage, this.overlay);
    document.body.append(
      h("header.bar", {}, h("strong.brand", {}, "Kinetarium"), this.modes, this.tools),
      h("main", {}, this.sides.left, center, this.sides.right),
      this.timeline,
      this.notices,
    );
  }

  /** Open a panel on a side, and give the element to fill. */
  panel(side: Side, title: string): HTMLElement {
    const body = h("div.body");
    this.sides[side].append(h("section.panel", {}, h("h2", {}, title), body));
    this.sides[side].hidden = false;
    return body;
  }

  /** Name the parts of a divided stage. */
  labels(titles: string[]): void {
    this.overlay.replaceChildren(...titles.map((title) => h("div.label", {}, title)));
  }

  /** Take all panels away, as a mode is left. */
  clear(): void {
    for (const side of Object.values(this.sides)) {
      side.replaceChildren();
      side.hidden = true;
    }
    this.overlay.replaceChildren();
  }

  /** Say something that does not stop anybody. */
  notice(text: string, kind: "note" | "error" = "note"): void {
    const element = h(`div.notice`, { "data-kind": kind }, text);
    this.notices.append(element);
    setTimeout(() => element.remove(), kind === "error" ? 8000 : 4000);
  }
}
