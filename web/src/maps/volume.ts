import * as THREE from "three";
import { SEQUENTIAL } from "../shell/palette";
import { bounds, emptySteps, type Triple } from "./empty_space";

export interface VolumeData {
  grades: Uint8Array<ArrayBuffer>;
  shape: Triple;
  lower: Triple;
  voxel: number;
}

/** A grid of grades as solid voxels, cut open by planes: each ray goes from voxel to voxel until
 * it meets a grade above the least (Amanatides, Woo, "A fast voxel traversal algorithm for ray
 * tracing", Eurographics 1987), through empty space by as many at once as are known to be empty
 * around. A new cut is one number for the graphics card. */
export class Volume {
  readonly object: THREE.Mesh;
  private readonly uniforms;
  private readonly texture: THREE.Data3DTexture;
  private readonly low: Triple;
  private readonly high: Triple;

  constructor(data: VolumeData) {
    const { grades, shape } = data;
    [this.low, this.high] = bounds(grades, shape);
    const steps = emptySteps(grades, shape);
    const pairs = new Uint8Array(2 * grades.length);
    for (let i = 0; i < grades.length; i++) [pairs[2 * i], pairs[2 * i + 1]] = [grades[i]!, steps[i]!];
    this.texture = new THREE.Data3DTexture(pairs, ...shape);
    this.texture.format = THREE.RGFormat;
    this.texture.unpackAlignment = 1;
    this.texture.needsUpdate = true;
    this.uniforms = {
      grades: { value: this.texture },
      shape: { value: new THREE.Vector3(...shape) },
      low: { value: new THREE.Vector3(...this.low) },
      high: { value: new THREE.Vector3(...this.high) },
      least: { value: 0.5 / 255 },
      eye: { value: new THREE.Vector3() },
      along: { value: new THREE.Vector3() },
      parallel: { value: 0 },
      toClip: { value: new THREE.Matrix4() },
      ramp: { value: SEQUENTIAL.map((color) => new THREE.Color().setStyle(color, THREE.LinearSRGBColorSpace)) },
    };
    const material = new THREE.ShaderMaterial({
      glslVersion: THREE.GLSL3,
      side: THREE.BackSide,
      uniforms: this.uniforms,
      defines: { RAMP: SEQUENTIAL.length },
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
    });
    // A box around what is there, of one unit for each voxel, placed and scaled into the world.
    const size = this.high.map((high, axis) => high - this.low[axis]!) as Triple;
    const middle = this.high.map((high, axis) => (high + this.low[axis]!) / 2) as Triple;
    const box = new THREE.BoxGeometry(...size).translate(...middle);
    this.object = new THREE.Mesh(box, material);
    this.object.position.set(...data.lower);
    this.object.scale.setScalar(data.voxel);
    this.object.onBeforeRender = (_, __, camera) => this.look(camera);
  }

  /** Show only what lies between two parts of an axis, 0 to 1. */
  cut(axis: 0 | 1 | 2, low: number, high: number): void {
    const count = this.uniforms.shape.value.getComponent(axis);
    this.uniforms.low.value.setComponent(axis, Math.max(Math.round(low * count), this.low[axis]));
    this.uniforms.high.value.setComponent(axis, Math.min(Math.round(high * count), this.high[axis]));
  }

  /** Show only grades from some part of the greatest on, 0 to 1. */
  setLeast(least: number): void {
    this.uniforms.least.value = Math.max(0.5 / 255, least);
  }

  dispose(): void {
    this.object.removeFromParent();
    this.object.geometry.dispose();
    (this.object.material as THREE.Material).dispose();
    this.texture.dispose();
  }

  private look(camera: THREE.Camera): void {
    const inverse = this.object.matrixWorld.clone().invert();
    this.uniforms.eye.value.setFromMatrixPosition(camera.matrixWorld).applyMatrix4(inverse);
    const forward = new THREE.Vector3(0, 0, -1).transformDirection(camera.matrixWorld);
    this.uniforms.along.value.copy(forward).transformDirection(inverse);
    this.uniforms.toClip.value
      .multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse)
      .multiply(this.object.matrixWorld);
    this.uniforms.parallel.value = camera instanceof THREE.OrthographicCamera ? 1 : 0;
  }
}

const VERTEX = /* glsl */ `
out vec3 place;
void main() {
  place = position;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
}`;

const FRAGMENT = /* glsl */ `
precision highp float;
precision highp sampler3D;
uniform sampler3D grades;
uniform vec3 shape, low, high, eye, along;
uniform float least, parallel;
uniform vec3 ramp[RAMP];
uniform mat4 toClip;
in vec3 place;
out vec4 color;

vec3 tone(float grade) {
  float place = grade * float(RAMP - 1);
  int below = min(int(place), RAMP - 2);
  return mix(ramp[below], ramp[below + 1], place - float(below));
}

void main() {
  vec3 ray = normalize(parallel > 0.5 ? along : place - eye);
  vec3 start = parallel > 0.5 ? place - ray * length(shape) * 2.0 : eye;
  vec3 inverse = 1.0 / ray;
  vec3 a = (low - start) * inverse, b = (high - start) * inverse;
  vec3 near = min(a, b), far = max(a, b);
  float enter = max(max(near.x, near.y), max(near.z, 0.0));
  float leave = min(far.x, min(far.y, far.z));
  if (enter >= leave) discard;

  vec3 normal = enter == near.x ? vec3(1, 0, 0) : enter == near.y ? vec3(0, 1, 0) : vec3(0, 0, 1);
  vec3 cell = clamp(floor(start + ray * (enter + 1e-4)), low, high - 1.0);
  vec3 ahead = step(0.0, ray);
  float at = enter, grade = 0.0;
  // Software renderers run all of a loop for every pixel, so that little is done inside.
  for (int i = 0; i < 512; i++) {
    vec2 found = texelFetch(grades, ivec3(cell), 0).rg;
    grade = found.r;
    if (grade >= least || at >= leave) break;
    float free = max(1.0, floor(found.g * 255.0 + 0.5));
    vec3 wall = cell + mix(vec3(1.0 - free), vec3(free), ahead);
    vec3 next = (wall - start) * inverse;
    at = min(next.x, min(next.y, next.z));
    normal = vec3(lessThanEqual(next, vec3(at)));
    cell = clamp(mix(floor(start + ray * at), wall - 1.0 + ahead, normal), low, high - 1.0);
  }
  if (grade < least || at >= leave) discard;
  float light = dot(normal, vec3(0.72, 0.86, 1.0)) / dot(normal, vec3(1.0));
  color = vec4(tone(grade) * light, 1.0);
  vec4 clip = toClip * vec4(start + ray * at, 1.0);
  gl_FragDepth = clamp(0.5 + 0.5 * clip.z / clip.w, 0.0, 1.0);
}`;
