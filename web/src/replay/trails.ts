import * as THREE from "three";
import type { ReplayFile, SolidEntry } from "./replay_file";

const MOST = 4000;

/** The ways that some solids have taken so far. */
export class Trails {
  readonly object = new THREE.Group();
  readonly material = new THREE.LineBasicMaterial();
  private readonly lines: { solid: SolidEntry; line: THREE.Line }[] = [];
  private readonly step: number;
  private readonly points: number;
  /** How many points are known without a gap. */
  private ready = 0;
  private stale = true;

  constructor(
    private readonly file: ReplayFile,
    color: string,
  ) {
    this.material.color.set(color);
    this.step = Math.max(1, Math.ceil(file.time.length / MOST));
    this.points = Math.ceil(file.time.length / this.step);
    for (const solid of file.head.solids.filter((s) => file.head.trails.includes(s.name))) {
      const geometry = new THREE.BufferGeometry();
      const points = new THREE.BufferAttribute(new Float32Array(this.points * 3), 3);
      geometry.setAttribute("position", points);
      const line = new THREE.Line(geometry, this.material);
      line.frustumCulled = false;
      this.lines.push({ solid, line });
      this.object.add(line);
    }
    file.arrived.on(() => (this.stale = true));
  }

  get any(): boolean {
    return this.lines.length > 0;
  }

  setTime(time: number): void {
    if (!this.lines.length) return;
    if (this.stale) this.fill();
    const passed = Math.floor(this.file.sampleAt(time) / this.step) + 1;
    for (const { line } of this.lines) line.geometry.setDrawRange(0, Math.min(passed, this.ready));
  }

  private fill(): void {
    this.stale = false;
    const { file, step } = this;
    const from = this.ready;
    while (this.ready < this.points && file.isHere(this.ready * step)) this.ready++;
    for (const { solid, line } of this.lines) {
      const points = line.geometry.getAttribute("position") as THREE.BufferAttribute;
      for (let i = from; i < this.ready; i++) {
        const [x, y, z] = solid.streams.slice(0, 3).map((s) => file.value(s, i * step, 0));
        points.setXYZ(i, x!, y!, z!);
      }
      points.needsUpdate = true;
    }
  }
}
