import * as THREE from "three";
import type { App } from "../app";
import { type Plan, UNIT } from "./plan";

/** How far round the path the plan view looks [m]. */
const AROUND = 0.45;
const FROM_ABOVE = new THREE.Vector3(0, -1e-3, 1);

/** Looking straight down on the path, drawn to scale; a drag moves the paper. */
export class PlanView {
  on = false;
  private readonly before = { position: new THREE.Vector3(), target: new THREE.Vector3(), projection: "perspective" as "perspective" | "orthographic" };

  constructor(private readonly app: App) {}

  toggle(plan: Plan): void {
    if (this.on) this.close();
    else this.open(plan);
  }

  open(plan: Plan): void {
    const { viewpoint } = this.app.stage;
    if (!this.on) {
      this.before.position.copy(viewpoint.camera.position);
      this.before.target.copy(viewpoint.target);
      this.before.projection = viewpoint.projection;
    }
    this.on = true;
    viewpoint.setProjection("orthographic");
    viewpoint.controls.enableRotate = false;
    viewpoint.controls.mouseButtons.LEFT = THREE.MOUSE.PAN;
    const box = new THREE.Box3();
    for (const [x, y] of plan.waypoints) box.expandByPoint(new THREE.Vector3(x * UNIT, y * UNIT, 0));
    box.expandByVector(new THREE.Vector3(AROUND, AROUND, 0));
    viewpoint.fit(box, FROM_ABOVE);
    this.app.stage.request();
  }

  close(): void {
    if (!this.on) return;
    this.on = false;
    const { viewpoint } = this.app.stage;
    viewpoint.controls.enableRotate = true;
    viewpoint.controls.mouseButtons.LEFT = THREE.MOUSE.ROTATE;
    viewpoint.setProjection(this.before.projection);
    viewpoint.target.copy(this.before.target);
    viewpoint.camera.position.copy(this.before.position);
    viewpoint.controls.update();
    this.app.stage.request();
  }
}
