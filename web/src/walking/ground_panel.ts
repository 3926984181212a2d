import { h } from "../shell/dom";
import { Fields } from "./fields";
import type { Block, Plan, Terrain } from "./plan";
import type { Planner } from "./planner";

const LEVEL: Terrain = { slope_deg: 0, slope_from: 0, steps: [], clearance: 2 };
const WIDE = 500;
const GROUNDS: Record<string, Terrain> = {
  level: LEVEL,
  slope: { ...LEVEL, slope_deg: 6, slope_from: 30 },
  downhill: { ...LEVEL, slope_deg: -6, slope_from: 95 },
  steps: {
    ...LEVEL,
    steps: [
      { x0: 35, x1: 120, y0: -WIDE, y1: WIDE, height: 2 },
      { x0: 65, x1: 95, y0: -WIDE, y1: WIDE, height: 4 },
    ],
  },
};
const SIDES = ["x0", "x1", "y0", "y1", "height"] as const;

/** The ground: level, a slope along x, and blocks on it. */
export class GroundPanel {
  readonly element: HTMLElement;
  private readonly fields: Fields;
  private readonly rows = h("div.blocks");

  constructor(private readonly planner: Planner) {
    const fields = (this.fields = new Fields(planner));
    const terrain = (plan: Plan, change: Partial<Terrain>) => ({ terrain: { ...plan.terrain, ...change } });
    const grounds = Object.entries(GROUNDS).map(([name, ground]) =>
      h("button", { "data-ground": name, onclick: () => void planner.edit({ terrain: ground }) }, name),
    );
    const add = () => this.setBlocks([...planner.plan.terrain.steps, { x0: 40, x1: 60, y0: -WIDE, y1: WIDE, height: 2 }]);
    this.element = h("div", {},
      h("div.buttons", {}, ...grounds, h("button", { title: "Add a block to the ground", onclick: add }, "add step")),
      h("div.fields", {},
        fields.number({ label: "slope", title: "Angle of the slope along x: uphill from where it starts, or, if negative, downhill to there", unit: "°", get: (plan) => plan.terrain.slope_deg, set: (slope_deg, plan) => terrain(plan, { slope_deg }) }),
        fields.number({ label: "from x", title: "Where an uphill slope starts along x, and a downhill one ends", step: 5, get: (plan) => plan.terrain.slope_from, set: (slope_from, plan) => terrain(plan, { slope_from }) }),
        fields.number({ label: "clear", title: "Least distance of a foot from the edge of a block", get: (plan) => plan.terrain.clearance, set: (clearance, plan) => terrain(plan, { clearance }) }),
        fields.number({ label: "tilt", title: "Share of the ground's slope by which the body tilts: 0 keeps it level, 1 parallel to the ground", step: 0.1, get: (plan) => plan.tilt ?? 0, set: (tilt) => ({ tilt }) }),
      ),
      this.rows,
    );
    fields.follow(() => this.show());
  }

  dispose(): void {
    this.fields.dispose();
  }

  private setBlocks(steps: Block[]): void {
    void this.planner.edit({ terrain: { ...this.planner.plan.terrain, steps } });
  }

  private show(): void {
    const blocks = this.planner.plan.terrain.steps;
    const names = SIDES.map((side) => h("b", {}, side === "height" ? "high" : side));
    this.rows.replaceChildren(
      ...(blocks.length ? [h("div.block", {}, ...names, h("b", {}))] : []),
      ...blocks.map((block, i) =>
        h("div.block", {},
          ...SIDES.map((side) => this.measure(block, i, side)),
          h("button.chip", { title: "Remove this block", onclick: () => this.setBlocks(blocks.filter((_, j) => j !== i)) }, "×"),
        ),
      ),
    );
  }

  private measure(block: Block, index: number, side: (typeof SIDES)[number]): HTMLElement {
    const input = h("input", { type: "number", step: "any", value: block[side], "aria-label": `${side} of block ${index + 1}` });
    input.addEventListener("change", () => {
      if (!Number.isFinite(input.valueAsNumber)) return this.show();
      this.setBlocks(this.planner.plan.terrain.steps.map((old, i) => (i === index ? { ...old, [side]: input.valueAsNumber } : old)));
    });
    return input;
  }
}
