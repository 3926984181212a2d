import type { App } from "../app";
import { h } from "../shell/dom";
import { Fields } from "./fields";
import type { PathTool } from "./path_tool";
import { type Plan, type Point, PRESETS } from "./plan";
import type { Planner } from "./planner";
import { SegmentList } from "./segment_list";

/** The path: presets, waypoints, what is drawn through them, and what the heading does. */
export class PathPanel {
  readonly element: HTMLElement;
  private readonly fields: Fields;
  private readonly rows = h("div.waypoints");
  private readonly hint = h("p.empty");
  private readonly segments: SegmentList;

  /**
   * @param moved Told when another path was chosen, which may lie elsewhere.
   * @param load Asks for a file.
   * @param end Gives where the body is in the end, and its heading [unit, rad].
   */
  constructor(
    app: App,
    private readonly planner: Planner,
    private readonly tool: PathTool,
    moved: () => void,
    load: () => void,
    end: () => [x: number, y: number, heading: number],
  ) {
    const fields = (this.fields = new Fields(planner));
    const presets = Object.entries(PRESETS).map(([name, preset]) =>
      h("button", { "data-preset": name, onclick: () => void app.guarded(() => planner.edit(preset).then(moved)) }, name),
    );
    const set = <K extends keyof Plan>(name: K) => (value: string | number) => ({ [name]: value }) as Partial<Plan>;
    this.element = h(
      "div",
      {},
      h("div.buttons", {}, ...presets),
      h("div.buttons", {}, tool.button,
        h("button", { title: "Start an empty path", onclick: () => tool.restart() }, "new path"),
        h("button", { title: "Waypoints from a file: CSV lines x,y or JSON [[x, y], ...]", onclick: load }, "from file"),
      ),
      this.hint,
      this.rows,
      h("div.fields", {},
        fields.choice({ label: "curve", title: "Interpolation of the waypoints", get: (plan) => plan.curve, set: set("curve"),
          options: [["spline", "cubic spline"], ["bezier", "Bezier curve"]] }),
        fields.choice({ label: "heading", title: "Heading of the body along the path", get: (plan) => plan.heading, set: set("heading"),
          options: [["turn", "follows the path"], ["crab", "constant (crab)"], ["spin", "spins on the spot"]] }),
        fields.number({ label: "angle", title: "Constant heading of a crab walk, initial heading of a spin; positive to the left", unit: "°", step: 5, get: (plan) => plan.heading_deg, set: set("heading_deg") }),
        fields.number({ label: "spin by", title: "Angle of a spin, positive to the left", unit: "°", step: 15, get: (plan) => plan.spin_deg, set: set("spin_deg") }),
      ),
    );
    this.segments = new SegmentList(planner, end);
    this.element.append(this.segments.element);
    fields.follow(() => {
      this.show();
      this.segments.show();
    });
  }

  dispose(): void {
    this.fields.dispose();
  }

  private show(): void {
    const { waypoints } = this.planner.plan;
    this.hint.textContent = this.planner.complete
      ? "Drag a waypoint to move it, right-click to delete it, Shift-click to insert one."
      : "Click the ground: a path needs two waypoints.";
    this.rows.replaceChildren(
      ...waypoints.map((point, i) =>
        h("div.waypoint", {},
          h("b", {}, i + 1),
          ...point.map((value, axis) => this.coordinate(i, axis, value)),
          h("button.chip", { title: "Delete this waypoint", "aria-label": `Delete waypoint ${i + 1}`, onclick: () => this.tool.delete(i) }, "×"),
        ),
      ),
    );
  }

  private coordinate(index: number, axis: number, value: number): HTMLElement {
    const input = h("input", { type: "number", step: "any", value: Number(value.toFixed(3)), "aria-label": `${"xy"[axis]} of waypoint ${index + 1}` });
    input.addEventListener("change", () => {
      if (!Number.isFinite(input.valueAsNumber)) return this.show();
      const waypoints = this.planner.plan.waypoints.map((old, i) =>
        i === index ? (old.map((v, a) => (a === axis ? input.valueAsNumber : v)) as Point) : old,
      );
      void this.planner.edit({ waypoints });
    });
    return input;
  }
}
