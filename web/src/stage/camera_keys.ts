import * as THREE from "three";
import type { App } from "../app";
import { h } from "../shell/dom";

/** By how much a key press turns the camera [rad], moves it [parts of its distance], and zooms. */
const TURN = Math.PI / 24;
const MOVE = 0.06;
const ZOOM = 1.15;
/** How near the camera may come to straight above or below [rad]; there its up is no longer up. */
const POLE = 1e-3;

/** Where from things are looked at: from the front, x comes towards the eye. */
const STANDARD: [key: string, name: string, from: [number, number, number]][] = [
  ["1", "front", [1, 0, 0]],
  ["2", "side", [0, -1, 0]],
  ["3", "top", [0, -POLE, 1]],
  ["4", "iso", [1, -1, Math.SQRT2 * Math.tan(Math.asin(Math.tan(Math.PI / 6)))]],
];

/** Move the camera by keys, and look from the standard directions. */
export function cameraKeys(app: App): void {
  const { stage, keys } = app;
  const { viewpoint } = stage;
  const done = (action: () => void) => () => {
    action();
    viewpoint.controls.update();
    stage.request();
  };
  const turn = (around: number, up: number) => done(() => {
    const offset = new THREE.Spherical().setFromVector3(zUp(viewpoint.camera.position.clone().sub(viewpoint.target)));
    offset.theta += around;
    offset.phi = Math.min(Math.max(offset.phi - up, POLE), viewpoint.controls.maxPolarAngle);
    viewpoint.camera.position.copy(yUp(new THREE.Vector3().setFromSpherical(offset))).add(viewpoint.target);
  });
  const move = (right: number, up: number) => done(() => {
    const { camera } = viewpoint;
    const reach = MOVE * viewpoint.height;
    const across = new THREE.Vector3().setFromMatrixColumn(camera.matrixWorld, 0).multiplyScalar(right * reach);
    viewpoint.shift(across.addScaledVector(new THREE.Vector3().setFromMatrixColumn(camera.matrixWorld, 1), up * reach));
  });
  const arrows: [key: string, x: number, y: number][] = [
    ["ArrowLeft", -1, 0], ["ArrowRight", 1, 0], ["ArrowUp", 0, 1], ["ArrowDown", 0, -1],
  ];
  for (const [key, x, y] of arrows) {
    keys.add(`Shift+${key}`, "turn the camera", turn(x * TURN, y * TURN));
    keys.add(`Ctrl+${key}`, "move the camera", move(x, y));
  }
  const closer = done(() => viewpoint.closer(ZOOM));
  keys.add("+", "zoom in", closer);
  keys.add("=", "", closer); // where + needs Shift
  keys.add("-", "zoom out", done(() => viewpoint.closer(1 / ZOOM)));
  const buttons = STANDARD.map(([key, name, from]) => {
    const look = done(() => viewpoint.lookFrom(new THREE.Vector3(...from)));
    keys.add(key, `${name} view`, look);
    return h("button", { title: `Look from: ${name} (${key})`, "aria-label": `View from: ${name}`, onclick: look }, name);
  });
  app.layout.camera.prepend(h("div.views", { role: "group", "aria-label": "Standard views" }, ...buttons));
}

/** Spherical coordinates have y up, the stage has z up. */
function zUp(vector: THREE.Vector3): THREE.Vector3 {
  return vector.set(vector.y, vector.z, vector.x);
}

function yUp(vector: THREE.Vector3): THREE.Vector3 {
  return vector.set(vector.z, vector.x, vector.y);
}
