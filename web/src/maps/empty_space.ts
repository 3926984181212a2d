/** How far a ray may go through a grid before it can meet anything. */

export type Triple = [number, number, number];

/** The voxels between which all that is not empty lies: the first, and the one after the last. */
export function bounds(grades: Uint8Array, shape: Triple): [low: Triple, high: Triple] {
  const low: Triple = [...shape];
  const high: Triple = [0, 0, 0];
  let i = 0;
  for (let z = 0; z < shape[2]; z++) {
    for (let y = 0; y < shape[1]; y++) {
      for (let x = 0; x < shape[0]; x++, i++) {
        if (!grades[i]) continue;
        [x, y, z].forEach((at, axis) => {
          low[axis] = Math.min(low[axis]!, at);
          high[axis] = Math.max(high[axis]!, at + 1);
        });
      }
    }
  }
  return high[0] ? [low, high] : [[0, 0, 0], [...shape]];
}

/**
 * Give for each voxel the steps to the nearest that is not empty, diagonal steps counting as one:
 * a pass forward and a pass back over half of the neighbours each (Rosenfeld, Pfaltz, "Sequential
 * operations in digital picture processing", 1966).
 */
export function emptySteps(grades: Uint8Array, shape: Triple): Uint8Array {
  const [nx, ny, nz] = shape;
  const steps = new Uint8Array(grades.length);
  const before: Triple[] = [];
  for (let dz = -1; dz <= 0; dz++) {
    for (let dy = -1; dy <= (dz < 0 ? 1 : 0); dy++) {
      for (let dx = -1; dx <= (dz < 0 || dy < 0 ? 1 : -1); dx++) before.push([dx, dy, dz]);
    }
  }
  for (let i = 0; i < steps.length; i++) steps[i] = grades[i] ? 0 : 255;
  for (const way of [1, -1]) {
    const count = steps.length;
    for (let n = 0; n < count; n++) {
      const i = way > 0 ? n : count - 1 - n;
      let least = steps[i]!;
      if (least <= 1) continue;
      const x = i % nx;
      const y = Math.floor(i / nx) % ny;
      const z = Math.floor(i / (nx * ny));
      for (const [dx, dy, dz] of before) {
        const [a, b, c] = [x + way * dx, y + way * dy, z + way * dz];
        if (a < 0 || b < 0 || c < 0 || a >= nx || b >= ny || c >= nz) continue;
        least = Math.min(least, steps[i + way * (dx + nx * (dy + ny * dz))]! + 1);
      }
      steps[i] = least;
    }
  }
  return steps;
}
