import * as THREE from "three";
import { Event } from "../shell/events";
import type { Clock } from "../time/clock";
import { Ground } from "./ground";
import { Pace } from "./pace";
import { Viewpoint } from "./viewpoint";

/** By how much pictures are coarser where the machine cannot keep up. */
const COARSE = 0.6;

/** A part of the stage that shows some things and not others. */
export interface Pane {
  title: string;
  /** What only this pane shows; things of no pane are in all of them. */
  objects: THREE.Object3D[];
}

/** The 3-D view: drawn when something has changed, with one frame asked for at most. */
export class Stage {
  readonly scene = new THREE.Scene();
  readonly ground = new Ground();
  readonly viewpoint: Viewpoint;
  readonly renderer: THREE.WebGLRenderer;
  /** Before a picture is drawn: everything takes its place at the clock's time. */
  readonly update = new Event();
  /** After a picture was drawn. */
  readonly drawn = new Event();
  frames = 0;
  private panes: Pane[] = [];
  private pending = false;
  /** Whether pictures are drawn for a file, and none for the screen. */
  private held = false;
  private readonly ratio = Math.min(devicePixelRatio, 2);
  private readonly pace = new Pace();
  private size = { width: 1, height: 1 };
  private readonly ray = new THREE.Raycaster();

  constructor(
    readonly element: HTMLElement,
    private readonly clock: Clock,
  ) {
    this.renderer = new THREE.WebGLRenderer({ antialias: !softwareOnly() });
    this.renderer.setPixelRatio(this.ratio);
    this.renderer.autoClear = false;
    const canvas = this.renderer.domElement;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", "The scene in 3-D; Shift and arrow keys turn the camera");
    element.append(canvas);
    this.viewpoint = new Viewpoint(this.renderer.domElement, () => this.request());
    const sun = new THREE.DirectionalLight(0xffffff, 2);
    sun.position.set(2, -3, 5);
    this.scene.add(sun, new THREE.HemisphereLight(0xffffff, 0x8a8f98, 1.4));
    this.scene.add(this.ground.object);
    this.ground.lay(new THREE.Vector3(), 4);
    new ResizeObserver(() => this.resize()).observe(element);
    clock.changed.on(() => this.request());
    this.resize();
  }

  setColors(background: string, grid: string): void {
    this.scene.background = new THREE.Color(background);
    this.ground.setColor(grid);
    this.request();
  }

  /** Divide the view; none or one means that all is seen at once. */
  setPanes(panes: Pane[]): void {
    this.panes = panes;
    this.resize();
  }

  get columns(): number {
    return Math.max(1, this.panes.length);
  }

  /** Ask for a picture. */
  request(): void {
    if (this.pending || this.held) return;
    this.pending = true;
    requestAnimationFrame((now) => {
      this.pending = false;
      if (this.held) return;
      this.clock.advance(now);
      this.pace.frame(now, this.clock.playing);
      const ratio = this.pace.coarse ? COARSE * this.ratio : this.ratio;
      if (ratio !== this.renderer.getPixelRatio()) this.renderer.setPixelRatio(ratio);
      this.draw();
      if (this.clock.playing) this.request();
    });
  }

  /** Draw now. */
  draw(): void {
    this.update.emit();
    const { width, height } = this.size; // asking the element would lay out the page
    this.renderer.setScissorTest(false);
    this.renderer.clear();
    this.renderer.setScissorTest(this.columns > 1);
    for (let column = 0; column < this.columns; column++) {
      const left = Math.floor((column * width) / this.columns);
      const right = Math.floor(((column + 1) * width) / this.columns);
      this.panes.forEach((pane, i) => {
        for (const object of pane.objects) object.visible = i === column;
      });
      this.renderer.setViewport(left, 0, right - left, height);
      if (this.columns > 1) this.renderer.setScissor(left, 0, right - left - 1, height);
      this.renderer.clear();
      this.renderer.render(this.scene, this.viewpoint.camera);
    }
    for (const pane of this.panes) for (const object of pane.objects) object.visible = true;
    this.frames++;
    this.drawn.emit();
  }

  /** The ray under a point of the page. */
  rayAt(clientX: number, clientY: number): THREE.Ray {
    const box = this.renderer.domElement.getBoundingClientRect();
    const width = box.width / this.columns;
    const x = ((clientX - box.left) % width) / width;
    const y = (clientY - box.top) / box.height;
    this.viewpoint.camera.updateMatrixWorld();
    this.ray.setFromCamera(new THREE.Vector2(2 * x - 1, 1 - 2 * y), this.viewpoint.camera);
    return this.ray.ray;
  }

  /** The point of the ground, z = 0, under a point of the page; null above the horizon. */
  groundAt(clientX: number, clientY: number): THREE.Vector3 | null {
    const plane = new THREE.Plane(new THREE.Vector3(0, 0, 1), 0);
    return this.rayAt(clientX, clientY).intersectPlane(plane, new THREE.Vector3());
  }

  /** Look at a rectangle of the page, by its middle and its size [px]. */
  lookCloser(clientX: number, clientY: number, width: number, height: number): void {
    if (width < 4 || height < 4) return;
    const box = this.renderer.domElement.getBoundingClientRect();
    const { viewpoint } = this;
    // The middle moves within the plane through the target that faces the eye.
    const facing = viewpoint.camera.getWorldDirection(new THREE.Vector3());
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(facing, viewpoint.target);
    const middle = this.rayAt(clientX, clientY).intersectPlane(plane, new THREE.Vector3());
    if (!middle) return;
    viewpoint.shift(middle.sub(viewpoint.target));
    viewpoint.closer(Math.min(box.width / this.columns / width, box.height / height));
    this.request();
  }

  /** Give the picture as a PNG, of another size [px] if it is asked for. */
  async png(size?: { width: number; height: number }): Promise<Blob> {
    const take = (canvas: HTMLCanvasElement) => new Promise<Blob>((resolve, reject) => {
      this.draw();
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture could not be saved"))));
    });
    return size ? this.sized(size.width, size.height, take) : take(this.renderer.domElement);
  }

  /** Draw pictures of another size [px] for as long as an action lasts; only those that it asks for by `draw`. */
  async sized<T>(width: number, height: number, action: (canvas: HTMLCanvasElement) => Promise<T>): Promise<T> {
    this.held = true;
    try {
      this.renderer.setPixelRatio(1);
      this.size = { width, height };
      this.renderer.setSize(width, height, false);
      this.viewpoint.setAspect(width / this.columns / height);
      return await action(this.renderer.domElement);
    } finally {
      this.held = false;
      this.renderer.setPixelRatio(this.ratio);
      this.resize();
    }
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (!width || !height || this.held) return;
    this.size = { width, height };
    this.renderer.setSize(width, height);
    this.viewpoint.setAspect(width / this.columns / height);
    this.request();
  }
}

/** Tell whether pictures are drawn by the processor, which smooth edges would slow down. */
function softwareOnly(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = gl && info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software/i.test(name);
}
