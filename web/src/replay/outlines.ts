import * as THREE from "three";

/** Faces that meet at a greater angle make an edge that is always drawn. */
const CREASE = Math.cos(THREE.MathUtils.degToRad(35));
/** How near corners must be to count as one, by the size of the mesh. */
const WELD = 1e-5;

/** The lines of a mesh: edges that are always seen, and those that are where the surface turns away. */
export interface Outlines {
  edges: THREE.BufferGeometry;
  contours: THREE.BufferGeometry;
}

/**
 * Find the lines of a mesh. Of a curved surface no edge is sharp: whether an edge is on the
 * contour depends on the eye, and is decided by the graphics card, which gets the normals of
 * both its faces.
 */
export function outlinesOf(geometry: THREE.BufferGeometry): Outlines {
  const [points, faces] = welded(geometry);
  const normals = faces.map(([a, b, c]) => {
    const [p, q, r] = [points[a]!, points[b]!, points[c]!];
    return q.clone().sub(p).cross(r.clone().sub(p)).normalize();
  });
  const sides = new Map<number, number[]>();
  faces.forEach((face, f) => {
    face.forEach((a, k) => {
      const b = face[(k + 1) % 3]!;
      const key = Math.min(a, b) * points.length + Math.max(a, b);
      const found = sides.get(key);
      if (found) found.push(f);
      else sides.set(key, [f]);
    });
  });
  const edges: number[] = [];
  const contours: Record<"position" | "origin" | "left" | "right", number[]> = { position: [], origin: [], left: [], right: [] };
  for (const [key, [f, g, ...more]] of sides) {
    const [p, q] = [points[Math.floor(key / points.length)]!, points[key % points.length]!];
    if (g === undefined || more.length || normals[f!]!.dot(normals[g]!) < CREASE) {
      edges.push(...p.toArray(), ...q.toArray());
      continue;
    }
    for (const end of [p, q]) {
      contours.position.push(...end.toArray());
      contours.origin.push(...p.toArray());
      contours.left.push(...normals[f!]!.toArray());
      contours.right.push(...normals[g]!.toArray());
    }
  }
  const lines = new THREE.BufferGeometry();
  for (const [name, values] of Object.entries(contours)) lines.setAttribute(name, new THREE.Float32BufferAttribute(values, 3));
  return { edges: new THREE.BufferGeometry().setAttribute("position", new THREE.Float32BufferAttribute(edges, 3)), contours: lines };
}

/** Join the corners of one place, which have a normal each where the surface is sharp. */
function welded(geometry: THREE.BufferGeometry): [points: THREE.Vector3[], faces: [number, number, number][]] {
  const positions = geometry.getAttribute("position");
  const index = geometry.getIndex();
  geometry.computeBoundingBox();
  const grain = Math.max(geometry.boundingBox!.getSize(new THREE.Vector3()).length(), 1e-9) * WELD;
  const known = new Map<string, number>();
  const points: THREE.Vector3[] = [];
  const of = Array.from({ length: positions.count }, (_, i) => {
    const point = new THREE.Vector3().fromBufferAttribute(positions, i);
    const key = point.toArray().map((value) => Math.round(value / grain)).join();
    const found = known.get(key);
    if (found !== undefined) return found;
    known.set(key, points.length);
    return points.push(point) - 1;
  });
  const faces: [number, number, number][] = [];
  const count = index?.count ?? positions.count;
  for (let i = 0; i < count; i += 3) {
    const [a, b, c] = [i, i + 1, i + 2].map((corner) => of[index ? index.getX(corner) : corner]!) as [number, number, number];
    if (a !== b && b !== c && c !== a) faces.push([a, b, c]);
  }
  return [points, faces];
}

/** Draws those edges of which one face is seen and the other is not. */
export class ContourMaterial extends THREE.ShaderMaterial {
  constructor(color?: THREE.ColorRepresentation) {
    super({ uniforms: { ink: { value: new THREE.Color(color) } }, vertexShader: VERTEX, fragmentShader: FRAGMENT });
  }

  get color(): THREE.Color {
    return this.uniforms.ink!.value as THREE.Color;
  }
}

const VERTEX = /* glsl */ `
attribute vec3 origin, left, right;
void main() {
  // Both ends of an edge must decide alike, so that they look at the same point.
  vec3 toEye = isOrthographic ? vec3(0.0, 0.0, 1.0) : -(modelViewMatrix * vec4(origin, 1.0)).xyz;
  float seen = dot(normalMatrix * left, toEye) * dot(normalMatrix * right, toEye);
  gl_Position = seen <= 0.0 ? projectionMatrix * modelViewMatrix * vec4(position, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
}`;

const FRAGMENT = /* glsl */ `
uniform vec3 ink;
void main() {
  gl_FragColor = vec4(ink, 1.0);
  #include <colorspace_fragment>
}`;
