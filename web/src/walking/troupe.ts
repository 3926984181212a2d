import * as THREE from "three";
import type { App } from "../app";
import { Actor } from "../replay/actor";
import { Cast } from "../replay/cast";
import { ReplayFile } from "../replay/replay_file";
import { Event } from "../shell/events";
import { Markers } from "./markers";
import type { Machine } from "./plan";
import type { PlannedWalk } from "./planner";
import { Support } from "./support";
import type { Numbers, Walker } from "./walker";

const UP = new THREE.Vector3(0, 0, 1);
/** Where the eye is at first, in narrow panes over the path, and beside a leg. */
const FIRST = new THREE.Vector3(2.2, -2.6, 1.6);
const RAISED = new THREE.Vector3(0, 0, 0.7);
const SIDE = new THREE.Vector3(0.4, -1, 0.25);
const CHANNELS = ["joints", "margin", "com", "feet", "support"] as const;

/** The machines that walk: one, or several side by side. */
export class Troupe {
  readonly cast: Cast;
  walkers: Walker[] = [];
  /** Which of them the windows tell of. */
  chosen = 0;
  showSupport = true;
  showMarkers = true;
  /** Other walks are on the stage, or another is chosen. */
  readonly changed = new Event();
  private readonly stop: () => void;
  private turn = 0;
  /** Whether the eye was turned away from where the user had it. */
  private turned = false;

  constructor(readonly app: App) {
    this.cast = new Cast(app);
    this.cast.arrangement = "beside";
    this.stop = app.stage.update.on(() => this.update());
  }

  /** The walk that the windows tell of. */
  get walker(): Walker | undefined {
    return this.walkers[Math.min(this.chosen, this.walkers.length - 1)];
  }

  /** The frame that is shown. */
  get frame(): number {
    return this.walker?.actor.file.sampleAt(this.app.clock.time) ?? 0;
  }

  choose(index: number): void {
    this.chosen = index;
    this.changed.emit();
  }

  /** Show a frame. */
  goTo(frame: number): void {
    const time = this.walker?.actor.file.time[frame];
    if (time === undefined) return;
    this.app.clock.pause();
    this.app.clock.set(time);
  }

  /** Put walks on the stage instead of those that are there; the eye stays where it is. */
  async show(walks: PlannedWalk[], machine: Machine): Promise<void> {
    const turn = ++this.turn;
    const made = await Promise.all(walks.map((walk, i) => this.make(walk, machine, i)));
    if (turn !== this.turn) {
      for (const { actor } of made) actor.dispose();
      return;
    }
    const { cast, app } = this;
    for (const actor of cast.actors.splice(0)) actor.dispose();
    this.walkers = made;
    for (const { actor } of made) {
      cast.actors.push(actor);
      app.stage.scene.add(actor.object);
      actor.file.arrived.on(() => app.stage.request());
      void app.guarded(() => actor.file.loadAll(app.clock.time));
    }
    cast.arrange();
    this.changed.emit();
    this.arrange();
  }

  /** Look at the whole walk; narrow panes look along it. */
  look(): void {
    const { stage } = this.app;
    this.cast.frame();
    const narrow = stage.columns > 1;
    if (narrow || this.turned) {
      const box = new THREE.Box3();
      for (const actor of this.cast.actors) box.union(actor.box());
      stage.viewpoint.fit(box, narrow ? this.along().applyAxisAngle(UP, -0.5).add(RAISED) : FIRST);
    }
    this.turned = narrow;
    stage.request();
  }

  /** Look at one leg from its side. */
  lookAtLeg(): void {
    const box = new THREE.Box3();
    for (const part of this.walker?.actor.object.children ?? []) {
      if (part.name.startsWith("leg1/")) box.expandByObject(part);
    }
    this.app.stage.viewpoint.fit(box, SIDE);
    this.turned = true;
    this.app.stage.request();
  }

  /** The direction from the start of the walk to its end. */
  private along(): THREE.Vector3 {
    const { markers } = this.walker!.facts;
    const [from, to] = [markers[0]!, markers.at(-1)!];
    return new THREE.Vector3(to[0] - from[0], to[1] - from[1], 0).normalize();
  }

  /** Set what is shown on the ground. */
  arrange(): void {
    for (const { support, markers } of this.walkers) {
      support.object.visible = this.showSupport;
      markers.object.visible = this.showMarkers;
    }
    this.app.stage.request();
  }

  clear(): void {
    this.turn++;
    this.stop();
    this.cast.clear();
    this.walkers = [];
  }

  private async make({ facts, source }: PlannedWalk, machine: Machine, index: number): Promise<Walker> {
    const file = await ReplayFile.open(source);
    const color = this.app.theme.series(index);
    const actor = await Actor.make(file, color, this.app.clock.time);
    const values = await Promise.all(
      CHANNELS.map((name) => file.channel(file.head.channels.find((entry) => entry.name === name)!)),
    );
    const numbers = Object.fromEntries(CHANNELS.map((name, i) => [name, values[i]])) as unknown as Numbers;
    const support = new Support(numbers, facts.frames);
    const markers = new Markers(facts, machine, color);
    actor.object.add(support.object, markers.object);
    return { facts, actor, support, markers, numbers };
  }

  private update(): void {
    for (const { actor, support } of this.walkers) support.setTime(...actor.file.place(this.app.clock.time));
  }
}
