import { h } from "../shell/dom";
import type { Heading, Point, Segment } from "./plan";
import type { Planner } from "./planner";

const KINDS: Record<Heading, string> = { turn: "walk to", crab: "side to", spin: "turn by °" };
/** How far a new segment leads [unit], and how far it turns [deg]. */
const AHEAD = 48;
const TURN = 90;

/** Further segments of the path: each walks, goes sideways or turns, from where the one before ends. */
export class SegmentList {
  readonly element: HTMLElement;
  private readonly rows = h("div");

  /** @param end Gives where the body is in the end, and its heading [unit, rad]. */
  constructor(
    private readonly planner: Planner,
    private readonly end: () => [x: number, y: number, heading: number],
  ) {
    const add = (heading: Heading, text: string, title: string) =>
      h("button", { title, "data-segment": heading, onclick: () => this.add(heading) }, text);
    this.element = h("div.segments", {},
      h("p.empty", {}, "Then, from where the path ends:"),
      this.rows,
      h("div.buttons", {},
        add("turn", "+ straight", "Add a segment that walks ahead"),
        add("crab", "+ side", "Add a segment that walks to the left, with the heading it has"),
        add("spin", "+ turn", "Add a turn on the spot"),
      ),
    );
  }

  show(): void {
    const segments = this.planner.plan.segments ?? [];
    this.rows.replaceChildren(...segments.map((segment, i) => this.row(segment, i)));
  }

  private set(segments: Segment[]): void {
    void this.planner.edit({ segments });
  }

  private change(index: number, change: Partial<Segment>): void {
    this.set(this.planner.plan.segments.map((old, i) => (i === index ? { ...old, ...change } : old)));
  }

  private add(heading: Heading): void {
    this.set([...(this.planner.plan.segments ?? []), { heading, waypoints: this.goal(heading), curve: "spline", spin_deg: TURN }]);
  }

  /** Where a new segment leads: ahead, or to the left. */
  private goal(heading: Heading): Point[] {
    if (heading === "spin") return [];
    const [x, y, at] = this.end();
    const way = heading === "crab" ? at + Math.PI / 2 : at;
    return [[Number((x + AHEAD * Math.cos(way)).toFixed(2)), Number((y + AHEAD * Math.sin(way)).toFixed(2))]];
  }

  private row(segment: Segment, index: number): HTMLElement {
    const kind = h("select", { "aria-label": `kind of segment ${index + 1}` }, ...Object.entries(KINDS).map(([value, text]) => h("option", { value }, text)));
    kind.value = segment.heading;
    kind.addEventListener("change", () => {
      const heading = kind.value as Heading;
      this.change(index, { heading, waypoints: heading === "spin" ? [] : segment.waypoints.length ? segment.waypoints : this.goal(heading) });
    });
    const number = (label: string, value: number, apply: (value: number) => void) => {
      const input = h("input", { type: "number", step: "any", value: Number(value.toFixed(3)), "aria-label": `${label} of segment ${index + 1}` });
      input.addEventListener("change", () => (Number.isFinite(input.valueAsNumber) ? apply(input.valueAsNumber) : this.show()));
      return input;
    };
    const last = segment.waypoints.at(-1) ?? [0, 0];
    const to = (axis: 0 | 1) => (value: number) => {
      const point: Point = axis ? [last[0], value] : [value, last[1]];
      this.change(index, { waypoints: [...segment.waypoints.slice(0, -1), point] });
    };
    const fields = segment.heading === "spin"
      ? [number("angle", segment.spin_deg, (spin_deg) => this.change(index, { spin_deg })), h("span")]
      : [number("x", last[0], to(0)), number("y", last[1], to(1))];
    const drop = () => this.set(this.planner.plan.segments.filter((_, i) => i !== index));
    return h("div.segment", {}, h("b", {}, index + 1), kind, ...fields,
      h("button.chip", { title: "Delete this segment", "aria-label": `Delete segment ${index + 1}`, onclick: drop }, "×"));
  }
}
