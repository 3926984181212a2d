import * as THREE from "three";
import { Event } from "../shell/events";
import type { Clock } from "../time/clock";
import { Gauges } from "./gauges";
import { Ground } from "./ground";
import { Pace } from "./pace";
import { Sun } from "./sun";
import { Viewpoint } from "./viewpoint";

/** By how much pictures are coarser where the machine cannot keep up. */
const COARSE = 0.6;
/** How much wider than high a pane should be. */
const WIDER = 1.2;

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
  readonly gauges: Gauges;
  readonly sun = new Sun();
  private shown: Pane[] = [];
  /** How many panes are beside each other, and how many rows of them there are. */
  private grid = { columns: 1, rows: 1 };
  private columns?: number;
  private pending = false;
  /** Whether pictures are drawn for a file, and none for the screen. */
  private held = false;
  private readonly ratio = Math.min(devicePixelRatio, 2);
  private readonly pace = new Pace();
  private size = { width: 1, height: 1 };
  private readonly ray = new THREE.Raycaster();
  /** The colour of the lines between panes. */
  private readonly between = new THREE.Color();

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
    this.scene.add(this.sun.object, new THREE.HemisphereLight(0xffffff, 0x8a8f98, 1.4));
    this.scene.add(this.ground.object);
    this.ground.lay(new THREE.Vector3(), 4);
    this.gauges = new Gauges(this);
    new ResizeObserver(() => this.resize()).observe(element);
    clock.changed.on(() => this.request());
    this.resize();
  }

  setColors(background: string, grid: string): void {
    this.scene.background = new THREE.Color(background);
    this.between.set(grid);
    this.ground.setColor(grid);
    this.request();
  }

  /** Divide the view into a grid, by default of the shape that fits best; none or one pane means that all is seen at once. */
  setPanes(panes: Pane[], columns?: number): void {
    this.shown = panes;
    this.columns = columns;
    this.resize();
  }

  /** How many panes there are. */
  get panes(): number {
    return Math.max(1, this.shown.length);
  }

  /** Whether panes are much higher than wide. */
  get narrow(): boolean {
    return this.paneSize.width < 0.75 * this.paneSize.height;
  }

  /** The size of a pane [px]. */
  get paneSize(): { width: number; height: number } {
    return { width: this.size.width / this.grid.columns, height: this.size.height / this.grid.rows };
  }

  /** Where a point of the page is in its pane [px]. */
  paneAt(clientX: number, clientY: number): { x: number; y: number; width: number; height: number } {
    const box = this.renderer.domElement.getBoundingClientRect();
    const { width, height } = this.paneSize;
    return { x: (clientX - box.left) % width, y: (clientY - box.top) % height, width, height };
  }

  /** The pane at a point of the page, by its number. */
  paneIndexAt(clientX: number, clientY: number): number {
    const box = this.renderer.domElement.getBoundingClientRect();
    const { width, height } = this.paneSize;
    return Math.floor((clientY - box.top) / height) * this.grid.columns + Math.floor((clientX - box.left) / width);
  }

  /** Lay the ground under a box, and let the sun light it. */
  lay(box: THREE.Box3): void {
    this.ground.lay(box.getCenter(new THREE.Vector3()), Math.max(2 * box.getSize(new THREE.Vector3()).length(), 1));
    this.sun.aim(box);
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
    this.sun.cast(this.renderer);
    this.renderer.setScissorTest(false);
    const background = this.scene.background instanceof THREE.Color ? this.scene.background : this.between;
    this.renderer.setClearColor(background);
    this.renderer.clear();
    this.renderer.setScissorTest(this.panes > 1);
    const { columns, rows } = this.grid;
    // The last places may be left without a pane.
    for (let i = 0; i < columns * rows; i++) {
      const [column, row] = [i % columns, Math.floor(i / columns)];
      const [left, right] = [column, column + 1].map((at) => Math.floor((at * width) / columns)) as [number, number];
      const [top, bottom] = [row, row + 1].map((at) => Math.floor((at * height) / rows)) as [number, number];
      this.shown.forEach((pane, other) => {
        for (const object of pane.objects) object.visible = i === other;
      });
      this.renderer.setViewport(left, height - bottom, right - left, bottom - top);
      if (this.panes > 1) {
        // Where a place has another to its right or above it, a line remains. A colour has to be set
        // each time it is to be cleared with, as the scene clears with that of its background.
        this.renderer.setScissor(left, height - bottom, right - left, bottom - top);
        this.renderer.setClearColor(this.between);
        this.renderer.clear();
        this.renderer.setScissor(left, height - bottom, right - left - Number(column + 1 < columns), bottom - top - Number(row > 0));
        this.renderer.setClearColor(background);
        this.renderer.clear();
      }
      if (i < this.panes) this.renderer.render(this.scene, this.viewpoint.camera);
    }
    for (const pane of this.shown) for (const object of pane.objects) object.visible = true;
    this.frames++;
    this.drawn.emit();
  }

  /** The ray under a point of the page. */
  rayAt(clientX: number, clientY: number): THREE.Ray {
    const { x, y, width, height } = this.paneAt(clientX, clientY);
    this.viewpoint.camera.updateMatrixWorld();
    this.ray.setFromCamera(new THREE.Vector2((2 * x) / width - 1, 1 - (2 * y) / height), this.viewpoint.camera);
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
    const { viewpoint, paneSize } = this;
    // The middle moves within the plane through the target that faces the eye.
    const facing = viewpoint.camera.getWorldDirection(new THREE.Vector3());
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(facing, viewpoint.target);
    const middle = this.rayAt(clientX, clientY).intersectPlane(plane, new THREE.Vector3());
    if (!middle) return;
    viewpoint.shift(middle.sub(viewpoint.target));
    viewpoint.closer(Math.min(paneSize.width / width, paneSize.height / height));
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
      this.grid = gridOf(this.panes, width / height, this.columns);
      this.viewpoint.setAspect(this.paneSize.width / this.paneSize.height);
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
    this.grid = gridOf(this.panes, width / height, this.columns);
    // The names of the panes are laid out by the style sheet.
    this.element.parentElement?.style.setProperty("--columns", String(this.grid.columns));
    this.viewpoint.setAspect(this.paneSize.width / this.paneSize.height);
    this.request();
  }
}

/** Divide an area of some aspect into panes that are as large as they can be, a little wider than high. */
function gridOf(panes: number, aspect: number, columns?: number): { columns: number; rows: number } {
  if (columns && panes > 1) return { columns, rows: Math.ceil(panes / columns) };
  let best = { columns: 1, rows: panes, size: 0 };
  for (let columns = 1; columns <= panes; columns++) {
    const rows = Math.ceil(panes / columns);
    const size = Math.min(aspect / columns / WIDER, 1 / rows);
    if (size > best.size + 1e-9) best = { columns, rows, size };
  }
  return best;
}

/** Tell whether pictures are drawn by the processor, which smooth edges would slow down. */
function softwareOnly(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = gl && info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software/i.test(name);
}
