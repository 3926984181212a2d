import { h } from "../shell/dom";
import type { Plan } from "./plan";
import type { Planner } from "./planner";

interface NumberField {
  label: string;
  title: string;
  /** Unit that is written behind it. */
  unit?: string;
  step?: number;
  get(plan: Plan): number;
  set(value: number, plan: Plan): Partial<Plan>;
}

interface ChoiceField {
  label: string;
  title: string;
  options: [value: string, text: string][];
  get(plan: Plan): string;
  set(value: string, plan: Plan): Partial<Plan>;
}

/** Fields that show the plan and change it; they follow it wherever else it is changed. */
export class Fields {
  private readonly refresh: (() => void)[] = [];
  private readonly stop: () => void;

  constructor(private readonly planner: Planner) {
    this.stop = planner.changed.on(() => this.show());
  }

  dispose(): void {
    this.stop();
  }

  /** Write the values of the plan into all fields. */
  show(): void {
    for (const refresh of this.refresh) refresh();
  }

  number({ label, title, unit = "", step = 1, get, set }: NumberField): HTMLElement {
    const { planner } = this;
    const input = h("input", { type: "number", step: "any", "aria-label": label });
    // Arrow keys go by a rounder step than "any" would.
    input.addEventListener("keydown", (event) => {
      const sign = { ArrowUp: 1, ArrowDown: -1 }[event.key];
      if (!sign) return;
      event.preventDefault();
      void planner.edit(set(rounded(get(planner.plan) + sign * step), planner.plan));
    });
    input.addEventListener("change", () => {
      if (Number.isFinite(input.valueAsNumber)) void planner.edit(set(input.valueAsNumber, planner.plan));
      else this.show();
    });
    this.refresh.push(() => (input.value = String(Number(get(planner.plan).toPrecision(5)))));
    this.refresh.at(-1)!();
    return h("label.field", { title }, h("span", {}, label), input, h("i", {}, unit));
  }

  choice({ label, title, options, get, set }: ChoiceField): HTMLElement {
    const { planner } = this;
    const select = h("select", { "aria-label": label }, ...options.map(([value, text]) => h("option", { value }, text)));
    select.addEventListener("change", () => void planner.edit(set(select.value, planner.plan)));
    this.refresh.push(() => (select.value = get(planner.plan)));
    this.refresh.at(-1)!();
    return h("label.field.wide", { title }, h("span", {}, label), select);
  }

  /** Do something whenever the plan changes, and now. */
  follow(show: () => void): void {
    this.refresh.push(show);
    show();
  }
}

/** Leave out the digits that only rounding has made. */
function rounded(value: number): number {
  return Number(value.toPrecision(10));
}
