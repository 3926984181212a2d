import { h } from "../shell/dom";

/** The main menu: one of its pages is seen at a time. */
export class Menu {
  readonly element: HTMLElement;
  /** The page that is seen. */
  page = "";
  private readonly tabs = new Map<string, HTMLButtonElement>();

  constructor(private readonly pages: Record<string, HTMLElement>) {
    for (const name of Object.keys(pages)) {
      this.tabs.set(name, h("button", { "data-menu": name, onclick: () => this.open(name) }, name));
    }
    this.element = h("div.menu", {}, h("nav.modes", { "aria-label": "Main menu" }, ...this.tabs.values()), ...Object.values(pages));
    this.open(Object.keys(pages)[0]!);
  }

  open(name: string): void {
    this.page = name;
    for (const [other, page] of Object.entries(this.pages)) {
      page.hidden = other !== name;
      this.tabs.get(other)!.setAttribute("aria-pressed", String(other === name));
    }
  }
}
