import { Event } from "../shell/events";
import { type Frame, readFrame } from "./frame";

export type Vector = [number, number, number];

/** An object of a room, as the server takes it. */
export interface RoomObject {
  shape: "box" | "sphere" | "cylinder";
  size: Vector;
  mass: number;
  position: Vector;
  friction: number;
}

/** What is in a room, as the server takes it. */
export interface Setup {
  robot: string;
  engine: string;
  base: "fixed" | "free" | "planar" | null;
  servo: number;
  gravity: Vector;
  ground: boolean;
  friction: number;
  objects: RoomObject[];
}

export interface JointFacts {
  name: string;
  type: string;
  parent: string;
  child: string;
  axis: Vector;
  unit: "rad" | "m";
  lower: number | null;
  upper: number | null;
  velocity: number | null;
  effort: number | null;
  damping: number;
  mimic: string | null;
  line: number | null;
}

export interface SolidFacts {
  name: string;
  label: string;
  inertia: { mass: number; center: Vector; moment: Vector[]; box: Vector; axes: [number, number, number, number] } | null;
  joint: JointFacts | null;
  collisions: number;
  visuals: number;
  /** Whether it moves when it is pulled. */
  pulled: boolean;
}

export interface Finding {
  level: "error" | "warning" | "note";
  code: string;
  text: string;
  line: number | null;
  file: string;
}

/** What one side of a room consists of. */
export interface RoomFacts {
  engine: string;
  title: string;
  timestep: number;
  can_pull: boolean;
  solids: SolidFacts[];
  scene_solids: string[];
  joints: (JointFacts & { home: number; driven: boolean })[];
  findings: Finding[];
  name: string;
}

export interface Pull {
  solid: string;
  point: Vector;
  target: Vector;
}

export interface Inputs {
  mode: "servo" | "kinematic";
  targets: Record<string, number>;
  pull: Pull | null;
}

export type News =
  | { type: "opened"; side: number; facts: RoomFacts }
  | { type: "refused"; side: number; message: string; findings?: Finding[] }
  | { type: "crashed"; side: number; message: string }
  | { type: "diverged"; side: number }
  | { type: "pace"; factor: number; rate: number; cost: number; step: number }
  | { type: "error" | "full" | "ended"; message: string };

const [FRAME, ROBOT] = [0, 1];

/** The connection to a room of the server; the room lives as long as it does. */
export class RoomSocket {
  readonly news = new Event<News>();
  readonly frame = new Event<Frame>();
  /** Meshes of a side have come: those for display, or the collision shapes. */
  readonly meshes = new Event<{ side: number; collisions: boolean; file: Uint8Array }>();
  readonly closed = new Event();
  /** Frames that came, and those that did not, by their numbers. */
  readonly counts = { frames: 0, lost: 0, disordered: 0 };
  private readonly facts: RoomFacts[] = [];
  private readonly last: number[] = [];
  private readonly socket: WebSocket;
  private readonly waiting: string[] = [];
  private number = 0;
  private sent = "";

  constructor() {
    this.socket = new WebSocket(`ws://${location.host}/room`);
    this.socket.binaryType = "arraybuffer";
    this.socket.addEventListener("open", () => {
      for (const text of this.waiting.splice(0)) this.socket.send(text);
    });
    this.socket.addEventListener("message", (event) => this.heard(event.data as string | ArrayBuffer));
    this.socket.addEventListener("close", () => this.closed.emit());
  }

  open(sides: Setup[]): void {
    this.sent = "";
    this.send({ type: "open", sides });
  }

  run(on: boolean, speed: number): void {
    this.send({ type: "run", on, speed });
  }

  step(steps: number): void {
    this.send({ type: "step", steps });
  }

  reset(): void {
    this.send({ type: "reset" });
  }

  /** Send what acts on the room from now on, unless it is what acts already; gives its number. */
  inputs(inputs: Inputs): number {
    const text = JSON.stringify(inputs);
    if (text !== this.sent) {
      this.sent = text;
      this.send({ type: "inputs", number: ++this.number, ...inputs });
    }
    return this.number;
  }

  close(): void {
    this.socket.close();
  }

  private send(message: Record<string, unknown>): void {
    const text = JSON.stringify(message);
    if (this.socket.readyState === WebSocket.CONNECTING) this.waiting.push(text);
    else if (this.socket.readyState === WebSocket.OPEN) this.socket.send(text);
  }

  private heard(data: string | ArrayBuffer): void {
    if (typeof data === "string") {
      const news = JSON.parse(data) as News;
      if (news.type === "opened") this.facts[news.side] = news.facts;
      this.news.emit(news);
      return;
    }
    const [kind, side] = new Uint8Array(data, 0, 2) as unknown as [number, number];
    if (kind !== FRAME) {
      this.meshes.emit({ side, collisions: kind !== ROBOT, file: new Uint8Array(data, 4) });
      return;
    }
    const frame = readFrame(data, side, this.facts[side]!);
    this.count(frame);
    this.frame.emit(frame);
  }

  private count({ side, number }: Frame): void {
    this.counts.frames++;
    const last = this.last[side];
    this.last[side] = number;
    if (last === undefined) return;
    if (number <= last) this.counts.disordered++;
    else this.counts.lost += number - last - 1;
  }
}
