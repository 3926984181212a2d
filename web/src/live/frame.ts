import type { RoomFacts, Vector } from "./room_socket";

export interface Contact {
  /** Indices of the two solids among those of the scene. */
  solids: [number, number];
  point: Vector;
  /** On the first [N]. */
  force: Vector;
}

/** A state of one side of a room. */
export interface Frame {
  side: number;
  number: number;
  /** The number of the last inputs that it depends on. */
  heard: number;
  time: number;
  diverged: boolean;
  /** [x y z, wxyz] of every solid, one after the other. */
  poses: Float32Array;
  /** Of the joints, in their order. */
  positions: Float32Array;
  velocities: Float32Array;
  targets: Float32Array;
  /** The pull's force [N] and where it acts [m]; not numbers if there is none. */
  pull: Float32Array;
  /** Those of the greatest forces, and how many there are in all. */
  contacts: Contact[];
  contactCount: number;
}

const HEAD = 28;

/** Read a frame as the server packs it (kinetarium/interactive/simulation.py). */
export function readFrame(data: ArrayBuffer, side: number, facts: RoomFacts): Frame {
  const view = new DataView(data);
  let at = HEAD;
  const take = (count: number) => {
    const numbers = new Float32Array(data, at, count);
    at += 4 * count;
    return numbers;
  };
  const count = view.getUint16(22, true);
  const joints = facts.joints.length;
  const frame: Frame = {
    side,
    number: view.getUint32(4, true),
    heard: view.getUint32(8, true),
    time: view.getFloat64(12, true),
    contactCount: view.getUint16(20, true),
    diverged: view.getUint32(24, true) !== 0,
    poses: take(7 * facts.solids.length),
    positions: take(joints),
    velocities: take(joints),
    targets: take(joints),
    pull: take(6),
    contacts: [],
  };
  for (let i = 0; i < count; i++) {
    const [a, b, x, y, z, fx, fy, fz] = take(8) as unknown as number[];
    frame.contacts.push({ solids: [a!, b!], point: [x!, y!, z!], force: [fx!, fy!, fz!] });
  }
  return frame;
}
