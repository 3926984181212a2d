import * as THREE from "three";
import { Actor } from "../replay/actor";
import { ReplayFile } from "../replay/replay_file";
import { MemorySource } from "../server/source";
import type { Frame } from "./frame";
import type { RoomFacts, SolidFacts } from "./room_socket";

/** What may be shown of every solid besides its display mesh. */
export const MARKS = ["collisions", "inertia", "centers", "frames", "axes"] as const;
export type Mark = (typeof MARKS)[number];

/** A point of a solid, or of the world if it has no solid. */
export interface Grip {
  solid: SolidFacts | null;
  /** In the solid's frame. */
  local: THREE.Vector3;
  /** In the world as it was picked. */
  world: THREE.Vector3;
}

/** One side of a room on the stage: its solids where the last frame puts them. */
export class Side {
  readonly object = new THREE.Group();
  frame: Frame | null = null;
  private readonly groups: (THREE.Object3D | undefined)[];
  private readonly marks: Partial<Record<Mark, THREE.Object3D[]>> = {};
  private shapes: Actor | null = null;
  private readonly caster = new THREE.Raycaster();
  private outline: THREE.LineSegments | null = null;

  private constructor(
    readonly facts: RoomFacts,
    readonly actor: Actor,
  ) {
    this.object.add(actor.object);
    this.groups = facts.solids.map(({ name }) => actor.object.getObjectByName(name));
  }

  static async make(facts: RoomFacts, file: Uint8Array, color: string): Promise<Side> {
    return new Side(facts, await Actor.make(await ReplayFile.open(new MemorySource(file)), color, 0));
  }

  /** Add the collision shapes, which come after the rest. */
  async addShapes(file: Uint8Array, color: string): Promise<void> {
    const shapes = (this.shapes = await Actor.make(await ReplayFile.open(new MemorySource(file)), color, 0));
    // Over the display meshes, in which they mostly are.
    const material = new THREE.MeshLambertMaterial({ color, transparent: true, opacity: 0.5, depthTest: false });
    shapes.object.traverse((part) => {
      if (part instanceof THREE.Mesh) [part.material, part.renderOrder] = [material, 1];
    });
    shapes.object.visible = false;
    this.object.add(shapes.object);
    if (this.frame) this.show(this.frame);
  }

  show(frame: Frame): void {
    this.frame = frame;
    this.facts.solids.forEach(({ name }, i) => {
      const [x, y, z, qw, qx, qy, qz] = frame.poses.subarray(7 * i, 7 * i + 7) as unknown as number[];
      for (const group of [this.groups[i], this.shapes?.object.getObjectByName(name)]) {
        group?.position.set(x!, y!, z!);
        group?.quaternion.set(qx!, qy!, qz!, qw!);
      }
    });
  }

  /** What is under a ray, if anything. */
  pick(ray: THREE.Ray): Grip | null {
    this.caster.ray.copy(ray);
    const drawn = this.groups.flatMap((group) => group?.children.filter((each) => each instanceof THREE.Mesh && each.visible) ?? []);
    const shapes = this.shapes?.object.visible ? [this.shapes.object] : [];
    const [hit] = this.caster.intersectObjects([...drawn, ...shapes], true);
    if (!hit) return null;
    let object: THREE.Object3D | null = hit.object;
    while (object && !this.facts.solids.some(({ name }) => name === object!.name)) object = object.parent;
    const index = this.facts.solids.findIndex(({ name }) => name === object?.name);
    const group = this.groups[index];
    if (!group) return null;
    return { solid: this.facts.solids[index]!, local: group.worldToLocal(hit.point.clone()), world: hit.point };
  }

  /** Where a grip is now. */
  place({ solid, local, world }: Grip): THREE.Vector3 {
    const index = this.facts.solids.findIndex(({ name }) => name === solid?.name);
    const group = this.groups[index];
    if (!group) return world.clone();
    group.updateWorldMatrix(true, false);
    return group.localToWorld(local.clone());
  }

  /** The pose of a solid, [x y z, wxyz]. */
  pose(name: string): number[] {
    const index = this.facts.solids.findIndex((solid) => solid.name === name);
    return [...(this.frame?.poses.subarray(7 * index, 7 * index + 7) ?? [])];
  }

