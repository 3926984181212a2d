import { h, short } from "../shell/dom";
import type { Facts, Plan } from "./plan";
import type { Troupe } from "./troupe";

/** What helps against each kind of warning. */
const CURES: Record<string, string> = {
  reach: "shorten the stride or lower the lift, or lengthen L1, L2 or K",
  drive: "shorten the stride, or give the drive more travel (stroke y, turn)",
  singular: "set the feet outward (foot out)",
  stability: "give the gait a sway, or take another leg order",
  sway: "ask for less sway, or shorten the stride",
  balance: "give a step more time, or more sway",
  "foot-gap": "shorten the stride, or lengthen or widen the body",
  shape: "let the section reach its pivots, or reset the link",
  interference: "set the feet outward (foot out), widen the body or shorten the stride",
  terrain: "lift the feet higher, or keep more clearance",
};
/** Groups that are longer are closed at first. */
const LONG = 20;

/** What came of the plan: its figures, and in words what would go wrong. */
export class Findings {
  readonly element = h("div");
  private readonly stop: () => void;
  /** Groups that were opened or closed by hand. */
  private readonly opened = new Map<string, boolean>();

  /** @param change Changes the plan; nothing on a page that cannot. */
  constructor(
    private readonly troupe: Troupe,
    private readonly change?: (cure: Partial<Plan>) => void,
  ) {
    this.stop = troupe.changed.on(() => this.show());
  }

  dispose(): void {
    this.stop();
  }

  private show(): void {
    const { troupe } = this;
    const { walker, walkers } = troupe;
    if (!walker) {
      this.element.replaceChildren(h("p.warning", { role: "status", "data-kind": "path" }, "No walk: the path has too few waypoints. Click the ground to place them."));
      return;
    }
    const robots = walkers.map(({ facts }, i) =>
      h("button.chip", { "aria-pressed": String(walkers[i] === walker), onclick: () => troupe.choose(i) }, `${facts.kind.toUpperCase()}${facts.warning_count ? ` ⚠${facts.warning_count}` : ""}`),
    );
    const { warnings, warning_count: count } = walker.facts;
    const kinds = [...new Set(warnings.map(({ kind }) => kind))];
    const list = kinds.map((kind) => this.group(walker.facts, kind));
    const more = count > warnings.length ? `and ${count - warnings.length} more` : "";
    this.element.replaceChildren(
      ...(walkers.length > 1 ? [h("div.choice", {}, ...robots)] : []),
      h("dl.figures", {}, ...figures(walker.facts).flatMap(([name, value, title, wide]) => [h("dt", { title }, name), h(wide ? "dd.wide" : "dd", { title }, value)])),
      h("div.warnings", { "aria-label": "Warnings" }, ...list, count ? h("small", {}, more) : h("p.good", {}, "No warnings.")),
    );
  }

  /** The warnings of a kind: how many, which is the worst, what helps, and all of them. */
  private group({ warnings, cures }: Facts, kind: string): HTMLElement {
    const { troupe, change } = this;
    const own = warnings.filter((warning) => warning.kind === kind);
    const worst = own.reduce((a, b) => (b.amount > a.amount ? b : a));
    const cure = cures?.[kind];
    const words = cure ? `${Object.entries(cure).map(([name, value]) => `${name} ${value}`).join(", ")} leaves none of them` : CURES[kind];
    const open = this.opened.get(kind) ?? own.length <= LONG;
    const group = h("details.group", { open, "data-group": kind },
      h("summary", {}, h("b", {}, kind), ` ${own.length} ×`,
        h("button.tool", { title: worst.text, onclick: () => troupe.goTo(worst.frame) }, "worst")),
      ...own.map((warning) =>
        h("button.warning", { "data-kind": warning.kind, "data-frame": warning.frame, title: "Show this moment", onclick: () => troupe.goTo(warning.frame) }, warning.text),
      ),
    );
    group.addEventListener("toggle", () => this.opened.set(kind, group.open));
    const help = h("p.cure", {}, `Cure: ${words ?? "change the plan"}. `,
      cure && change ? h("button.tool", { "data-cure": kind, onclick: () => change(cure) }, "apply") : null);
    return h("div", {}, group, help);
  }
}

function figures(facts: Facts): [name: string, value: string, title: string, wide?: true][] {
  const row = facts.table1_row ? `row ${facts.table1_row}` : "no row";
  return [
    facts.rows?.length
      ? ["order", `rows ${changes(facts.rows).join(" → ")}`, "The rows of Table 1 for the direction of each cycle, as they change", true]
      : ["order", `${facts.order.join(" ")} (${row})`, "The order in which the legs swing, and its row in Table 1", true],
    ["travel", facts.joint_travel.map((value) => short(value, 3)).join(" · "), "Travel of the drives h_x, lateral (rad for TTR), v_z of all legs [unit]", true],
    ["least margin", short(Math.abs(facts.min_margin) < 1e-9 ? 0 : facts.min_margin), "Least static stability margin [unit]"],
    ["mean margin", short(facts.mean_margin), "Mean static stability margin [unit]"],
    ["stride", short(facts.stride), "As walked: shortened so that whole cycles fit the path [unit]"],
    ["distance", short(facts.way), "Length of the body's path [unit]"],
    ["foot gap", short(facts.foot_gap), "Least distance between two feet [unit]"],
    ["work", short(facts.drive_work), "Work of all drives on a slow walk [weight of the robot × unit]"],
    ["volume", short(facts.walking_volume), "Volume within reach of a foot [unit³]"],
    ["hip height", short(facts.height), "Height of the hips above level ground [unit]"],
  ];
}

/** Leave out values that are those before them. */
function changes(values: readonly number[]): number[] {
  return values.filter((value, i) => value !== values[i - 1]);
}
