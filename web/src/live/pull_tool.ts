import * as THREE from "three";
import type { App } from "../app";
import type { Room } from "./room";
import type { Grip, Side } from "./side";

/** How far the mouse moves before a click is a drag [px]. */
const STILL = 4;
/** The least time between two messages [ms]. */
const EVERY = 15;

/**
 * The mouse in a live room: dragging a body pulls it, in the plane that faces the eye; a click picks.
 * Dragging anything else turns the view, as everywhere.
 */
export class PullTool {
  /** What a click does: gives whether it was wanted. */
  click: ((grip: Grip | null, side: Side) => void) | null = null;
  private held: { grip: Grip; plane: THREE.Plane; x: number; y: number } | null = null;
  private pressed: { x: number; y: number } | null = null;
  private readonly line: THREE.Line;
  private last = 0;
  private timer = 0;
  private readonly stop: (() => void)[] = [];

  constructor(
    private readonly app: App,
    private readonly room: Room,
  ) {
    const points = new THREE.BufferGeometry().setAttribute("position", new THREE.Float32BufferAttribute(6, 3));
    this.line = new THREE.Line(points, new THREE.LineDashedMaterial({ color: 0x1f7ae0, dashSize: 0.02, gapSize: 0.012, depthTest: false, transparent: true }));
    this.line.frustumCulled = this.line.visible = false;
    this.line.renderOrder = 5;
    app.stage.scene.add(this.line);
    const canvas = app.stage.renderer.domElement;
    const listen = <K extends "pointerdown" | "pointermove" | "pointerup" | "pointercancel">(name: K, act: (event: PointerEvent) => void, capture = false) => {
      canvas.addEventListener(name, act, { capture });
      this.stop.push(() => canvas.removeEventListener(name, act, { capture }));
    };
    // Before the camera, which would turn.
    listen("pointerdown", (event) => this.press(event), true);
    listen("pointermove", (event) => this.move(event));
    listen("pointerup", (event) => this.release(event));
    listen("pointercancel", () => this.letGo());
    this.stop.push(app.stage.update.on(() => this.drawLine()));
  }

  /** Whether a body is being pulled. */
  get pulling(): boolean {
    return this.held !== null;
  }

  dispose(): void {
    this.letGo();
    for (const stop of this.stop) stop();
    this.line.removeFromParent();
  }

  /** The side in whose part of the stage a point of the page is. */
  private sideAt(clientX: number): Side | null {
    const { sides } = this.room;
    const box = this.app.stage.renderer.domElement.getBoundingClientRect();
    const column = Math.floor(((clientX - box.left) / box.width) * sides.length);
    return sides[Math.min(Math.max(column, 0), sides.length - 1)] ?? null;
  }

  private press(event: PointerEvent): void {
    if (event.button !== 0 || !this.app.stage.viewpoint.controls.enabled) return;
    this.pressed = { x: event.clientX, y: event.clientY };
    const side = this.sideAt(event.clientX);
    const grip = side?.pick(this.app.stage.rayAt(event.clientX, event.clientY));
    if (!side?.facts.can_pull || !grip?.solid?.pulled) return;
    this.app.stage.viewpoint.controls.enabled = false;
    this.app.stage.renderer.domElement.setPointerCapture(event.pointerId);
    const facing = this.app.stage.viewpoint.camera.getWorldDirection(new THREE.Vector3());
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(facing, grip.world);
    this.held = { grip, plane, x: event.clientX, y: event.clientY };
  }

  private move(event: PointerEvent): void {
    if (!this.held) return;
    [this.held.x, this.held.y] = [event.clientX, event.clientY];
    if (this.isClick(event) && !this.room.inputs.pull) return;
    // The last of the moves between two messages is sent, too.
    clearTimeout(this.timer);
    const wait = this.last + EVERY - performance.now();
    if (wait <= 0) this.send();
    else this.timer = window.setTimeout(() => this.send(), wait);
  }

  private send(): void {
    const target = this.target();
    if (!this.held || !target) return;
    this.last = performance.now();
    const { solid, local } = this.held.grip;
    this.room.setPull({ solid: solid!.name, point: local.toArray(), target: target.toArray() });
    this.app.stage.request();
  }

  private target(): THREE.Vector3 | null {
    if (!this.held) return null;
    return this.app.stage.rayAt(this.held.x, this.held.y).intersectPlane(this.held.plane, new THREE.Vector3());
  }

  private release(event: PointerEvent): void {
    const click = this.pressed && this.isClick(event) && !this.room.inputs.pull;
    this.letGo();
    this.pressed = null;
    const side = this.sideAt(event.clientX);
    if (click && side) this.click?.(this.pickOrGround(side, event), side);
  }

  private pickOrGround(side: Side, event: PointerEvent): Grip | null {
    const grip = side.pick(this.app.stage.rayAt(event.clientX, event.clientY));
    const world = grip ? null : this.app.stage.groundAt(event.clientX, event.clientY);
    return grip ?? (world && { solid: null, local: world, world });
  }

  private isClick(event: PointerEvent): boolean {
    const { pressed } = this;
    return pressed !== null && Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) < STILL;
  }

  private letGo(): void {
    clearTimeout(this.timer);
    if (!this.held) return;
    this.held = null;
    this.line.visible = false;
    this.app.stage.viewpoint.controls.enabled = true;
    if (this.room.inputs.pull) this.room.setPull(null);
  }

  private drawLine(): void {
    const target = this.room.inputs.pull ? this.target() : null;
    const side = this.room.first;
    this.line.visible = Boolean(target && this.held && side);
    if (!target || !this.held || !side) return;
    const from = side.place(this.held.grip);
    this.line.geometry.setFromPoints([from, target]);
    this.line.computeLineDistances();
  }
}
