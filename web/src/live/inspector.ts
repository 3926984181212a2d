import * as THREE from "three";
import type { App } from "../app";
import { h, short } from "../shell/dom";
import type { Frame } from "./frame";
import type { Room } from "./room";
import { type Grip, type Mark, MARKS, type Side } from "./side";

const EVERY = 150;
const NAMES: Record<Mark | "meshes" | "contacts", string> = {
  meshes: "display meshes",
  collisions: "collision shapes",
  inertia: "inertia boxes",
  centers: "centres of mass",
  frames: "frames",
  axes: "joint axes",
  contacts: "contacts",
};

/** What is drawn of the solids, the facts of the one that was clicked, and a tape measure. */
export class Inspector {
  readonly element = h("div.inspector");
  chosen: string | null = null;
  readonly shown: Record<Mark | "meshes" | "contacts", boolean> = {
    meshes: true, collisions: false, inertia: false, centers: false, frames: false, axes: false, contacts: true,
  };
  measuring = false;
  private ends: { grip: Grip; side: Side }[] = [];
  private readonly facts = h("dl.facts");
  private readonly title = h("h3", {}, "Click a link or an object");
  private readonly tape = h("output.tape");
  private readonly line: THREE.Line;
  private readonly measureButton: HTMLButtonElement;
  private readonly stop: (() => void)[];
  private pose: HTMLElement | null = null;
  private written = 0;

  constructor(
    private readonly app: App,
    private readonly room: Room,
  ) {
    const toggles = (Object.keys(NAMES) as (keyof typeof NAMES)[]).map((name) => {
      const button = h("button.chip", { "aria-pressed": this.shown[name], "data-mark": name }, NAMES[name]);
      button.addEventListener("click", () => {
        this.shown[name] = !this.shown[name];
        button.setAttribute("aria-pressed", String(this.shown[name]));
        this.apply();
      });
      return button;
    });
    this.measureButton = h("button", { "aria-pressed": false, title: "Measure between two points that are clicked (M)", onclick: () => this.measure(!this.measuring) }, "Measure");
    const points = new THREE.BufferGeometry().setAttribute("position", new THREE.Float32BufferAttribute(6, 3));
    this.line = new THREE.Line(points, new THREE.LineBasicMaterial({ color: 0xd6246e, depthTest: false, transparent: true }));
    this.line.frustumCulled = this.line.visible = false;
    this.line.renderOrder = 6;
    app.stage.scene.add(this.line);
    this.element.append(h("div.buttons", {}, ...toggles), h("div.row", {}, this.measureButton, this.tape), this.title, this.facts);
    this.stop = [
      room.changed.on(() => this.rebuild()),
      room.moved.on((frame) => this.follow(frame)),
      app.stage.update.on(() => this.drawTape()),
      app.keys.add("m", "measure", () => this.measure(!this.measuring)),
    ];
  }

  /** The measured distance [m], if there is one. */
  get distance(): number | null {
    const [a, b] = this.ends.map(({ grip, side }) => side.place(grip));
    return a && b ? a.distanceTo(b) : null;
  }

  click(grip: Grip | null, side: Side): void {
    if (this.measuring) {
      if (!grip) return;
      if (this.ends.length === 2) this.ends = [];
      this.ends.push({ grip, side });
      this.app.stage.request();
      this.writeTape();
      return;
    }
    this.choose(grip?.solid?.name ?? null);
  }

  choose(name: string | null): void {
    this.chosen = name;
    for (const side of this.room.sides) side?.choose(name, this.app.theme.color("accent"));
    this.write();
    this.app.stage.request();
  }

  measure(on: boolean): void {
    this.measuring = on;
    this.ends = [];
    this.measureButton.setAttribute("aria-pressed", String(on));
    this.app.stage.renderer.domElement.style.cursor = on ? "crosshair" : "";
    this.writeTape();
    this.app.stage.request();
  }

  dispose(): void {
    this.measure(false);
    for (const stop of this.stop) stop();
    this.line.removeFromParent();
  }

  private rebuild(): void {
    this.ends = [];
    const known = this.room.first?.facts.solids.some(({ name }) => name === this.chosen);
    this.apply();
    this.choose(known ? this.chosen : null);
  }

