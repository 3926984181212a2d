import { h, short } from "../shell/dom";
import type { Facts } from "./plan";
import type { Troupe } from "./troupe";

/** What came of the plan: its figures, and in words what would go wrong. */
export class Findings {
  readonly element = h("div");
  private readonly stop: () => void;

  constructor(private readonly troupe: Troupe) {
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
    const list = warnings.map((warning) =>
      h("button.warning", { "data-kind": warning.kind, "data-frame": warning.frame, title: "Show this moment", onclick: () => troupe.goTo(warning.frame) }, warning.text),
    );
    const more = count > warnings.length ? `and ${count - warnings.length} more` : "";
    this.element.replaceChildren(
      ...(walkers.length > 1 ? [h("div.choice", {}, ...robots)] : []),
      h("dl.figures", {}, ...figures(walker.facts).flatMap(([name, value, title, wide]) => [h("dt", { title }, name), h(wide ? "dd.wide" : "dd", { title }, value)])),
      h("div.warnings", { "aria-label": "Warnings" }, ...list, count ? h("small", {}, more) : h("p.good", {}, "No warnings.")),
    );
  }
}

function figures(facts: Facts): [name: string, value: string, title: string, wide?: true][] {
  const row = facts.table1_row ? `row ${facts.table1_row}` : "no row";
  return [
    ["order", `${facts.order.join(" ")} (${row})`, "The order in which the legs swing, and its row in Table 1", true],
    ["travel", facts.joint_travel.map((value) => short(value, 3)).join(" · "), "Travel of the drives h_x, lateral (rad for TTR), v_z of all legs [unit]", true],
    ["least margin", short(facts.min_margin), "Least static stability margin [unit]"],
    ["mean margin", short(facts.mean_margin), "Mean static stability margin [unit]"],
    ["stride", short(facts.stride), "As walked: shortened so that whole cycles fit the path [unit]"],
    ["distance", short(facts.way), "Length of the body's path [unit]"],
    ["foot gap", short(facts.foot_gap), "Least distance between two feet [unit]"],
    ["work", short(facts.drive_work), "Work of all drives on a slow walk [weight of the robot × unit]"],
    ["volume", short(facts.walking_volume), "Volume within reach of a foot [unit³]"],
    ["hip height", short(facts.height), "Height of the hips above level ground [unit]"],
  ];
}
