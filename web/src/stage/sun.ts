import * as THREE from "three";

/** From where it shines. */
const FROM = new THREE.Vector3(2, -3, 5);
/** Corners of its shadows' picture [px]. */
const FINENESS = 1024;
const BELOW = 5e-4;

/** The light that casts shadows, on the plane z = 0 and on what stands still. */
export class Sun {
  readonly object = new THREE.Group();
  /** Whether shadows are drawn. */
  shadows = true;
  private readonly light = new THREE.DirectionalLight(0xffffff, 2);
  private readonly ground = new THREE.Mesh(new THREE.PlaneGeometry(), new THREE.ShadowMaterial({ opacity: 0.22 }));

  constructor() {
    const { light, ground } = this;
    light.castShadow = true;
    light.shadow.mapSize.set(FINENESS, FINENESS);
    light.shadow.radius = 3;
    ground.receiveShadow = true;
    this.object.add(light, light.target, ground);
    this.aim(new THREE.Box3(new THREE.Vector3(-1, -1, 0), new THREE.Vector3(1, 1, 1)));
  }

  /** Let shadows fall from all that is within a box. */
  aim(box: THREE.Box3): void {
    const { light, ground } = this;
    const center = box.getCenter(new THREE.Vector3());
    const radius = Math.max(box.getSize(new THREE.Vector3()).length() / 2, 1e-3) * 1.1;
    light.target.position.copy(center);
    light.position.copy(FROM).setLength(4 * radius).add(center);
    const { camera } = light.shadow;
    [camera.left, camera.right, camera.bottom, camera.top] = [-radius, radius, -radius, radius];
    [camera.near, camera.far] = [radius, 10 * radius];
    camera.updateProjectionMatrix();
    light.shadow.normalBias = radius / 200;
    light.shadow.bias = -1e-3;
    ground.position.set(center.x, center.y, -BELOW);
    ground.scale.setScalar(8 * radius);
  }

  /** Draw shadows in the next picture, or not. */
  cast(renderer: THREE.WebGLRenderer): void {
    this.ground.visible = this.light.castShadow = this.shadows;
    renderer.shadowMap.enabled = true;
    renderer.shadowMap.type = THREE.PCFShadowMap;
  }
}
