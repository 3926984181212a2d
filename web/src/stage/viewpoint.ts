import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";

export type Projection = "perspective" | "orthographic";

/** How much of the picture what is looked at may fill. */
const FILLED = 0.85;

/** The eye: a camera of either projection that is moved by mouse, finger and keys. */
export class Viewpoint {
  projection: Projection = "perspective";
  readonly controls: OrbitControls;
  private readonly perspective = new THREE.PerspectiveCamera(40, 1, 0.01, 500);
  private readonly orthographic = new THREE.OrthographicCamera(-1, 1, 1, -1, -200, 500);
  private aspect = 1;

  constructor(element: HTMLElement, changed: () => void) {
    for (const camera of [this.perspective, this.orthographic]) camera.up.set(0, 0, 1);
    this.perspective.position.set(2.2, -2.6, 1.6);
    this.controls = new OrbitControls(this.perspective, element);
    this.controls.addEventListener("change", changed);
    this.controls.maxPolarAngle = Math.PI * 0.98;
    this.controls.zoomToCursor = true;
  }

  get camera(): THREE.PerspectiveCamera | THREE.OrthographicCamera {
    return this.projection === "perspective" ? this.perspective : this.orthographic;
  }

  get target(): THREE.Vector3 {
    return this.controls.target;
  }

  /** What takes a point of the world [m] to the picture, -1 to 1. */
  matrix(): THREE.Matrix4 {
    this.camera.updateMatrixWorld();
    return this.camera.projectionMatrix.clone().multiply(this.camera.matrixWorldInverse);
  }

  setAspect(aspect: number): void {
    this.aspect = aspect;
    this.perspective.aspect = aspect;
    this.perspective.updateProjectionMatrix();
    const { top } = this.orthographic;
    this.orthographic.left = -top * aspect;
    this.orthographic.right = top * aspect;
    this.orthographic.updateProjectionMatrix();
  }

  /** Change the projection; what lies at the target keeps its size. */
  setProjection(projection: Projection): void {
    if (projection === this.projection) return;
    const slope = Math.tan(THREE.MathUtils.degToRad(this.perspective.fov / 2));
    const from = this.camera.position.clone();
    const offset = from.sub(this.target);
    if (projection === "orthographic") {
      this.orthographic.top = offset.length() * slope;
      this.orthographic.bottom = -this.orthographic.top;
      this.orthographic.zoom = 1;
    } else {
      offset.setLength(this.orthographic.top / this.orthographic.zoom / slope);
    }
    this.projection = projection;
    this.camera.position.copy(this.target).add(offset);
    this.controls.object = this.camera;
    this.setAspect(this.aspect);
    this.controls.update();
  }

  /** Look at a box from where the eye is, or from a direction, as near as all of it is seen. */
  fit(box: THREE.Box3, direction?: THREE.Vector3): void {
    const { min, max } = box;
    const corners = [0, 1, 2, 3, 4, 5, 6, 7].map(
      (i) => new THREE.Vector3(i & 1 ? max.x : min.x, i & 2 ? max.y : min.y, i & 4 ? max.z : min.z),
    );
    if (!box.isEmpty()) this.fitPoints(corners, direction);
  }

  /** Look at points, as near as all of them are seen. */
  fitPoints(points: THREE.Vector3[], direction?: THREE.Vector3): void {
    const slope = Math.tan(THREE.MathUtils.degToRad(this.perspective.fov / 2)) * FILLED;
    const back = (direction ?? this.camera.position.clone().sub(this.target)).clone().normalize();
    const right = new THREE.Vector3().crossVectors(this.camera.up, back).normalize();
    const up = new THREE.Vector3().crossVectors(back, right);
    const center = new THREE.Vector3();
    for (const axis of [right, up, back]) {
      const along = points.map((point) => point.dot(axis));
      center.addScaledVector(axis, (Math.min(...along) + Math.max(...along)) / 2);
    }
    let distance = 0.05;
    for (const point of points) {
      const p = point.clone().sub(center);
      const across = Math.max(Math.abs(p.dot(right)) / this.aspect, Math.abs(p.dot(up)));
      distance = Math.max(distance, p.dot(back) + across / slope);
    }
    this.target.copy(center);
    this.camera.position.copy(center).addScaledVector(back, distance);
    this.perspective.near = distance / 200;
    this.perspective.far = distance * 60;
    this.orthographic.top = distance * slope;
    this.orthographic.bottom = -this.orthographic.top;
    this.orthographic.zoom = 1;
    this.setAspect(this.aspect);
    this.controls.update();
  }

  /** How much is seen at the target, from below to above [m]. */
  get height(): number {
    if (this.projection === "orthographic") return (2 * this.orthographic.top) / this.orthographic.zoom;
    const slope = Math.tan(THREE.MathUtils.degToRad(this.perspective.fov / 2));
    return 2 * slope * this.camera.position.distanceTo(this.target);
  }

  /** Projection, eye and target [m], and the height that is seen [m], as text. */
  written(): string {
    const numbers = [...this.camera.position.toArray(), ...this.target.toArray(), this.height];
    return [this.projection[0], ...numbers.map((number) => Number(number.toPrecision(7)))].join(",");
  }

  /** Look as `written` says; a text of another kind changes nothing. */
  read(text: string): void {
    const [kind, ...rest] = text.split(",");
    const numbers = rest.map(Number);
    const fine = numbers.length === 7 && numbers.every((number) => Math.abs(number) < 1e6) && numbers[6]! > 0;
    if (!fine || (kind !== "p" && kind !== "o")) return;
    const [eye, target] = [new THREE.Vector3(...numbers.slice(0, 3)), new THREE.Vector3(...numbers.slice(3, 6))];
    if (eye.distanceTo(target) < 1e-6) return;
    this.setProjection(kind === "p" ? "perspective" : "orthographic");
    this.target.copy(target);
    this.camera.position.copy(eye);
    this.orthographic.top = numbers[6]! / 2;
    this.orthographic.bottom = -this.orthographic.top;
    this.orthographic.zoom = 1;
    this.setAspect(this.aspect);
    this.controls.update();
  }

  /** Look at the target from a direction, as far away as before. */
  lookFrom(direction: THREE.Vector3): void {
    const distance = this.camera.position.distanceTo(this.target);
    this.camera.position.copy(direction).setLength(distance).add(this.target);
    this.controls.update();
  }

  /** Make what lies at the target some times larger. */
  closer(times: number): void {
    if (this.projection === "perspective") {
      const offset = this.camera.position.clone().sub(this.target).divideScalar(times);
      this.camera.position.copy(this.target).add(offset);
    } else {
      this.orthographic.zoom *= times;
      this.orthographic.updateProjectionMatrix();
    }
    this.controls.update();
  }

  /** Move eye and target alike. */
  shift(by: THREE.Vector3): void {
    this.target.add(by);
    this.camera.position.add(by);
  }
}
