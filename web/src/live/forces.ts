import * as THREE from "three";
import type { App } from "../app";
import { h } from "../shell/dom";
import type { Frame } from "./frame";

const UP = new THREE.Vector3(0, 1, 0);
const MOST = 64;
/** Pairs of solids in contact whose forces are written beside their arrows. */
const LABELS = 4;
/** Room for a number at the right edge of a column [px]. */
const ROOM = 72;
/** Forces below this are those of rounding [N]. */
const LEAST = 0.01;
const CONTACT = 0xe0531b;
const PULL = 0x1f7ae0;

/** Contact forces and the pull of one side as arrows, the greatest of them with their numbers. */
export class Forces {
  readonly object = new THREE.Group();
  readonly labels = h("div.forces");
  visible = true;
  /** The size of what is in the room [m]. */
  size = 1;
  /** Length of an arrow for a force [m/N]: the greatest of the last moments is a fifth of the room. */
  private scale = 0.002;
  private greatest = 1;
  private readonly arrows: THREE.Group[] = [];
  private readonly pull: THREE.Group;
  private readonly material = flat(CONTACT);
  private readonly texts = Array.from({ length: LABELS + 1 }, () => h("span.force", { hidden: true }));

  constructor(private readonly app: App) {
    this.pull = arrow(flat(PULL));
    this.object.add(this.pull);
    this.labels.append(...this.texts);
  }

  /** Show the forces of a frame, in one of the columns of the stage. */
  show(frame: Frame, column: number, columns: number): void {
    const size = this.app.stage.element.getBoundingClientRect();
    const matrix = this.app.stage.viewpoint.matrix();
    const present = Math.max(...frame.contacts.map(({ force }) => Math.hypot(...force)), Math.hypot(...frame.pull.subarray(0, 3)) || 0, LEAST);
    // Arrows keep their scale until forces are far from it.
    if (present > this.greatest || present < this.greatest / 8) this.greatest = 1.5 * present;
    this.scale = (0.2 * this.size) / this.greatest;
    const width = 0.006 * this.size;
    const contacts = this.visible ? frame.contacts.filter(({ force }) => Math.hypot(...force) > LEAST).slice(0, MOST) : [];
    while (this.arrows.length < contacts.length) {
      const made = arrow(this.material);
      this.arrows.push(made);
      this.object.add(made);
    }
    this.arrows.forEach((each, i) => (each.visible = i < contacts.length));
    const write = (index: number, at: THREE.Vector3, force: number | null) => {
      const text = this.texts[index]!;
      text.hidden = force === null;
      if (force === null) return;
      const place = at.clone().applyMatrix4(matrix);
      text.textContent = `${force.toFixed(2)} N`;
      const wide = size.width / columns;
      const left = Math.min(((place.x + 1) / 2) * wide, wide - ROOM) + column * wide;
      text.style.transform = `translate(${left.toFixed(1)}px, ${(((1 - place.y) / 2) * size.height).toFixed(1)}px)`;
    };
    // Contacts of the same two solids have one number, their sum, beside the last arrow.
    const pairs = new Map<string, { end: THREE.Vector3; sum: THREE.Vector3 }>();
    contacts.forEach(({ point, force, solids }, i) => {
      // Of the two opposite forces the one that points upwards, out of the ground.
      const up = new THREE.Vector3(...force);
      if (up.z < 0) up.negate();
      const end = lay(this.arrows[i]!, new THREE.Vector3(...point), up, this.scale, width);
      const sum = pairs.get(solids.join())?.sum ?? new THREE.Vector3();
      pairs.set(solids.join(), { end, sum: sum.add(new THREE.Vector3(...force)) });
    });
    const written = [...pairs.values()].sort((a, b) => b.sum.length() - a.sum.length());
    for (let i = 0; i < LABELS; i++) write(i, written[i]?.end ?? UP, written[i]?.sum.length() ?? null);
    const [fx, fy, fz, x, y, z] = frame.pull as unknown as number[];
    this.pull.visible = Number.isFinite(fx);
    if (this.pull.visible) {
      const force = new THREE.Vector3(fx, fy, fz);
      const end = lay(this.pull, new THREE.Vector3(x, y, z), force, this.scale, width);
      write(LABELS, end, force.length());
    } else write(LABELS, UP, null);
  }

  dispose(): void {
    this.object.removeFromParent();
    this.labels.remove();
    this.material.dispose();
  }
}

function flat(color: number): THREE.MeshBasicMaterial {
  // Forces act where solids touch, which would hide them.
  return new THREE.MeshBasicMaterial({ color, depthTest: false, transparent: true, opacity: 0.92 });
}

const SHAFT = new THREE.CylinderGeometry(0.5, 0.5, 1, 10).translate(0, 0.5, 0);
const TIP = new THREE.ConeGeometry(1.4, 1, 14).translate(0, 0.5, 0);

function arrow(material: THREE.Material): THREE.Group {
  const group = new THREE.Group().add(new THREE.Mesh(SHAFT, material), new THREE.Mesh(TIP, material));
  group.traverse((part) => (part.renderOrder = 4));
  return group;
}

/** Lay an arrow along a force; gives where it ends. */
function lay(group: THREE.Group, at: THREE.Vector3, force: THREE.Vector3, scale: number, width: number): THREE.Vector3 {
  const length = Math.min(force.length() * scale, 2);
  const end = at.clone().addScaledVector(force.clone().normalize(), length);
  group.position.copy(at);
  group.quaternion.setFromUnitVectors(UP, force.clone().normalize());
  const head = Math.min(length * 0.45, width * 4);
  const [shaft, tip] = group.children as [THREE.Mesh, THREE.Mesh];
  shaft.scale.set(width, Math.max(length - head, 1e-6), width);
  tip.scale.set(width, Math.max(head, 1e-6), width);
  tip.position.y = length - head;
  return end;
}
