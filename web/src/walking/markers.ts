import * as THREE from "three";
import { laidOn } from "./ground";
import { type Facts, type Machine, type Point, type Terrain, UNIT } from "./plan";

const ABOVE = 0.002;

/** Length and half width of an arrow head [unit]. */
const HEAD = [7, 3.5] as const;

/** Where the body stands at each cycle, as arrow heads on the ground; its outline first and last. */
export class Markers {
  readonly object: THREE.LineSegments;

  constructor(facts: Facts, machine: Machine, terrain: Terrain, color: string) {
    const [a, b] = [machine.body_length / 2, machine.body_width / 2];
    const outline: Point[] = [[-a, -b], [a, -b], [a, b], [-a, b]];
    const head: Point[] = [[0, -HEAD[1]], [HEAD[0], 0], [0, HEAD[1]]];
    const lines: number[] = [];
    facts.markers.forEach(([x, y, heading], i) => {
      const [c, s] = [Math.cos(heading), Math.sin(heading)];
      const at = ([u, v]: Point): Point => [x + c * u - s * v, y + s * u + c * v];
      const ends = i === 0 || i === facts.markers.length - 1;
      for (const shape of ends ? [head, outline] : [head]) {
        shape.forEach(([u, v], corner) => {
          const laid = laidOn(terrain, [at([u, v]), at(shape[(corner + 1) % shape.length]!)]);
          laid.slice(1).forEach((end, j) => {
            for (const [px, py, pz] of [laid[j]!, end]) lines.push(px * UNIT, py * UNIT, pz * UNIT + ABOVE);
          });
        });
      }
    });
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.Float32BufferAttribute(lines, 3));
    const material = new THREE.LineBasicMaterial({ color, transparent: true, opacity: 0.8 });
    this.object = new THREE.LineSegments(geometry, material);
  }
}
