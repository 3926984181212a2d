import "./table.css";
import { ColumnChoice } from "../plots/column_choice";
import { h, short } from "../shell/dom";
import { Event } from "../shell/events";
import type { Value } from "./scale";

/** Rows in the page; the plots have all. */
const MOST_ROWS = 200;

/** The rows of a table, sorted by one of its columns; a press on a row's button chooses it. */
export class RunTable {
  readonly element = h("div.runtable");
  readonly picked = new Event<number>();
  private readonly head = h("div.legendhead");
  private readonly rows = h("div.rows");
  private columns: Record<string, Value[]> = {};
  private choice: ColumnChoice | null = null;
  private sortedBy = "";
  private ascending = true;
  private selected = -1;
  private paint: (row: number) => string = () => "";

  /** @param wide Gives where the table is when it is large. */
  constructor(private readonly wide: () => HTMLElement) {
    this.element.append(this.head, this.rows);
  }

  /**
   * Show a table.
   *
   * @param names The columns that are listed unasked; the second is what rows are sorted by at first.
   * @param paint Gives the colour of a row.
   */
  show(columns: Record<string, Value[]>, names: string[], paint: (row: number) => string): void {
    this.columns = columns;
    this.paint = paint;
    const all = Object.keys(columns).filter((name) => name !== "key");
    const given = names.filter((name) => name in columns);
    if (this.choice?.names.join("\n") !== all.join("\n")) {
      this.choice = new ColumnChoice(all, new Set(given), () => this.draw());
      this.sortedBy = "";
    } else for (const name of given) this.choice.add(name);
    if (!(this.sortedBy in columns)) this.sortedBy = given[1] ?? given[0] ?? all[0] ?? "";
    const size = h("button.tool", { title: "Large, over the view, or small", "aria-pressed": this.isWide }, "large");
    size.addEventListener("click", () => {
      this.setWide(!this.isWide);
      size.setAttribute("aria-pressed", String(this.isWide));
    });
    this.head.replaceChildren(this.choice.element, size);
    this.draw();
  }

  /** Mark a row; -1 for none. */
  select(row: number): void {
    this.selected = row;
    this.draw();
  }

  dispose(): void {
    this.setWide(false);
  }

  private get isWide(): boolean {
    return this.element.classList.contains("wide");
  }

  private home: HTMLElement | null = null;

  /** Lay the table over the view, or put it back. */
  private setWide(wide: boolean): void {
    if (wide === this.isWide) return;
    if (wide) this.home = this.element.parentElement;
    this.element.classList.toggle("wide", wide);
    (wide ? this.wide() : this.home)?.append(this.element);
    if (wide && this.choice) for (const name of this.choice.names) this.choice.add(name);
    this.draw();
  }

  private draw(): void {
    const names = this.choice?.names.filter((name) => this.choice!.chosen.has(name)) ?? [];
    const values = this.columns[this.sortedBy] ?? [];
    const order = values.map((_, row) => row).sort((a, b) => {
      const [x, y] = [values[a] ?? null, values[b] ?? null];
      // Rows without a value come last, whichever way they are sorted.
      if (x === null || y === null) return Number(x === null) - Number(y === null);
      return this.ascending ? compared(x, y) : -compared(x, y);
    });
    const several = order.length > MOST_ROWS ? h("small", {}, `${MOST_ROWS} of ${order.length} rows`) : "";
    this.rows.replaceChildren(
      h("table.sweep", {},
        h("tr", {}, h("th", {}), ...names.map((name) => this.header(name))),
        ...order.slice(0, MOST_ROWS).map((row) => this.row(row, names)),
      ),
      several,
    );
  }

  private header(name: string): HTMLElement {
    const by = name === this.sortedBy;
    const sort = () => {
      this.ascending = by ? !this.ascending : true;
      this.sortedBy = name;
      this.draw();
      this.rows.querySelector<HTMLElement>(`[data-sort="${CSS.escape(name)}"]`)?.focus();
    };
    const way = by ? (this.ascending ? "ascending" : "descending") : "none";
    return h("th", { "aria-sort": way },
      h("button.sort", { "data-sort": name, title: `Sort by ${name}`, onclick: sort }, name, by ? (this.ascending ? " ▲" : " ▼") : ""));
  }

  private row(row: number, names: string[]): HTMLElement {
    const status = String(this.columns.status?.[row] ?? "");
    const swatch = h("i.swatch");
    swatch.style.background = this.paint(row);
    return h(
      "tr",
      { "aria-selected": row === this.selected, "data-status": status, title: status },
      // First, where it is seen however many columns there are.
      h("td.go", {}, h("button.chip", { title: "Show its replay", onclick: () => this.picked.emit(row) }, "▶"), swatch),
      ...names.map((name) => h("td", {}, words(this.columns[name]?.[row] ?? null))),
    );
  }
}

export function words(value: Value): string {
  return typeof value === "number" ? short(value) : String(value ?? "–");
}

function compared(a: Value, b: Value): number {
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
}
