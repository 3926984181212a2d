import * as THREE from "three";
import { LEGS } from "../shell/palette";
import type { Style } from "../stage/style";
import { Arrows } from "./arrows";
import { solidGeometry, readMeshes } from "./meshes";
import { ContourMaterial, outlinesOf } from "./outlines";
import type { ReplayFile, SolidEntry } from "./replay_file";
import { Trails } from "./trails";

const ALARM = 0xe0241b;
/** A solid has fallen away that falls by this many sizes of all. */
const FAR = 3;

type Triple = [number, number, number];

interface Part {
  entry: SolidEntry;
  object: THREE.Group;
  mesh?: THREE.Mesh;
  edges?: THREE.LineSegments;
  contours?: THREE.LineSegments;
}

/** A replay on the stage: its solids, the forces on them and the ways they took. */
export class Actor {
  readonly object = new THREE.Group();
  readonly arrows: Arrows;
  readonly trails: Trails;
  private readonly material = new THREE.MeshLambertMaterial({
    vertexColors: true,
    polygonOffset: true,
    side: THREE.DoubleSide, // few triangles leave gaps, through which the inside is better than nothing
  });
  private readonly lines = new THREE.LineBasicMaterial();
  private readonly alarm = new THREE.MeshLambertMaterial({ color: ALARM, polygonOffset: true, side: THREE.DoubleSide });
  private readonly contours = new ContourMaterial();
  private readonly alarmLines = new THREE.LineBasicMaterial({ color: ALARM });
  private readonly alarmContours = new ContourMaterial(ALARM);
  private alarmed: ReadonlySet<string> = new Set();
  private style: Style = "shaded";
  private ghost = false;
  private background = new THREE.Color();

  private constructor(
    readonly file: ReplayFile,
    private readonly parts: Part[],
    public color: string,
    guides: Float32Array[],
  ) {
    this.arrows = new Arrows(file, color);
    this.trails = new Trails(file, color);
    this.object.add(this.arrows.object, this.trails.object);
    for (const part of parts) this.object.add(part.object);
    for (const points of guides) {
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute("position", new THREE.BufferAttribute(points, 3));
      const line = new THREE.LineBasicMaterial({ color: 0x8a94a6 });
      this.object.add(new THREE.Line(geometry, line));
    }
  }

  /** Put a replay on the stage; its first picture is ready when this is done. */
  static async make(file: ReplayFile, color: string, time: number): Promise<Actor> {
    const meshes = readMeshes(await file.meshes(), file.head.meshes);
    const guides = await Promise.all(file.head.guides.map((_, i) => file.guide(i)));
    const parts = file.head.solids.map((entry) => {
      const part: Part = { entry, object: new THREE.Group() };
      part.object.name = entry.name;
      const geometry = solidGeometry(entry, meshes);
      if (geometry) part.mesh = new THREE.Mesh(geometry);
      return part;
    });
    const actor = new Actor(file, parts, color, guides);
    for (const part of parts) {
      if (!part.mesh) continue;
      part.mesh.material = actor.material;
      part.mesh.castShadow = true;
      // Ground, tables and walls: on what moves few triangles would show stripes.
      part.mesh.receiveShadow = part.entry.streams.every((stream) => stream < 0);
      part.object.add(part.mesh);
    }
    await file.loadAt(time);
    actor.setTime(time);
    return actor;
  }

  setTime(time: number): void {
    const { file } = this;
    const [sample, part] = file.place(time);
    if (!file.isHere(sample)) return;
    // The next sample may be in a part that has not come: then the last one stays.
    const next = part > 0 && file.isHere(sample + 1) ? part : 0;
    for (const { entry, object } of this.parts) {
      const [x, y, z, qw, qx, qy, qz] = entry.streams.map((s) => file.value(s, sample, next));
      object.position.set(x!, y!, z!);
      object.quaternion.set(qx!, qy!, qz!, qw!).normalize();
    }
    this.arrows.setTime(sample, next);
    this.trails.setTime(time);
  }

  /** Show it as a shadow of itself in its own colour, over another. */
  setGhost(ghost: boolean): void {
    this.ghost = ghost;
    this.restyle();
  }

  /** Take another colour, that of its forces, its trails and of its ghost from the next style on. */
  setColor(color: string): void {
    this.color = color;
    this.arrows.material.color.set(color);
    this.trails.material.color.set(color);
  }

  /** Give the solids of legs the colours that legs have on the page. */
  setLegColors(colors: readonly string[]): void {
    for (const { entry, mesh } of this.parts) {
      const color = colors[legOf(entry)];
      if (!mesh || !color) continue;
      const tones = mesh.geometry.getAttribute("color") as THREE.BufferAttribute;
      const { r, g, b } = new THREE.Color(color);
      for (let i = 0; i < tones.count; i++) tones.setXYZ(i, r, g, b);
      tones.needsUpdate = true;
    }
  }

