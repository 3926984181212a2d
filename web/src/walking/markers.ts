import * as THREE from "three";
import { type Facts, type Machine, type Point, UNIT } from "./plan";

const ABOVE = 0.002;

/** Length and half width of an arrow head [unit]. */
const HEAD = [7, 3.5] as const;

/** Where the body stands at each cycle, as arrow heads on the ground; its outline first and last. */
export class Markers {
  readonly object: THREE.LineSegments;

  constructor(facts: Facts, machine: Machine, color: string) {
    const [a, b] = [machine.body_length / 2, machine.body_width / 2];
    const outline: Point[] = [[-a, -b], [a, -b], [a, b], [-a, b]];
    const head: Point[] = [[0, -HEAD[1]], [HEAD[0], 0], [0, HEAD[1]]];
    const lines: number[] = [];
    facts.markers.forEach(([x, y, heading], i) => {
      const [c, s] = [Math.cos(heading), Math.sin(heading)];
      const put = (u: number, v: number) => lines.push((x + c * u - s * v) * UNIT, (y + s * u + c * v) * UNIT, ABOVE);
      const ends = i === 0 || i === facts.markers.length - 1;
      for (const shape of ends ? [head, outline] : [head]) {
        shape.forEach(([u, v], corner) => {
          put(u, v);
          put(...shape[(corner + 1) % shape.length]!);
        });
      }
    });
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.Float32BufferAttribute(lines, 3));
    const material = new THREE.LineBasicMaterial({ color, transparent: true, opacity: 0.8 });
    this.object = new THREE.LineSegments(geometry, material);
  }
}
