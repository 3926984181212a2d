import * as THREE from "three";
import { UNIT } from "./plan";
import type { Numbers } from "./walker";

type Vector = [x: number, y: number];

/** How high over the ground things are drawn, so that they are seen [m]. */
const ABOVE = 0.003;
const MOST_FEET = 16;
const GOOD = 0x0a9d68;
const BAD = 0xd0342c;

/** Give the corners of the convex hull of points, in turn to the left (Andrew's chain). */
export function convexHull(points: readonly Vector[]): Vector[] {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const chain = (from: readonly Vector[]) => {
    const hull: Vector[] = [];
    for (const point of from) {
      while (hull.length > 1 && turn(hull.at(-2)!, hull.at(-1)!, point) <= 0) hull.pop();
      hull.push(point);
    }
    return hull.slice(0, -1);
  };
  return [...chain(sorted), ...chain(sorted.reverse())];
}

function turn(a: Vector, b: Vector, c: Vector): number {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/** The nearest point of a hull: on which of its edges, and how far along it, 0..1. */
interface Nearest {
  point: Vector;
  edge: number;
  part: number;
}

/** Give the distance of a point from the nearest edge of a hull, negative outside, and where that is. */
export function hullMargin(hull: readonly Vector[], [x, y]: Vector): { margin: number; nearest: Nearest } {
  let least = Infinity;
  let nearest: Nearest = { point: [x, y], edge: 0, part: 0 };
  let inside = hull.length > 2;
  hull.forEach((a, i) => {
    const b = hull[(i + 1) % hull.length]!;
    const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
    const length = dx * dx + dy * dy;
    const t = length ? Math.min(Math.max(((x - a[0]) * dx + (y - a[1]) * dy) / length, 0), 1) : 0;
    const foot: Vector = [a[0] + t * dx, a[1] + t * dy];
    const distance = Math.hypot(x - foot[0], y - foot[1]);
    if (distance < least) [least, nearest] = [distance, { point: foot, edge: i, part: t }];
    if (turn(a, b, [x, y]) < 0) inside = false;
  });
  return { margin: inside ? least : -least, nearest };
}

/** On the ground: the support polygon, the centre of mass, and its way to the nearest edge. */
export class Support {
  readonly object = new THREE.Group();
  /** The static margin as drawn [unit]. */
  margin = 0;
  /** The corners of the support polygon, each where its foot stands [m]. */
  corners: [x: number, y: number, z: number][] = [];
  private readonly area = geometry(MOST_FEET);
  private readonly edge = geometry(2 * MOST_FEET);
  private readonly reach = geometry(2);
  private readonly plumb = geometry(2);
  private readonly center: THREE.Mesh;
  private readonly fill = new THREE.MeshBasicMaterial({
    transparent: true, opacity: 0.22, side: THREE.DoubleSide, depthWrite: false,
  });
  private readonly ink = new THREE.LineBasicMaterial();

  /** @param ground Gives the height of the ground [m]; where it is not known, the feet tell it. */
  constructor(
    private readonly numbers: Pick<Numbers, "feet" | "support" | "com">,
    private readonly frames: number,
    private readonly ground?: (x: number, y: number) => number,
  ) {
    this.area.setIndex(Array.from({ length: MOST_FEET - 2 }, (_, i) => [0, i + 1, i + 2]).flat());
    this.center = new THREE.Mesh(quarteredDisc(1.6 * UNIT), new THREE.MeshBasicMaterial({ vertexColors: true, depthTest: false, side: THREE.DoubleSide }));
    this.center.renderOrder = 2;
    this.object.add(
      new THREE.Mesh(this.area, this.fill),
      new THREE.LineSegments(this.edge, this.ink),
      new THREE.LineSegments(this.reach, this.ink),
      new THREE.LineSegments(this.plumb, new THREE.LineBasicMaterial({ color: 0x888888 })),
      this.center,
    );
    for (const child of this.object.children) child.frustumCulled = false;
  }

  /** Show a place between two frames. */
  setTime(frame: number, part: number): void {
    const { numbers, frames } = this;
    const value = (values: Float32Array, column: number) => {
      const here = values[column * frames + frame]!;
      return part === 0 ? here : here + (values[column * frames + frame + 1]! - here) * part;
    };
    const feet: Vector[] = [];
    const heights = new Map<Vector, number>();
    for (let leg = 0; leg < numbers.support.length / frames; leg++) {
      if (numbers.support[leg * frames + frame]! < 0.5) continue;
      feet.push([value(numbers.feet, 3 * leg), value(numbers.feet, 3 * leg + 1)]);
      heights.set(feet.at(-1)!, value(numbers.feet, 3 * leg + 2));
    }
    const hull = convexHull(feet);
    this.corners = hull.map((foot) => [...foot, heights.get(foot)!]);
    const raised = this.corners.map(([a, b, c]): [number, number, number] => [a, b, c + ABOVE]);
    const corner = (i: number) => raised[i % raised.length]!;
    const [x, y, height] = [0, 1, 2].map((axis) => value(numbers.com, axis)) as [number, number, number];
    const { margin, nearest } = hullMargin(hull, [x, y]);
    this.margin = margin / UNIT;
    const color = margin > 1e-9 ? GOOD : BAD;
    this.fill.color.set(color);
    this.ink.color.set(color);
    // Between feet of different heights it would sink into the ground that is higher.
    const level = Math.max(...raised.map(([, , at]) => at)) - Math.min(...raised.map(([, , at]) => at)) < ABOVE;
    this.fill.depthTest = this.ink.depthTest = level;
    place(this.area, raised);
    this.area.setDrawRange(0, Math.max(0, 3 * (hull.length - 2)));
    place(this.edge, raised.flatMap((from, i) => [from, corner(i + 1)]));
    this.edge.setDrawRange(0, 2 * hull.length);
    const mean = raised.reduce((sum, [, , at]) => sum + at, 0) / Math.max(1, raised.length);
    const z = this.ground ? this.ground(x, y) + ABOVE : mean;
    const { edge, part: along } = nearest;
    const [from, to] = raised.length ? [corner(edge)[2], corner(edge + 1)[2]] : [z, z];
    place(this.reach, [[x, y, z], [...nearest.point, from + along * (to - from)]]);
    place(this.plumb, [[x, y, z], [x, y, height]]);
    this.center.position.set(x, y, z);
  }
}

/** The sign of a centre of mass: a disc, its quarters black and white in turn. */
function quarteredDisc(radius: number): THREE.BufferGeometry {
  const disc = new THREE.CircleGeometry(radius, 32).toNonIndexed();
  const corners = disc.getAttribute("position").count;
  const colors = Array.from({ length: corners }, (_, i) => ((4 * i) / corners & 1 ? [1, 1, 1] : [0.02, 0.02, 0.02])).flat();
  return disc.setAttribute("color", new THREE.Float32BufferAttribute(colors, 3));
}

function geometry(corners: number): THREE.BufferGeometry {
  const positions = new THREE.BufferAttribute(new Float32Array(corners * 3), 3);
  positions.setUsage(THREE.DynamicDrawUsage);
  return new THREE.BufferGeometry().setAttribute("position", positions);
}

function place(to: THREE.BufferGeometry, points: number[][]): void {
  const positions = to.getAttribute("position") as THREE.BufferAttribute;
  points.forEach(([x, y, z], i) => positions.setXYZ(i, x!, y!, z!));
  positions.needsUpdate = true;
}