  setMeshes(visible: boolean): void {
    for (const group of this.groups) {
      for (const child of group?.children ?? []) if (child instanceof THREE.Mesh) child.visible = visible;
    }
  }

  /** Show or hide marks at all solids. */
  setMark(mark: Mark, visible: boolean, size: number): void {
    if (mark === "collisions") {
      if (this.shapes) this.shapes.object.visible = visible;
      return;
    }
    if (visible && !this.marks[mark]) this.marks[mark] = this.makeMarks(mark, size);
    for (const each of this.marks[mark] ?? []) each.visible = visible;
  }

  /** Mark one solid as chosen. */
  choose(name: string | null, color: string): void {
    this.outline?.removeFromParent();
    this.outline?.geometry.dispose();
    this.outline = null;
    const group = name === null ? undefined : this.groups[this.facts.solids.findIndex((solid) => solid.name === name)];
    const mesh = group?.children.find((child) => child instanceof THREE.Mesh) as THREE.Mesh | undefined;
    if (!group || !mesh) return;
    const lines = new THREE.LineBasicMaterial({ color, depthTest: false, transparent: true });
    this.outline = new THREE.LineSegments(new THREE.EdgesGeometry(mesh.geometry, 40), lines);
    this.outline.renderOrder = 3;
    group.add(this.outline);
  }

  box(): THREE.Box3 {
    this.object.updateMatrixWorld(true);
    return new THREE.Box3().setFromObject(this.actor.object);
  }

  dispose(): void {
    this.choose(null, "");
    this.object.removeFromParent();
    this.actor.dispose();
    this.shapes?.dispose();
  }

  private makeMarks(mark: Exclude<Mark, "collisions">, size: number): THREE.Object3D[] {
    return this.facts.solids.flatMap((solid, i) => {
      const group = this.groups[i];
      const object = group && makeMark(mark, solid, size);
      if (!object) return [];
      object.traverse((part) => (part.renderOrder = 2));
      group.add(object);
      return [object];
    });
  }
}

const plain = (color: number, opacity = 1) =>
  new THREE.MeshBasicMaterial({ color, depthTest: false, transparent: true, opacity });

/** @param size About that of the whole robot [m]. */
function makeMark(mark: Exclude<Mark, "collisions">, solid: SolidFacts, size: number): THREE.Object3D | null {
  const { inertia, joint } = solid;
  switch (mark) {
    case "inertia": {
      if (!inertia) return null;
      const edges = new THREE.EdgesGeometry(new THREE.BoxGeometry(...inertia.box.map((edge) => Math.max(edge, 1e-4)) as [number, number, number]));
      const box = new THREE.LineSegments(edges, new THREE.LineBasicMaterial({ color: 0xc46210, depthTest: false, transparent: true }));
      const [w, x, y, z] = inertia.axes;
      box.position.set(...inertia.center);
      box.quaternion.set(x, y, z, w);
      return box;
    }
    case "centers": {
      if (!inertia) return null;
      const ball = new THREE.Mesh(new THREE.SphereGeometry(size * 0.012, 16, 12), plain(0xd6a400, 0.9));
      ball.position.set(...inertia.center);
      // A group: direct meshes of a solid are its display meshes.
      return new THREE.Group().add(ball);
    }
    case "frames": {
      const axes = new THREE.AxesHelper(size * 0.08);
      const material = axes.material as THREE.LineBasicMaterial;
      [material.depthTest, material.transparent] = [false, true];
      return axes;
    }
    case "axes": {
      if (!joint || joint.type === "fixed") return null;
      const axis = new THREE.Vector3(...joint.axis).normalize();
      const pin = new THREE.Mesh(new THREE.CylinderGeometry(size * 0.004, size * 0.004, size * 0.18, 8), plain(0x8e298d));
      const tip = new THREE.Mesh(new THREE.ConeGeometry(size * 0.011, size * 0.03, 12).translate(0, size * 0.105, 0), plain(0x8e298d));
      const group = new THREE.Group().add(pin, tip);
      group.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), axis);
      return group;
    }
  }
}
