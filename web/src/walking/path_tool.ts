import * as THREE from "three";
import type { App } from "../app";
import { h } from "../shell/dom";
import { groundHeight, groundUnder, laidOn } from "./ground";
import { type Point, UNIT } from "./plan";
import type { Planner } from "./planner";

/** How near the mouse must be to take hold of a waypoint [px]. */
const NEAR = 13;
/** How far a click may slip [px]. */
const SLIP = 4;
const ABOVE = 0.004;
/** Diameter of a waypoint's disc by half the height of the stage. */
const DISC = 0.068;

/**
 * Waypoints by mouse: a click on the ground adds one while the pen is held (with Shift into the
 * nearest stretch of the path), a drag moves one, a click with the other button deletes it.
 */
export class PathTool {
  /** Whether clicks add waypoints. */
  pen = false;
  readonly button = h("button", { title: "Place waypoints on the ground by mouse (W)", "aria-pressed": false }, "draw path");
  private readonly object = new THREE.Group();
  private readonly handles = new THREE.Group();
  private readonly polygon = line(0x7a8596);
  private readonly band = line(0xd98200);
  private readonly stop: (() => void)[] = [];
  private held = -1;
  private pressed: [number, number] | null = null;

  constructor(
    private readonly app: App,
    private readonly planner: Planner,
  ) {
    this.object.add(this.polygon, this.band, this.handles);
    this.band.visible = false;
    app.stage.scene.add(this.object);
    this.button.addEventListener("click", () => this.setPen(!this.pen));
    const canvas = app.stage.renderer.domElement;
    const listen = (name: string, act: (event: PointerEvent) => void) => {
      const listener = (event: globalThis.Event) => act(event as PointerEvent);
      // Before the camera hears of it.
      canvas.addEventListener(name, listener, { capture: true });
      this.stop.push(() => canvas.removeEventListener(name, listener, { capture: true }));
    };
    listen("pointerdown", (event) => this.press(event));
    listen("pointermove", (event) => this.move(event));
    listen("pointerup", (event) => this.release(event));
    listen("pointercancel", () => this.drop());
    listen("pointerleave", () => this.stretch(null));
    listen("contextmenu", (event) => {
      if (this.at(event) < 0) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    });
    this.stop.push(
      app.stage.update.on(() => this.scale()),
      planner.changed.on(() => this.draw()),
      app.keys.add("w", "place waypoints on the ground by mouse", () => this.setPen(!this.pen)),
      app.keys.add("Escape", "stop drawing", () => this.setPen(false)),
      app.keys.add("Backspace", "delete the last waypoint", () => this.delete(planner.plan.waypoints.length - 1)),
    );
    this.draw();
  }

  dispose(): void {
    this.setPen(false);
    for (const stop of this.stop) stop();
    this.object.removeFromParent();
  }

  /** Whether clicks are for waypoints. */
  get busy(): boolean {
    return this.pen || this.held >= 0;
  }

  setPen(pen: boolean): void {
    this.pen = pen;
    this.button.setAttribute("aria-pressed", String(pen));
    this.app.stage.renderer.domElement.style.cursor = pen ? "crosshair" : "";
    this.stretch(null);
  }

  /** Start an empty path. */
  restart(): void {
    const { planner } = this;
    void planner.edit({ waypoints: [], segments: [], heading: planner.plan.heading === "spin" ? "turn" : planner.plan.heading });
    this.setPen(true);
  }

  /** Add a waypoint [m]; done when the path is walked. */
  add(x: number, y: number, index = this.planner.plan.waypoints.length): Promise<void> {
    const waypoints = [...this.planner.plan.waypoints];
    waypoints.splice(index, 0, [x / UNIT, y / UNIT]);
    return this.planner.edit({ waypoints });
  }

  delete(index: number): void {
    if (index < 0) return;
    void this.planner.edit({ waypoints: this.planner.plan.waypoints.filter((_, i) => i !== index) });
  }

  /** The waypoint under the mouse; -1 for none. */
  private at(event: PointerEvent): number {
    const { stage } = this.app;
    const { x: mx, y: my, width, height } = stage.paneAt(event.clientX, event.clientY);
    let found = -1;
    let nearest = NEAR;
    stage.viewpoint.camera.updateMatrixWorld();
    this.planner.plan.waypoints.forEach((point, i) => {
      const seen = this.onGround(point).project(stage.viewpoint.camera);
      const distance = Math.hypot(((seen.x + 1) / 2) * width - mx, ((1 - seen.y) / 2) * height - my);
      if (seen.z < 1 && distance < nearest) [found, nearest] = [i, distance];
    });
    return found;
  }

  private press(event: PointerEvent): void {
    this.pressed = event.button === 0 ? [event.clientX, event.clientY] : null;
    const index = this.at(event);
    if (index < 0) return;
    event.stopImmediatePropagation();
    if (event.button === 2) this.delete(index);
    if (event.button !== 0) return;
    this.held = index;
    this.app.stage.renderer.domElement.setPointerCapture(event.pointerId);
  }

  private move(event: PointerEvent): void {
    if (this.held >= 0) {
      event.stopImmediatePropagation();
      if (this.slipped(event)) this.drag(event);
    } else if (this.pen) this.stretch(this.pointAt(event));
  }

