import type { App } from "../app";
import { h } from "../shell/dom";
import { Fields } from "./fields";
import { LinkEditor } from "./link_editor";
import { KINDS, type Kind, type Machine, type Plan } from "./plan";
import type { Planner } from "./planner";
import type { Troupe } from "./troupe";

const KIND_HELP: Record<Kind, string> = {
  ttt1: "the whole leg slides sideways",
  ttt2: "a hinged pantograph in space",
  ttr: "the whole leg turns about its vertical axis",
};

type Length = Exclude<keyof Machine, "kind" | "com" | "shapes">;

const LENGTHS: [name: Length, label: string, title: string, unit?: string][] = [
  ["gain", "K", "Magnification of the pantograph", "×"],
  ["rail_height", "rail", "Height of the horizontal drive's rail above the hip, negative"],
  ["l1", "L1", "From the upper pivot to the crank's pin on the thigh; the thigh is K times as long"],
  ["l2", "L2", "Length of the crank; the shank is K times as long"],
  ["body_length", "length", "From the rear hips to the front hips"],
  ["body_width", "width", "From the right hips to the left hips"],
  ["foot_offset", "foot out", "Distance of a foot outward from its hip at rest"],
  ["foot_forward", "foot fwd", "Distance of a foot forward from its hip at rest"],
  ["lateral_stroke", "stroke y", "Travel of a TTT1 leg to each side"],
  ["turn_limit_deg", "turn", "Angle that a TTR leg turns to each side", "°"],
];

/** The robot: its type, its measures, and one leg link by link; the other legs mirror it. */
export class RobotPanel {
  readonly element: HTMLElement;
  readonly links: LinkEditor;
  private readonly fields: Fields;

  /** @param look Looks at all there is, as one or three robots come on the stage. */
  constructor(app: App, planner: Planner, troupe: Troupe, look: () => void) {
    const fields = (this.fields = new Fields(planner));
    this.links = new LinkEditor(planner, troupe, fields);
    const machine = (plan: Plan, change: Partial<Machine>): Partial<Plan> => ({ machine: { ...plan.machine, ...change } });
    const choose = (kinds: Kind[]) => {
      const many = planner.kinds.length;
      const done = planner.edit(machine(planner.plan, { kind: kinds[0] }), kinds);
      if (kinds.length !== many) void app.guarded(() => done.then(look));
    };
    const types = KINDS.map((kind) => h("button", { "data-kind": kind, title: KIND_HELP[kind], onclick: () => choose([kind]) }, kind.toUpperCase()));
    const all = h("button", { "data-kind": "all", title: "Three robots side by side on the same path", onclick: () => choose(KINDS) }, "all three");
    fields.follow(() => {
      const several = planner.kinds.length > 1;
      all.setAttribute("aria-pressed", String(several));
      types.forEach((button, i) => button.setAttribute("aria-pressed", String(!several && planner.plan.machine.kind === KINDS[i])));
    });
    const measures = LENGTHS.map(([name, label, title, unit]) =>
      fields.number({ label, title, unit, step: name.endsWith("deg") ? 5 : 0.5, get: (plan) => plan.machine[name], set: (value, plan) => machine(plan, { [name]: value }) }),
    );
    const com = ["com x", "com y"].map((label, axis) =>
      fields.number({
        label, title: "Centre of mass forward and to the left of the body's centre", step: 0.5,
        get: (plan) => plan.machine.com[axis]!,
        set: (value, plan) => machine(plan, { com: axis ? [plan.machine.com[0], value] : [value, plan.machine.com[1]] }),
      }),
    );
    this.element = h("div", {}, h("div.buttons.types", {}, ...types, all), h("div.fields", {}, ...measures, ...com), this.links.element);
  }

  dispose(): void {
    this.links.dispose();
    this.fields.dispose();
  }
}