  private apply(): void {
    const size = this.room.first?.box().getSize(new THREE.Vector3()).length() ?? 1;
    for (const side of this.room.sides.filter(Boolean)) {
      side.setMeshes(this.shown.meshes);
      for (const mark of MARKS) side.setMark(mark, this.shown[mark], size);
    }
    for (const forces of this.room.forces) forces.visible = this.shown.contacts;
    this.app.stage.request();
  }

  private write(): void {
    const side = this.room.first;
    const solid = side?.facts.solids.find(({ name }) => name === this.chosen);
    this.title.textContent = solid?.label ?? "Click a link or an object";
    this.pose = null;
    if (!side || !solid) return this.facts.replaceChildren();
    const { inertia, joint } = solid;
    const range = (low: number | null, high: number | null, unit: string) =>
      low === null && high === null ? "unlimited" : `${low === null ? "−∞" : short(low)} to ${high === null ? "∞" : short(high)} ${unit}`;
    const torque = joint?.unit === "m" ? "N" : "N m";
    const rows: [string, string][] = [
      ["mass", inertia ? `${short(inertia.mass)} kg` : "none"],
      ["centre of mass", inertia ? `${inertia.center.map((x) => short(x, 3)).join(", ")} m` : "–"],
      ["principal moments", inertia ? `${moments(inertia).map((x) => short(x, 3)).join(", ")} kg m²` : "–"],
      ["pose", ""],
      ["shapes", `${solid.collisions} to collide, ${solid.visuals} to show`],
      ["joint", joint ? `${joint.name} (${joint.type}) from ${joint.parent}` : "none: root or free"],
    ];
    if (joint && joint.type !== "fixed") {
      rows.push(
        ["position", ""],
        ["limits", range(joint.lower, joint.upper, joint.unit)],
        ["speed limit", joint.velocity === null ? "none" : `${short(joint.velocity)} ${joint.unit}/s`],
        ["effort limit", joint.effort === null ? "none" : `${short(joint.effort)} ${torque}`],
        ["damping", `${short(joint.damping)} ${torque} s/${joint.unit}`],
      );
      if (joint.mimic) rows.push(["follows", joint.mimic]);
    }
    this.facts.replaceChildren(...rows.flatMap(([name, text]) => [h("dt", {}, name), h("dd", { "data-fact": name }, text)]));
    this.pose = this.facts;
    if (side.frame) this.writeMoving(side.frame);
  }

  private follow(frame: Frame): void {
    const now = performance.now();
    if (now < this.written + EVERY) return;
    this.written = now;
    this.writeMoving(frame);
    this.writeTape();
  }

  private writeMoving(frame: Frame): void {
    const side = this.room.first;
    if (!this.pose || !side || this.chosen === null) return;
    const fact = (name: string) => this.pose!.querySelector(`[data-fact="${name}"]`);
    const [x, y, z, ...turn] = side.pose(this.chosen);
    const pose = fact("pose");
    if (pose) pose.textContent = `${[x, y, z].map((each) => each!.toFixed(3)).join(", ")} m; ${turn.map((each) => each.toFixed(3)).join(", ")} wxyz`;
    const { joint } = side.facts.solids.find(({ name }) => name === this.chosen)!;
    const index = side.facts.joints.findIndex(({ name }) => name === joint?.name);
    const position = fact("position");
    if (position && index >= 0) position.textContent = `${frame.positions[index]!.toFixed(4)} ${joint!.unit}, ${frame.velocities[index]!.toFixed(3)} ${joint!.unit}/s`;
  }

  private writeTape(): void {
    const { distance } = this;
    this.tape.textContent = !this.measuring ? "" : distance === null ? "click two points" : `${(distance * 1000).toFixed(1)} mm`;
  }

  private drawTape(): void {
    const [a, b] = this.ends.map(({ grip, side }) => side.place(grip));
    this.line.visible = Boolean(a && b);
    if (a && b) this.line.geometry.setFromPoints([a, b]);
  }
}

/** The principal moments, from the box that has them: I = m (b² + c²) / 12. */
function moments({ mass, box: [a, b, c] }: { mass: number; box: [number, number, number] }): number[] {
  return [b * b + c * c, a * a + c * c, a * a + b * b].map((square) => (mass * square) / 12);
}