  setStyle(style: Style, background: string, ink: string): void {
    this.style = style;
    this.background.set(background);
    this.lines.color.set(ink);
    this.contours.color.set(ink);
    this.restyle();
  }

  /** What is seen of its solids. */
  get meshes(): THREE.Mesh[] {
    return this.parts.flatMap(({ mesh, object }) => (mesh && object.visible ? [mesh] : []));
  }

  /** The solids that are drawn red. */
  get alarms(): ReadonlySet<string> {
    return this.alarmed;
  }

  /** Draw some solids red. */
  setAlarm(names: ReadonlySet<string>): void {
    this.alarmed = names;
    for (const { entry, mesh, edges, contours } of this.parts) {
      const red = names.has(entry.name);
      if (mesh) mesh.material = red ? this.alarm : this.material;
      if (edges) edges.material = red ? this.alarmLines : this.lines;
      if (contours) contours.material = red ? this.alarmContours : this.contours;
    }
  }

  private restyle(): void {
    const { material, ghost, style } = this;
    const hidden = style === "hidden-line";
    material.vertexColors = !ghost && !hidden;
    material.color.set(hidden ? 0x000000 : ghost ? this.color : 0xffffff);
    material.emissive.copy(hidden ? this.background : new THREE.Color(0));
    material.transparent = ghost;
    material.opacity = ghost ? 0.4 : 1;
    // Where a ghost lies on the solid robot, the robot is seen.
    material.polygonOffsetFactor = ghost ? 3 : 1;
    material.polygonOffsetUnits = ghost ? 60 : 1;
    material.visible = style !== "wireframe";
    material.needsUpdate = true;
    if (ghost) for (const lines of [this.lines, this.contours]) lines.color.set(this.color);
    for (const part of this.parts) {
      if (!part.mesh) continue;
      if (style !== "shaded" && !part.edges) {
        const { edges, contours } = outlinesOf(part.mesh.geometry);
        part.edges = new THREE.LineSegments(edges, this.lines);
        part.contours = new THREE.LineSegments(contours, this.contours);
        part.object.add(part.edges, part.contours);
      }
      for (const lines of [part.edges, part.contours]) if (lines) lines.visible = style !== "shaded";
    }
    this.alarm.visible = style !== "wireframe";
    this.setAlarm(this.alarmed);
  }

  /** Where each solid is, [x y z, wxyz] by name. */
  poses(): Record<string, number[]> {
    return Object.fromEntries(
      this.parts.map(({ entry, object: { position: p, quaternion: q } }) => [
        entry.name,
        [p.x, p.y, p.z, q.w, q.x, q.y, q.z],
      ]),
    );
  }

  /** The middle of what moves, which the camera may follow; null if nothing does. */
  center(): THREE.Vector3 | null {
    const moving = this.parts.filter(({ entry }) => entry.streams.some((s) => s >= 0));
    if (!moving.length) return null;
    const sum = new THREE.Vector3();
    for (const { object } of moving) sum.add(object.position);
    return sum.divideScalar(moving.length);
  }

  /** What it fills over all of its time, about; without solids that were dropped and fell away. */
  box(): THREE.Box3 {
    this.object.updateMatrixWorld(true);
    const swept = this.parts.flatMap(({ entry, mesh, object }) => {
      if (!mesh) return [];
      const own = new THREE.Box3().setFromObject(mesh);
      const here = object.position.toArray();
      const [low, high] = [0, 1].map((end) =>
        new THREE.Vector3(...(here.map((p, i) => this.file.range(entry.streams[i]!)[end]! - p) as Triple)),
      );
      const top = own.clone().translate(new THREE.Vector3(low!.x, low!.y, high!.z)).union(own.clone().translate(high!));
      return [{ top, whole: own.clone().translate(low!).union(own.translate(high!)), fall: high!.z - low!.z }];
    });
    const union = (boxes: THREE.Box3[]) => boxes.reduce((all, each) => all.union(each), new THREE.Box3());
    const far = FAR * union(swept.map(({ top }) => top)).getSize(new THREE.Vector3()).length();
    const lost = (fall: number) => fall > far && swept.some((other) => other.fall <= far);
    return union(swept.flatMap(({ whole, fall }) => (lost(fall) ? [] : [whole])));
  }

  dispose(): void {
    this.object.removeFromParent();
    this.object.traverse((child) => {
      (child as Partial<THREE.Mesh>).geometry?.dispose();
    });
    this.material.dispose();
    this.lines.dispose();
    this.alarm.dispose();
    for (const lines of [this.contours, this.alarmLines, this.alarmContours]) lines.dispose();
  }
}

/** The leg that a solid belongs to by its colour, from 0; -1 if it is of none. */
function legOf({ coats }: SolidEntry): number {
  return coats.length ? LEGS.findIndex((leg) => coats.every(({ color }) => leg.every((part, i) => Math.abs(part - color[i]!) < 0.005))) : -1;
}
