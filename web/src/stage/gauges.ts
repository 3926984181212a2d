import "./stage.css";
import * as THREE from "three";
import { h, short } from "../shell/dom";
import { roundLength } from "./ground";
import type { Stage } from "./stage";

const SVG = "http://www.w3.org/2000/svg";
const AXES: [name: string, direction: THREE.Vector3][] = [
  ["x", new THREE.Vector3(1, 0, 0)],
  ["y", new THREE.Vector3(0, 1, 0)],
  ["z", new THREE.Vector3(0, 0, 1)],
];
/** Length of the axes, half of their picture, and about that of a bar [px]. */
const LONG = 24;
const HALF = 36;
const BAR = 100;

/** What is said beside the picture. */
export interface Told {
  /** Forces for each metre of their arrows, by unit. */
  forces: Record<string, number>;
  /** Why nothing is seen. */
  note: string;
}

/** Over the stage: the axes of the world, what a length and a force of the picture are, and why it is empty. */
export class Gauges {
  private readonly triad = document.createElementNS(SVG, "svg");
  private readonly scale = h("div.gauge", { "data-gauge": "length" }, h("i"), h("span"));
  private readonly forces = h("div");
  private readonly note = h("p.stagenote", { hidden: true, role: "status" });
  private told: Told = { forces: {}, note: "" };

  constructor(private readonly stage: Stage) {
    this.triad.setAttribute("class", "triad");
    this.triad.setAttribute("viewBox", `${-HALF} ${-HALF} ${2 * HALF} ${2 * HALF}`);
    this.triad.setAttribute("aria-label", "Axes of the world");
    for (const [name] of AXES) {
      const [line, text] = [document.createElementNS(SVG, "line"), document.createElementNS(SVG, "text")];
      text.textContent = name;
      for (const part of [line, text]) part.setAttribute("class", name);
      this.triad.append(line, text);
    }
    stage.element.append(h("div.gauges", {}, this.triad, h("div", {}, this.forces, this.scale)), this.note);
    stage.drawn.on(() => this.show());
  }

  tell(told: Told): void {
    this.told = told;
    this.note.hidden = !told.note;
    this.note.textContent = told.note;
    this.forces.replaceChildren(
      ...Object.keys(told.forces).map((unit) => h("div.gauge.force", { "data-gauge": unit, title: "Length of the arrows" }, h("i"), h("span"))),
    );
  }

  /** How many pixels a metre has at the target of the eye. */
  get pixelsPerMetre(): number {
    const { camera, target } = this.stage.viewpoint;
    const { height } = this.stage.paneSize;
    if (camera instanceof THREE.OrthographicCamera) return (height * camera.zoom) / (camera.top - camera.bottom);
    return height / (2 * camera.position.distanceTo(target) * Math.tan(THREE.MathUtils.degToRad(camera.fov / 2)));
  }

  private show(): void {
    const { camera } = this.stage.viewpoint;
    const turn = camera.quaternion.clone().invert();
    AXES.forEach(([, direction], i) => {
      const { x, y } = direction.clone().applyQuaternion(turn).multiplyScalar(LONG);
      const [line, text] = [this.triad.children[2 * i]!, this.triad.children[2 * i + 1]!];
      line.setAttribute("x2", x.toFixed(1));
      line.setAttribute("y2", (-y).toFixed(1));
      const away = 1 + 8 / Math.max(Math.hypot(x, y), 8);
      text.setAttribute("x", (x * away).toFixed(1));
      text.setAttribute("y", (-y * away).toFixed(1));
    });
    const { pixelsPerMetre } = this;
    const metres = roundLength(BAR / pixelsPerMetre);
    bar(this.scale, metres * pixelsPerMetre, lengthText(metres));
    Object.entries(this.told.forces).forEach(([unit, perMetre], i) => {
      const force = roundLength((BAR / pixelsPerMetre) * perMetre);
      bar(this.forces.children[i] as HTMLElement, (force / perMetre) * pixelsPerMetre, `${short(force)} ${unit}`);
    });
  }
}

function bar(element: HTMLElement, pixels: number, text: string): void {
  const [line, name] = element.children as unknown as [HTMLElement, HTMLElement];
  line.style.width = `${pixels.toFixed(1)}px`;
  if (name.textContent !== text) name.textContent = text;
}

/** Write a length in the unit that suits it. */
export function lengthText(metres: number): string {
  if (metres >= 1000) return `${short(metres / 1000)} km`;
  if (metres >= 1) return `${short(metres)} m`;
  if (metres >= 0.01) return `${short(metres * 100)} cm`;
  return metres >= 1e-3 ? `${short(metres * 1e3)} mm` : `${short(metres * 1e6)} µm`;
}
