import * as THREE from "three";

/** A grid on the plane z = 0. */
export class Ground {
  readonly object = new THREE.Group();
  private readonly fine = new THREE.LineBasicMaterial({ transparent: true, opacity: 0.55 });
  private readonly coarse = new THREE.LineBasicMaterial();

  /**
   * Lay the grid anew.
   *
   * @param center Where its middle is [m].
   * @param reach How far it goes to each side at least [m].
   */
  lay(center: THREE.Vector3, reach: number): void {
    for (const child of this.object.children) (child as THREE.LineSegments).geometry.dispose();
    this.object.clear();
    const cell = roundLength(reach / 8);
    const cells = Math.ceil(reach / cell);
    const x = Math.round(center.x / cell / 5) * 5;
    const y = Math.round(center.y / cell / 5) * 5;
    const lines: { fine: number[]; coarse: number[] } = { fine: [], coarse: [] };
    // Cell by cell: software renderers lose long lines that pass behind the camera.
    for (let i = -cells; i <= cells; i++) {
      for (let j = -cells; j < cells; j++) {
        const along = (i + x) % 5 === 0 ? lines.coarse : lines.fine;
        along.push((x + i) * cell, (y + j) * cell, 0, (x + i) * cell, (y + j + 1) * cell, 0);
        const across = (i + y) % 5 === 0 ? lines.coarse : lines.fine;
        across.push((x + j) * cell, (y + i) * cell, 0, (x + j + 1) * cell, (y + i) * cell, 0);
      }
    }
    this.object.add(segments(lines.fine, this.fine), segments(lines.coarse, this.coarse));
  }

  setColor(color: THREE.ColorRepresentation): void {
    this.fine.color.set(color);
    this.coarse.color.set(color);
  }
}

function segments(points: number[], material: THREE.LineBasicMaterial): THREE.LineSegments {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(points, 3));
  return new THREE.LineSegments(geometry, material);
}

/** The nearest of 1, 2 and 5 times a power of ten. */
export function roundLength(length: number): number {
  const power = 10 ** Math.floor(Math.log10(length));
  const digits = [1, 2, 5, 10].map((digit) => digit * power);
  return digits.reduce((a, b) => (Math.abs(b - length) < Math.abs(a - length) ? b : a));
}
