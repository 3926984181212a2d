import * as THREE from "three";
import type { App } from "../app";
import { Event } from "../shell/events";
import { Forces } from "./forces";
import type { Frame } from "./frame";
import { type Finding, type Inputs, type News, type Pull, type RoomFacts, RoomSocket, type Setup } from "./room_socket";
import { Side } from "./side";

/** Frames and waits that are kept for their statistics. */
const KEPT = 200;

/** A live room: what is in it, on the stage, and what is done to it. */
export class Room {
  sides: Side[] = [];
  readonly forces: Forces[] = [];
  /** Sides were built, or are gone. */
  readonly changed = new Event();
  /** A frame of the first side has come. */
  readonly moved = new Event<Frame>();
  /** Whether time passes, as it was asked for. */
  readonly state = new Event();
  /** A robot file or a setup was refused. */
  readonly refused = new Event<{ message: string; findings: Finding[] }>();
  playing = false;
  speed = 1;
  pace = { factor: 0, rate: 0 };
  /** What went wrong last, until something is opened again. */
  trouble = "";
  busy = false;
  readonly inputs: Inputs = { mode: "servo", targets: {}, pull: null };
  /** How long pulls took from the mouse to the picture [ms]. */
  readonly waits: number[] = [];
  private socket: RoomSocket;
  private setups: Setup[] = [];
  private readonly facts: RoomFacts[] = [];
  private readonly drawn: (() => void)[];
  private asked: { number: number; at: number } | null = null;
  private answered: { at: number } | null = null;
  private building: Promise<void> = Promise.resolve();
  private fresh = true;
  private gone = false;

  constructor(
    private readonly app: App,
    private readonly overlay: HTMLElement,
  ) {
    this.socket = this.connect();
    this.drawn = [
      app.stage.drawn.on(() => this.sawIt()),
      app.stage.update.on(() => this.showForces()),
    ];
  }

  get counts(): RoomSocket["counts"] {
    return this.socket.counts;
  }

  get first(): Side | null {
    return this.sides[0] ?? null;
  }

  /** Build one or two sides; what has the same name stays where it is. */
  open(setups: Setup[], keep = true): void {
    if (this.gone || this.trouble || !keep) this.renew();
    this.fresh ||= !keep || setups.length !== this.setups.length;
    this.setups = setups;
    [this.trouble, this.busy] = ["", true];
    this.inputs.pull = null;
    this.inputs.targets = {};
    this.socket.open(setups);
    this.socket.run(this.playing, this.speed);
    this.state.emit();
  }

  run(on: boolean, speed = this.speed): void {
    [this.playing, this.speed] = [on, speed];
    this.socket.run(on, speed);
    if (!on) this.pace = { factor: 0, rate: 0 };
    this.state.emit();
  }

  step(): void {
    this.playing = false;
    this.socket.step(1);
    this.state.emit();
  }

  reset(): void {
    this.inputs.targets = {};
    this.inputs.pull = null;
    this.socket.reset();
    this.changed.emit();
  }

  setTarget(joint: string, value: number): void {
    this.inputs.targets[joint] = value;
    this.socket.inputs(this.inputs);
  }

  setMode(mode: Inputs["mode"]): void {
    this.inputs.mode = mode;
    this.socket.inputs(this.inputs);
  }

  setPull(pull: Pull | null): void {
    this.inputs.pull = pull;
    const number = this.socket.inputs(this.inputs);
    // One at a time is waited for: how long until the picture has what the mouse did?
    if (pull && !this.asked && !this.answered) this.asked = { number, at: performance.now() };
  }

  close(): void {
    this.gone = true;
    for (const stop of this.drawn) stop();
    this.socket.close();
    this.clear();
    this.app.stage.setPanes([]);
  }

  /** Look at all there is. */
  look(): void {
    const box = new THREE.Box3();
    for (const side of this.sides) box.union(side.box());
    if (box.isEmpty()) return;
    const size = box.getSize(new THREE.Vector3()).length();
    box.expandByScalar(size * 0.08);
    this.app.stage.viewpoint.fit(box);
    this.app.stage.ground.lay(box.getCenter(new THREE.Vector3()).setZ(0), Math.max(2 * size, 2));
    this.app.stage.request();
  }

  /** Set how long arrows are by the size of everything. */
  private setScale(): void {
    const size = this.first?.box().getSize(new THREE.Vector3()).length() ?? 1;
    for (const forces of this.forces) forces.size = Math.min(Math.max(size, 0.2), 5);
  }

