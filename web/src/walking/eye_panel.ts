import * as THREE from "three";
import type { App } from "../app";
import { h } from "../shell/dom";
import { UNIT } from "./plan";

type Name = "x" | "y" | "z" | "to x" | "to y" | "to z" | "scale";

const FIELDS: [name: Name, title: string][] = [
  ["x", "Eye point along x [unit]"],
  ["y", "Eye point along y [unit]"],
  ["z", "Eye point along z [unit]"],
  ["to x", "What it looks at, along x [unit]"],
  ["to y", "What it looks at, along y [unit]"],
  ["to z", "What it looks at, along z [unit]"],
  ["scale", "Pixels for each unit at what it looks at"],
];

/** The eye point, what it looks at and the scale as numbers, which follow the mouse and are written. */
export class EyePanel {
  readonly element: HTMLElement;
  private readonly inputs = new Map<Name, HTMLInputElement>();
  private readonly stop: () => void;

  constructor(private readonly app: App) {
    const fields = FIELDS.map(([name, title]) => {
      const input = h("input", { type: "number", step: "any", "aria-label": name === "scale" ? "scale" : `eye ${name}` });
      input.addEventListener("change", () => (Number.isFinite(input.valueAsNumber) ? this.apply(name, input.valueAsNumber) : this.show()));
      this.inputs.set(name, input);
      return h("label.field", { title }, h("span", {}, name), input, h("i", {}));
    });
    this.element = h("details.eyepoint", {}, h("summary", {}, "Eye point and scale"), h("div.fields", {}, ...fields));
    this.element.addEventListener("toggle", () => this.show());
    this.stop = app.stage.drawn.on(() => this.show());
  }

  dispose(): void {
    this.stop();
  }

  private show(): void {
    if (!(this.element as HTMLDetailsElement).open) return;
    const { camera, target } = this.app.stage.viewpoint;
    const values = [...camera.position.toArray(), ...target.toArray()].map((value) => value / UNIT);
    values.push(this.app.stage.gauges.pixelsPerMetre * UNIT);
    FIELDS.forEach(([name], i) => {
      const input = this.inputs.get(name)!;
      const text = String(Number(values[i]!.toPrecision(6)));
      if (document.activeElement !== input && input.value !== text) input.value = text;
    });
  }

  private apply(name: Name, value: number): void {
    const { viewpoint, gauges } = this.app.stage;
    if (name === "scale") {
      if (value > 0) viewpoint.closer(value / (gauges.pixelsPerMetre * UNIT));
    } else {
      const point = name.startsWith("to") ? viewpoint.target : viewpoint.camera.position;
      const before = point.clone();
      point.setComponent("xyz".indexOf(name.at(-1)!), value * UNIT);
      // An eye at what it looks at would see nothing.
      if (viewpoint.camera.position.distanceTo(viewpoint.target) < 1e-6) point.copy(before as THREE.Vector3);
    }
    viewpoint.controls.update();
    this.app.stage.request();
  }
}
