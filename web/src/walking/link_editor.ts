import * as THREE from "three";
import { h, short } from "../shell/dom";
import type { Fields } from "./fields";
import type { LinkShape, Point } from "./plan";
import type { Planner } from "./planner";
import type { Troupe } from "./troupe";

const SVG = "http://www.w3.org/2000/svg";

/** The links of one leg: section, top and bottom of each, and a drawing of its section. */
export class LinkEditor {
  readonly element: HTMLElement;
  /** The link that is edited, 0 to 8. */
  index = 4;
  private single = false;
  private readonly choice = h("select", { "aria-label": "Link" });
  private readonly top = h("input", { type: "number", step: "any", "aria-label": "top" });
  private readonly bottom = h("input", { type: "number", step: "any", "aria-label": "bottom" });
  private readonly section = h("textarea", { rows: 2, spellcheck: "false", "aria-label": "section" });
  private readonly sketch = document.createElementNS(SVG, "svg");
  private readonly alone = h("button", { title: "Show one leg alone", "aria-pressed": false }, "one leg");
  private readonly outline: THREE.LineSegments[] = [];
  private readonly stop: () => void;

  constructor(
    private readonly planner: Planner,
    private readonly troupe: Troupe,
    fields: Fields,
  ) {
    this.choice.addEventListener("change", () => {
      this.index = Number(this.choice.value);
      this.show();
      this.mark();
    });
    for (const input of [this.top, this.bottom, this.section]) input.addEventListener("change", () => this.apply());
    this.alone.addEventListener("click", () => {
      this.single = !this.single;
      this.mark();
      if (this.single) troupe.lookAtLeg();
      else troupe.look();
    });
    const plain = h("button", { title: "Reset all links to plain bars", onclick: () => void planner.edit({ machine: { ...planner.plan.machine, shapes: [] } }) }, "plain bars");
    const field = (label: string, title: string, input: HTMLElement) => h("label.field", { title }, h("span", {}, label), input, h("i", {}));
    this.element = h(
      "details.links",
      {},
      h("summary", {}, "Links of a leg"),
      h("div.row", {}, this.choice, this.alone, plain),
      h("div.fields", {},
        field("top", "Upper end along the link's own z", this.top),
        field("bottom", "Lower end along the link's own z", this.bottom),
      ),
      h("div.section", {}, h("label", { title: "Corners x y of the cross-section, in order around it" }, this.section), this.sketch),
    );
    this.element.addEventListener("toggle", () => this.mark());
    fields.follow(() => this.show());
    const renew = () => {
      this.show();
      this.mark();
    };
    const stops = [troupe.changed.on(renew), troupe.picked.on(renew)];
    this.stop = () => stops.forEach((stop) => stop());
  }

  dispose(): void {
    this.stop();
  }

  /** Edit a link by its name, such as that of one that was clicked. */
  choose(name: string): void {
    const index = this.shapes.findIndex((shape) => shape.name === name);
    if (index < 0) return;
    this.index = index;
    (this.element as HTMLDetailsElement).open = true;
    this.show();
    this.mark();
  }

  private get shapes(): LinkShape[] {
    return this.troupe.walker?.facts.shapes ?? [];
  }

  private show(): void {
    const shape = this.shapes[this.index];
    if (!shape) return;
    if (this.choice.options.length !== this.shapes.length) {
      this.choice.replaceChildren(...this.shapes.map(({ name }, i) => h("option", { value: i }, `${i + 1} ${name}`)));
    }
    this.choice.value = String(this.index);
    this.top.value = short(shape.top);
    this.bottom.value = short(shape.bottom);
    this.section.value = shape.section.map((corner) => corner.map((value) => short(value)).join(" ")).join(", ");
    this.draw(shape.section);
  }

  private apply(): void {
    const section = this.section.value.split(/[,;\n]/).filter((corner) => corner.trim()).map((corner) => corner.trim().split(/\s+/).map(Number));
    const fine = section.every((corner) => corner.length === 2 && corner.every(Number.isFinite));
    const ends = [this.top.valueAsNumber, this.bottom.valueAsNumber];
    if (!fine || !ends.every(Number.isFinite)) return this.show();
    const { machine } = this.planner.plan;
    const shape = this.shapes[this.index]!;
    const changed = { ...shape, section: section as Point[], top: ends[0]!, bottom: ends[1]! };
    // Links that were not changed stay plain bars, of whatever lengths the machine will have.
    const order = this.shapes.map(({ name }) => name);
    const shapes = [...machine.shapes.filter(({ name }) => name !== shape.name), changed];
    shapes.sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
    void this.planner.edit({ machine: { ...machine, shapes } });
  }

  /** Draw the section as seen along the link. */
  private draw(section: Point[]): void {
    const reach = 1.2 * Math.max(0.1, ...section.flat().map(Math.abs));
    this.sketch.setAttribute("viewBox", `${-reach} ${-reach} ${2 * reach} ${2 * reach}`);
    const outline = document.createElementNS(SVG, "polygon");
    outline.setAttribute("points", section.map(([x, y]) => `${x},${-y}`).join(" "));
    outline.setAttribute("stroke-width", String(reach / 25));
    this.sketch.replaceChildren(outline);
  }

  /** Mark the link on all legs, as they mirror each other, and hide the rest if one leg is shown alone. */
  private mark(): void {
    for (const lines of this.outline.splice(0)) {
      lines.removeFromParent();
      lines.geometry.dispose();
    }
    const open = (this.element as HTMLDetailsElement).open && this.element.isConnected;
    const single = this.single && open;
    this.alone.setAttribute("aria-pressed", String(single));
    const name = this.shapes[this.index]?.name;
    for (const { actor } of this.troupe.walkers) {
      for (const part of actor.object.children) {
        const [owner] = part.name.split("/");
        if (part.name === "body" || /^leg[1-4]\//.test(part.name)) part.visible = !single || owner === `leg${this.troupe.leg || 1}`;
        const mesh = part.children[0];
        const marked = open ? Boolean(name) && part.name.endsWith(`/${name}`) : this.troupe.leg > 0 && owner === `leg${this.troupe.leg}`;
        if (!marked || !(mesh instanceof THREE.Mesh)) continue;
        const material = new THREE.LineBasicMaterial({ color: 0xffb000, depthTest: false });
        const lines = new THREE.LineSegments(new THREE.EdgesGeometry(mesh.geometry), material);
        lines.renderOrder = 3;
        part.add(lines);
        this.outline.push(lines);
      }
    }
    this.troupe.arrange();
  }
}