  private connect(): RoomSocket {
    const socket = new RoomSocket();
    socket.news.on((news) => this.hear(news));
    socket.meshes.on(({ side, collisions, file }) => {
      // One after the other: collision shapes belong to the side that is built before.
      const built = this.building.then(() => this.app.guarded(() => this.build(side, collisions, file)));
      this.building = built;
    });
    socket.frame.on((frame) => this.take(frame));
    socket.closed.on(() => {
      if (socket !== this.socket || this.gone) return;
      this.playing = this.busy = false;
      this.trouble ||= "The connection to the room is lost.";
      this.state.emit();
    });
    return socket;
  }

  /** Begin with a new connection, and so with new processes. */
  private renew(): void {
    const old = this.socket;
    this.socket = this.connect();
    old.close();
    this.facts.length = 0;
    this.fresh = true;
  }

  private hear(news: News): void {
    switch (news.type) {
      case "opened":
        this.facts[news.side] = news.facts;
        return;
      case "pace":
        this.pace = news;
        break;
      case "error":
        this.busy = false;
        this.app.layout.notice(news.message, "error");
        break;
      case "refused":
        [this.playing, this.busy] = [false, false];
        this.app.layout.notice(news.message, "error");
        this.refused.emit({ message: news.message, findings: news.findings ?? [] });
        break;
      default: {
        [this.playing, this.busy] = [false, false];
        const engine = this.setups["side" in news ? news.side : 0]?.engine ?? "";
        this.trouble =
          news.type === "crashed" ? `${engine} ${news.message.startsWith("crashed") ? news.message : `stopped: ${news.message}`}`
          : news.type === "diverged" ? `The simulation by ${engine} has diverged; reset it.`
          : news.message;
        if (news.type === "diverged") {
          this.app.layout.notice(this.trouble, "error");
          this.trouble = "";
        }
      }
    }
    this.state.emit();
  }

  private async build(index: number, collisions: boolean, file: Uint8Array): Promise<void> {
    const color = this.app.theme.series(index);
    if (collisions) {
      await this.sides[index]?.addShapes(file, "#28b584");
      this.changed.emit();
      return;
    }
    const side = await Side.make(this.facts[index]!, file, color);
    if (this.gone) return side.dispose();
    this.sides[index]?.dispose();
    this.sides[index] = side;
    for (const extra of this.sides.splice(this.setups.length)) extra.dispose();
    side.actor.setStyle("shaded", this.app.theme.color("stage"), this.app.theme.color("ink"));
    this.arrange();
    if (this.sides.filter(Boolean).length < this.setups.length) return;
    this.busy = false;
    if (this.fresh) this.look();
    this.fresh = false;
    this.setScale();
    this.changed.emit();
    this.state.emit();
  }

  private arrange(): void {
    const { app } = this;
    for (const forces of this.forces.splice(0)) forces.dispose();
    for (const side of this.sides.filter(Boolean)) {
      app.stage.scene.add(side.object);
      const forces = new Forces(app);
      side.object.add(forces.object);
      this.overlay.append(forces.labels);
      this.forces.push(forces);
    }
    const panes = this.sides.filter(Boolean).map((side) => ({ title: side.facts.title, objects: [side.object] }));
    app.stage.setPanes(panes.length > 1 ? panes : [], panes.length);
    app.stage.request();
  }

  private take(frame: Frame): void {
    const side = this.sides[frame.side];
    if (!side || side.facts.solids.length * 7 !== frame.poses.length) return;
    side.show(frame);
    if (frame.side === 0) this.moved.emit(frame);
    if (this.asked && frame.side === 0 && frame.heard >= this.asked.number) {
      this.answered = { at: this.asked.at };
      this.asked = null;
    }
    this.app.stage.request();
  }

  /** A picture was drawn: a pull that it shows has been answered. */
  private sawIt(): void {
    if (!this.answered) return;
    this.waits.push(performance.now() - this.answered.at);
    if (this.waits.length > KEPT) this.waits.shift();
    this.answered = null;
  }

  private showForces(): void {
    const columns = Math.max(1, this.sides.length);
    this.sides.forEach((side, i) => {
      if (side?.frame) this.forces[i]?.show(side.frame, columns > 1 ? i : 0, columns);
    });
  }

  private clear(): void {
    for (const forces of this.forces.splice(0)) forces.dispose();
    for (const side of this.sides.splice(0)) side?.dispose();
  }
}