  private release(event: PointerEvent): void {
    const { planner } = this;
    if (this.held >= 0) {
      event.stopImmediatePropagation();
      const moved = planner.dragging;
      this.drop();
      if (moved) void planner.edit({});
    } else if (this.pen && this.pressed && !this.slipped(event)) {
      const point = this.pointAt(event);
      if (point) void this.add(point.x, point.y, event.shiftKey ? this.stretchNear(point) : undefined);
    }
    this.pressed = null;
  }

  private drop(): void {
    this.held = -1;
    this.planner.dragging = false;
  }

  private slipped(event: PointerEvent): boolean {
    if (this.planner.dragging) return true;
    const [x, y] = this.pressed ?? [event.clientX, event.clientY];
    return Math.hypot(event.clientX - x, event.clientY - y) > SLIP;
  }

  private drag(event: PointerEvent): void {
    const point = this.pointAt(event);
    if (!point) return;
    this.planner.dragging = true;
    const waypoints = this.planner.plan.waypoints.map((old, i): Point =>
      i === this.held ? [point.x / UNIT, point.y / UNIT] : old,
    );
    void this.planner.edit({ waypoints });
  }

  /** Give the place in the path of a new waypoint by the stretch it is nearest to. */
  private stretchNear(point: THREE.Vector3): number {
    const points = this.planner.plan.waypoints.map(([x, y]) => new THREE.Vector3(x * UNIT, y * UNIT, 0));
    let [index, least] = [points.length, Infinity];
    for (let i = 0; i + 1 < points.length; i++) {
      const near = new THREE.Line3(points[i], points[i + 1]).closestPointToPoint(point.setZ(0), true, new THREE.Vector3());
      const distance = near.distanceTo(point);
      if (distance < least) [index, least] = [i + 1, distance];
    }
    return index;
  }

  /** Draw the rubber band from the last waypoint. */
  private stretch(point: THREE.Vector3 | null): void {
    const last = this.planner.plan?.waypoints.at(-1);
    this.band.visible = Boolean(point && last);
    if (point && last) this.lay(this.band, [last, [point.x / UNIT, point.y / UNIT]]);
    this.app.stage.request();
  }

  /** Keep the discs one size on the page, in both projections. */
  private scale(): void {
    const { camera } = this.app.stage.viewpoint;
    const size = this.app.stage.panes > 1 ? DISC / 2 : DISC;
    const half = camera instanceof THREE.PerspectiveCamera ? Math.tan(THREE.MathUtils.degToRad(camera.fov / 2)) : camera.top / camera.zoom;
    for (const sprite of this.handles.children) sprite.scale.setScalar(size * half);
  }

  private draw(): void {
    const { plan } = this.planner;
    this.handles.clear();
    plan.waypoints.forEach((point, i) => {
      const sprite = new THREE.Sprite(numeral(i + 1));
      sprite.position.copy(this.onGround(point));
      sprite.renderOrder = 5;
      this.handles.add(sprite);
    });
    const first = plan.heading === "spin" ? plan.waypoints.slice(0, 1) : plan.waypoints;
    this.lay(this.polygon, [...first, ...(plan.segments ?? []).flatMap(({ waypoints }) => waypoints)]);
    this.app.stage.request();
  }

  /** Where the waypoints are seen [m]. */
  get places(): number[][] {
    return this.handles.children.map((sprite) => sprite.position.toArray());
  }

  /** The point of the ground under the mouse [m]. */
  private pointAt(event: PointerEvent): THREE.Vector3 | null {
    return groundUnder(this.planner.plan.terrain, this.app.stage.rayAt(event.clientX, event.clientY));
  }

  private onGround([x, y]: Point): THREE.Vector3 {
    return new THREE.Vector3(x, y, groundHeight(this.planner.plan.terrain, x, y)).multiplyScalar(UNIT);
  }

  private lay(object: THREE.Line, points: readonly Point[]): void {
    object.geometry.dispose();
    object.geometry = new THREE.BufferGeometry();
    const values = laidOn(this.planner.plan.terrain, points).flatMap(([x, y, z]) => [x * UNIT, y * UNIT, z * UNIT + ABOVE]);
    object.geometry.setAttribute("position", new THREE.Float32BufferAttribute(values, 3));
  }
}

function line(color: number): THREE.Line {
  const object = new THREE.Line(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color }));
  object.frustumCulled = false;
  return object;
}

const NUMERALS = new Map<number, THREE.SpriteMaterial>();

/** A disc with a number on it. */
function numeral(number: number): THREE.SpriteMaterial {
  const known = NUMERALS.get(number);
  if (known) return known;
  const canvas = h("canvas", { width: 64, height: 64 });
  const context = canvas.getContext("2d")!;
  context.fillStyle = "#d98200";
  context.beginPath();
  context.arc(32, 32, 30, 0, 2 * Math.PI);
  context.fill();
  context.fillStyle = "#fff";
  context.font = "bold 36px system-ui, sans-serif";
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(String(number), 32, 35);
  const material = new THREE.SpriteMaterial({ map: new THREE.CanvasTexture(canvas), depthTest: false, sizeAttenuation: false });
  NUMERALS.set(number, material);
  return material;
}
