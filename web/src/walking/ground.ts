import * as THREE from "three";
import { type HeightMap, type Point, type Terrain, UNIT } from "./plan";

const DEGREE = Math.PI / 180;
/** How far beside an edge its height is asked for, by the stretch there. */
const BESIDE = 1e-6;
/** In how many pieces a ray is looked at, and how often the one that meets the ground is halved. */
const PIECES = 500;
const HALVINGS = 45;

/** The height of the ground at a point [unit]: the highest of z = 0, the slope and the blocks. */
export function groundHeight(terrain: Terrain, x: number, y: number): number {
  let z = Math.max(0, (x - terrain.slope_from) * Math.tan(terrain.slope_deg * DEGREE));
  for (const { x0, x1, y0, y1, height } of terrain.steps) {
    if (x0 <= x && x <= x1 && y0 <= y && y <= y1) z = Math.max(z, height);
  }
  return terrain.map ? Math.max(z, mapHeight(terrain.map, x, y)) : z;
}

/** The height of a map, which has two flat triangles in each cell; 0 beside it. */
function mapHeight({ heights, cell, x0, y0 }: HeightMap, x: number, y: number): number {
  const [n, m] = [heights.length, heights[0]!.length];
  let [u, v] = [(x - x0) / cell, (y - y0) / cell];
  if (u < 0 || v < 0 || u > n - 1 || v > m - 1) return 0;
  const [i, j] = [Math.min(Math.floor(u), n - 2), Math.min(Math.floor(v), m - 2)];
  [u, v] = [u - i, v - j];
  const [a, b, c, d] = [heights[i]![j]!, heights[i + 1]![j]!, heights[i]![j + 1]!, heights[i + 1]![j + 1]!];
  return u + v <= 1 ? a + u * (b - a) + v * (c - a) : d - (1 - u) * (d - c) - (1 - v) * (d - b);
}

function isLevel({ slope_deg, steps, map }: Terrain): boolean {
  return slope_deg === 0 && !steps.length && !map;
}

/** Lay a line on the ground: x, y, z [unit] of its corners and of all bends of the ground below it. */
export function laidOn(terrain: Terrain, points: readonly Point[]): [x: number, y: number, z: number][] {
  const laid: [number, number, number][] = [];
  points.slice(1).forEach(([bx, by], i) => {
    const [ax, ay] = points[i]!;
    const at = [0, 1];
    const cross = (from: number, to: number, value: number) => {
      const part = (value - from) / (to - from);
      if (part > 0 && part < 1) at.push(part);
    };
    cross(ax, bx, terrain.slope_from);
    for (const { x0, x1, y0, y1, height } of terrain.steps) {
      for (const x of [x0, x1]) cross(ax, bx, x);
      for (const y of [y0, y1]) cross(ay, by, y);
      if (terrain.slope_deg) cross(ax, bx, terrain.slope_from + height / Math.tan(terrain.slope_deg * DEGREE));
    }
    if (terrain.map) {
      const { heights, cell, x0, y0 } = terrain.map;
      for (let k = 0; k < heights.length; k++) cross(ax, bx, x0 + k * cell);
      for (let k = 0; k < heights[0]!.length; k++) cross(ay, by, y0 + k * cell);
      for (let k = 1; k < heights.length + heights[0]!.length; k++) cross(ax + ay, bx + by, x0 + y0 + k * cell);
    }
    at.sort((a, b) => a - b);
    at.slice(1).forEach((end, j) => {
      // At an edge the ground has two heights: that of the stretch before it and that of the one behind.
      const inner = BESIDE * (end - at[j]!);
      for (const part of [at[j]! + inner, end - inner]) {
        const [x, y] = [ax + part * (bx - ax), ay + part * (by - ay)];
        laid.push([x, y, groundHeight(terrain, x, y)]);
      }
    });
  });
  return laid;
}

/** The point of the ground [m] that a ray meets first; null above the horizon. */
export function groundUnder(terrain: Terrain, ray: THREE.Ray): THREE.Vector3 | null {
  const level = ray.intersectPlane(new THREE.Plane(new THREE.Vector3(0, 0, 1), 0), new THREE.Vector3());
  if (!level || isLevel(terrain)) return level;
  const along = (part: number) => ray.origin.clone().lerp(level, part);
  const above = (part: number) => {
    const { x, y, z } = along(part);
    return z / UNIT > groundHeight(terrain, x / UNIT, y / UNIT);
  };
  for (let i = 1; i <= PIECES; i++) {
    let [high, low] = [(i - 1) / PIECES, i / PIECES];
    if (above(low) && i < PIECES) continue;
    for (let j = 0; j < HALVINGS; j++) {
      const middle = (high + low) / 2;
      if (above(middle)) high = middle;
      else low = middle;
    }
    return along(low);
  }
  return level;
}
