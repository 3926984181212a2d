import { h } from "../shell/dom";
import { Fields } from "./fields";
import { type Plan, TABLE_1 } from "./plan";
import type { Planner } from "./planner";

type Value = "stride" | "lift" | "sway" | "frames_per_step" | "step_time";

const VALUES: [name: Value, label: string, title: string, step: number, unit?: string][] = [
  ["stride", "stride", "Maximum distance that the body moves in one cycle of four legs", 1],
  ["lift", "lift", "Height of a foot during its swing", 1],
  ["sway", "sway", "Stability margin to reach in each swing by swaying the body; 0 for no sway", 1],
  ["step_time", "time", "Duration of one leg step, including body motion", 0.1, "s"],
  ["frames_per_step", "frames", "Frames per leg step", 1],
];

/** The gait: stride, lift, sway, timing and the order of the legs. */
export class GaitPanel {
  readonly element: HTMLElement;
  private readonly fields: Fields;

  constructor(planner: Planner) {
    const fields = (this.fields = new Fields(planner));
    const rows = Object.entries(TABLE_1).map(([row, order]) => [row, `row ${row}: ${order.join(" ")}`] as [string, string]);
    const row = (plan: Plan) => Object.keys(TABLE_1).find((key) => TABLE_1[Number(key)]!.join() === plan.order.join());
    this.element = h("div.fields", {},
      ...VALUES.map(([name, label, title, step, unit]) =>
        fields.number({ label, title, step, unit, get: (plan) => plan[name], set: (value) => ({ [name]: value }) }),
      ),
      fields.choice({ label: "timing", title: "When the body moves within a cycle", get: (plan) => plan.timing, set: (timing) => ({ timing }) as Partial<Plan>,
        options: [["two-phase", "two-phase: half moves"], ["paper", "as in the paper: one move"]] }),
      fields.choice({ label: "leg order", title: "The order in which the legs swing: the best of all 24, by the direction of each cycle, or a row of the paper's Table 1",
        get: (plan) => (plan.by_region ? "regions" : plan.order.length ? (row(plan) ?? "other") : "auto"),
        set: (value, plan) => ({ by_region: value === "regions", order: value === "regions" ? [] : value === "auto" ? [] : (TABLE_1[Number(value)] ?? plan.order) }),
        options: [["auto", "auto: best of all 24"], ["regions", "Table 1 by direction"], ...rows, ["other", "another order"]] }),
    );
  }

  dispose(): void {
    this.fields.dispose();
  }
}
