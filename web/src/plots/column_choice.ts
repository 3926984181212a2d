import { h } from "../shell/dom";

/** A sheet on which the columns of a channel are chosen; it stays open while charts change. */
export class ColumnChoice {
  readonly element: HTMLDetailsElement;
  private readonly summary = h("summary", { title: "Choose columns" });

  /**
   * @param names All columns.
   * @param chosen Those that are drawn.
   * @param changed Told of another choice.
   */
  constructor(
    readonly names: readonly string[],
    public chosen: ReadonlySet<string>,
    changed: () => void,
  ) {
    const ticks = names.map((name) => {
      const box = h("input", { type: "checkbox", checked: chosen.has(name), "data-column": name });
      box.addEventListener("change", () => tell());
      return { name, box, row: h("label", {}, box, name || "value") };
    });
    const tell = () => {
      this.chosen = new Set(ticks.filter(({ box }) => box.checked).map(({ name }) => name));
      this.count();
      changed();
    };
    const all = (checked: boolean) => {
      for (const { box, row } of ticks) if (!row.hidden) box.checked = checked;
      tell();
    };
    const filter = h("input.filter", { type: "search", placeholder: "Find columns", "aria-label": "Find columns" });
    filter.addEventListener("input", () => {
      for (const { name, row } of ticks) row.hidden = !name.toLowerCase().includes(filter.value.toLowerCase());
    });
    const button = (text: string, checked: boolean) => h("button.tool", { onclick: () => all(checked) }, text);
    this.element = h("details.columns", {}, this.summary,
      h("div.sheet", {}, filter, h("div.legendhead", {}, button("all", true), button("none", false)),
        h("div.names", {}, ...ticks.map(({ row }) => row))));
    this.count();
  }

  /** Choose a column, without telling. */
  add(name: string): void {
    const box = this.element.querySelector<HTMLInputElement>(`[data-column="${CSS.escape(name)}"]`);
    if (box) box.checked = true;
    this.chosen = new Set([...this.chosen, name]);
    this.count();
  }

  private count(): void {
    this.summary.textContent = `columns ${this.chosen.size}/${this.names.length}`;
  }
}
