import "./shell.css";
import { h } from "./dom";
import { recall, remember } from "./memory";
import { type Side, SidePanels } from "./sides";

export type { Side };

/** The regions of the page: a bar of modes and tools, panels to both sides, the stage, the time. */
export class Layout {
  readonly brand = h("button.brand", { title: "What this is" }, "Kinetarium");
  readonly modes = h("nav.modes", { "aria-label": "Modes" });
  /** What the bar offers: to look at the stage, to take it along, and for the whole page. */
  readonly camera = h("div.tools.camera", { role: "group", "aria-label": "Camera" });
  readonly saving = h("div.tools.saving", { role: "group", "aria-label": "Save and share" });
  readonly tools = h("div.tools");
  readonly stage = h("div.stage");
  readonly overlay = h("div.overlay");
  readonly timeline = h("footer.timeline");
  readonly sides: Record<Side, SidePanels> = { left: new SidePanels("left"), right: new SidePanels("right") };
  private readonly notices = h("div.notices", { role: "status", "aria-live": "polite" });
  /** The titles of panels that are folded, in every mode. */
  private readonly folded = new Set(recall<string[]>("folded", []));

  constructor() {
    const { left, right } = this.sides;
    const center = h("section.center", { "aria-label": "Stage" }, this.stage, this.overlay, left.button, right.button);
    document.body.append(
      h("header.bar", {}, this.brand, this.modes, this.camera, this.saving, this.tools),
      h("main", {}, left.element, left.edge, center, right.edge, right.element),
      this.timeline,
      this.notices,
    );
  }

  /** Open a panel on a side, and give the element to fill. A press on its title folds it. */
  panel(side: Side, title: string): HTMLElement {
    const body = h("div.body");
    const head = h("summary", {}, h("h2", {}, title));
    const panel = h("details.panel", { open: !this.folded.has(title) }, head, body);
    // Not when it has been folded, which is told late where pictures are slow.
    head.addEventListener("click", () => {
      if (panel.open) this.folded.add(title);
      else this.folded.delete(title);
      remember("folded", [...this.folded]);
    });
    this.sides[side].append(panel);
    return body;
  }

  /** Name the parts of a divided stage. */
  labels(titles: string[]): void {
    this.overlay.replaceChildren(...titles.map((title) => h("div.label", {}, title)));
  }

  /** Take all panels away, as a mode is left. */
  clear(): void {
    for (const side of Object.values(this.sides)) side.clear();
    this.overlay.replaceChildren();
  }

  /** Say something that does not stop anybody. */
  notice(text: string, kind: "note" | "error" = "note"): void {
    const element = h(`div.notice`, { "data-kind": kind }, text);
    this.notices.append(element);
    setTimeout(() => element.remove(), kind === "error" ? 8000 : 4000);
  }
}
