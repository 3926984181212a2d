import * as THREE from "three";
import type { ReplayFile } from "./replay_file";

const UP = new THREE.Vector3(0, 1, 0);

/** Forces as arrows, to scale. */
export class Arrows {
  readonly object = new THREE.Group();
  /** Length of the greatest force of all replays [m]. */
  length = 0.25;
  /** The greatest force by unit; replays that are shown together share it, or they could not be compared. */
  greatest: Readonly<Record<string, number>>;
  // Forces act where solids touch, which would hide them.
  readonly material = new THREE.MeshBasicMaterial({ depthTest: false, transparent: true });
  private readonly shafts: THREE.Group[];

  constructor(
    private readonly file: ReplayFile,
    color: string,
  ) {
    const { material } = this;
    material.color.set(color);
    const shaft = new THREE.CylinderGeometry(0.5, 0.5, 1, 10).translate(0, 0.5, 0);
    const tip = new THREE.ConeGeometry(1.25, 1, 12).translate(0, 0.5, 0);
    this.shafts = file.head.arrows.map((arrow) => {
      const group = new THREE.Group();
      group.name = arrow.name;
      group.add(new THREE.Mesh(shaft, material), new THREE.Mesh(tip, material));
      this.object.add(group);
      return group;
    });
    this.greatest = this.own();
  }

  get any(): boolean {
    return this.shafts.length > 0;
  }

  /** The greatest force of this replay, by unit. */
  own(): Record<string, number> {
    const found: Record<string, number> = {};
    for (const { unit, streams } of this.file.head.arrows) {
      found[unit] = Math.max(1e-12, found[unit] ?? 0, greatest(this.file, streams));
    }
    return found;
  }

  setTime(sample: number, part: number): void {
    this.file.head.arrows.forEach((arrow, i) => {
      const [x, y, z, fx, fy, fz] = arrow.streams.map((s) => this.file.value(s, sample, part));
      const force = new THREE.Vector3(fx!, fy!, fz!);
      const length = (force.length() / (this.greatest[arrow.unit] ?? 1)) * this.length;
      const group = this.shafts[i]!;
      group.visible = Number.isFinite(length + x! + y! + z!) && length > this.length * 1e-3;
      if (!group.visible) return;
      group.position.set(x!, y!, z!);
      group.quaternion.setFromUnitVectors(UP, force.normalize());
      const width = this.length * 0.03;
      const head = Math.min(length * 0.4, width * 4);
      const [shaft, tip] = group.children as [THREE.Mesh, THREE.Mesh];
      shaft.scale.set(width, length - head, width);
      tip.scale.set(width, head, width);
      tip.position.y = length - head;
    });
  }
}

/** The greatest length a vector can have, by the ranges of its components. */
function greatest(file: ReplayFile, streams: number[]): number {
  return Math.hypot(...streams.slice(3).map((s) => Math.max(...file.range(s).map(Math.abs))));
}
