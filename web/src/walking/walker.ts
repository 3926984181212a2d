import type { Actor } from "../replay/actor";
import type { Facts } from "./plan";
import type { Markers } from "./markers";
import type { Support } from "./support";

/** One machine on its walk: what is seen of it, and its numbers over time. */
export interface Walker {
  facts: Facts;
  actor: Actor;
  support: Support;
  markers: Markers;
  numbers: Numbers;
}

/** Quantities of every frame, those of one column one after the other. */
export interface Numbers {
  /** h_x, h_y or omega [rad], v_z of legs 1 to 4: twelve columns [unit]. */
  joints: Float32Array;
  /** Angles of thigh, shank and hinge of legs 1 to 4: twelve columns [deg]. */
  angles: Float32Array;
  /** One column [unit]. */
  margin: Float32Array;
  /** x, y, z: three columns [m]. */
  com: Float32Array;
  /** x, y, z of legs 1 to 4: twelve columns [m]. */
  feet: Float32Array;
  /** 1 where a foot carries: four columns. */
  support: Float32Array;
}
