import * as THREE from "three";
import {
  mergeGeometries,
  mergeVertices,
  toCreasedNormals,
} from "three/addons/utils/BufferGeometryUtils.js";
import type { MeshEntry, SolidEntry } from "./replay_file";

const CREASE = THREE.MathUtils.degToRad(32);
const STEPS = 65535;
/** How near places [m] and normals must be to count as one. */
const TOLERANCE = 1e-6;

/** Give the triangles of every mesh of a block, edges sharp where faces meet at an angle. */
export function readMeshes(block: Uint8Array<ArrayBuffer>, entries: MeshEntry[]): THREE.BufferGeometry[] {
  let at = 0;
  const even = (bytes: number) => bytes + ((4 - (bytes % 4)) % 4);
  return entries.map((entry) => {
    const corners = new Uint16Array(block.buffer, at, entry.vertices * 3);
    at += even(corners.byteLength);
    const wide = entry.vertices > STEPS + 1;
    const faces = new (wide ? Uint32Array : Uint16Array)(block.buffer, at, entry.faces * 3);
    at += even(faces.byteLength);
    const positions = new Float32Array(corners.length);
    for (let i = 0; i < corners.length; i++) {
      positions[i] = entry.low[i % 3]! + (entry.size[i % 3]! * corners[i]!) / STEPS;
    }
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(positions, 3));
    geometry.setIndex(new THREE.BufferAttribute(faces, 1));
    // Corners of the same place and normal are one again: half as much to draw.
    return mergeVertices(toCreasedNormals(geometry, CREASE), TOLERANCE);
  });
}

/** Merge the display meshes of a solid into one geometry with colours at its corners; null if it has none. */
export function solidGeometry(solid: SolidEntry, meshes: THREE.BufferGeometry[]): THREE.BufferGeometry | null {
  const parts = solid.coats.map(({ mesh, color }) => {
    const geometry = meshes[mesh]!.clone();
    const count = geometry.getAttribute("position").count;
    const tone = new THREE.Color().setRGB(color[0], color[1], color[2], THREE.SRGBColorSpace);
    const colors = new Float32Array(count * 3);
    for (let i = 0; i < count; i++) tone.toArray(colors, i * 3);
    geometry.setAttribute("color", new THREE.BufferAttribute(colors, 3));
    return geometry;
  });
  if (!parts.length) return null;
  return parts.length === 1 ? parts[0]! : mergeGeometries(parts);
}
