/** Plans and facts of walks as the server reads and writes them; lengths in the machine's unit. */

export type Kind = "ttt1" | "ttt2" | "ttr";
export type Point = [x: number, y: number];

export const KINDS: Kind[] = ["ttt1", "ttt2", "ttr"];
/** The machine's unit of length on the stage [m]. */
export const UNIT = 0.01;
export const LEG_NAMES = ["rear right", "front right", "rear left", "front left"];
/** The rows of the paper's Table 1. */
export const TABLE_1: Record<number, number[]> = {
  1: [1, 2, 3, 4],
  2: [3, 4, 1, 2],
  3: [1, 4, 3, 2],
  4: [3, 2, 1, 4],
  5: [2, 1, 4, 3],
  6: [4, 3, 2, 1],
  7: [4, 1, 2, 3],
  8: [2, 3, 4, 1],
};

/** A prism along z: one link as it is seen. */
export interface LinkShape {
  name: string;
  section: Point[];
  top: number;
  bottom: number;
  /** Distance of the pivots between which it was drawn; 0 if it keeps its size. */
  length: number;
}

export interface Machine {
  kind: Kind;
  l1: number;
  l2: number;
  gain: number;
  rail_height: number;
  body_length: number;
  body_width: number;
  foot_offset: number;
  foot_forward: number;
  com: Point;
  lateral_stroke: number;
  turn_limit_deg: number;
  /** Of the links that are no plain bars. */
  shapes: LinkShape[];
}

export interface Block {
  x0: number;
  x1: number;
  y0: number;
  y1: number;
  height: number;
}

/** Heights on a grid: rows along x. */
export interface HeightMap {
  heights: number[][];
  cell: number;
  x0: number;
  y0: number;
}

export interface Terrain {
  slope_deg: number;
  slope_from: number;
  steps: Block[];
  clearance: number;
  map?: HeightMap | null;
}

export type Heading = "turn" | "crab" | "spin";

/** A further part of the path, which begins where the one before ends. */
export interface Segment {
  heading: Heading;
  /** After the point at which it begins; none for a spin. */
  waypoints: Point[];
  curve: "spline" | "bezier";
  spin_deg: number;
}

export interface Plan {
  machine: Machine;
  waypoints: Point[];
  curve: "spline" | "bezier";
  heading: Heading;
  heading_deg: number;
  spin_deg: number;
  segments: Segment[];
  stride: number;
  lift: number;
  sway: number;
  /** Share of the ground's slope by which the body tilts. */
  tilt?: number;
  timing: "paper" | "two-phase";
  /** Empty for the best of all. */
  order: number[];
  /** Whether each cycle has the order of Table 1 for its direction. */
  by_region: boolean;
  frames_per_step: number;
  step_time: number;
  terrain: Terrain;
}

export interface WalkWarning {
  kind: string;
  frame: number;
  leg: number;
  step: number;
  amount: number;
  text: string;
}

/** What is known of a walk beside its pictures. */
export interface Facts {
  kind: Kind;
  frames: number;
  order: number[];
  table1_row: number;
  /** The row of Table 1 of each cycle, if orders follow the direction. */
  rows: number[];
  stride: number;
  way: number;
  min_margin: number;
  mean_margin: number;
  foot_gap: number;
  joint_travel: [number, number, number];
  drive_work: number;
  walking_volume: number;
  height: number;
  reach: [number, number];
  /** The links of a left leg as they are drawn. */
  shapes: LinkShape[];
  /** Leg, last frame on the ground, first frame on it again. */
  steps: [leg: number, first: number, last: number][];
  /** Where the body is at each cycle: x, y, heading [rad]. */
  markers: [x: number, y: number, heading: number][];
  warnings: WalkWarning[];
  warning_count: number;
  /** The change of the plan that leaves no warning of a kind, where one was tried. */
  cures?: Record<string, Partial<Plan>>;
  /** Parts that are in the body or in another leg, from frame to frame. */
  interference: [part: string, first: number, last: number][];
}

/** Paths to begin with. */
export const PRESETS: Record<string, Pick<Plan, "waypoints" | "heading" | "segments">> = {
  straight: { waypoints: [[0, 0], [128, 0]], heading: "turn", segments: [] },
  curve: { waypoints: [[0, 0], [135, 20], [265, 80], [360, 180]], heading: "turn", segments: [] },
  side: { waypoints: [[0, 0], [0, 64]], heading: "crab", segments: [] },
  spin: { waypoints: [[0, 0]], heading: "spin", segments: [] },
  mixed: {
    waypoints: [[0, 0], [80, 0]],
    heading: "turn",
    segments: [
      { heading: "crab", waypoints: [[80, 48]], curve: "spline", spin_deg: 90 },
      { heading: "spin", waypoints: [], curve: "spline", spin_deg: 90 },
      { heading: "turn", waypoints: [[80, 112]], curve: "spline", spin_deg: 90 },
    ],
  },
};

/** How many waypoints a plan needs before it can be walked. */
export function fewestWaypoints(plan: Plan): number {
  return plan.heading === "spin" ? 1 : 2;
}
