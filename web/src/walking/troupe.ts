import * as THREE from "three";
import type { App } from "../app";
import { Actor } from "../replay/actor";
import { Cast } from "../replay/cast";
import { ReplayFile } from "../replay/replay_file";
import { Event } from "../shell/events";
import { groundHeight } from "./ground";
import { Markers } from "./markers";
import { type Plan, UNIT } from "./plan";
import type { PlannedWalk } from "./planner";
import { Support } from "./support";
import type { Numbers, Walker } from "./walker";

const UP = new THREE.Vector3(0, 0, 1);
/** Where the eye is at first, how high it is over the path in narrow panes, and beside a leg. */
const FIRST = new THREE.Vector3(2.2, -2.6, 1.6);
const RAISED = new THREE.Vector3(0, 0, 0.7);
/** What a machine needs around the middle of its body, by its height: on the ground, and above. */
const CORNERS = [[-0.7, -0.7, 0], [0.7, -0.7, 0], [0.7, 0.7, 0], [-0.7, 0.7, 0], [0, 0, 1.1]] as const;
const SIDE = new THREE.Vector3(0.4, -1, 0.25);
const CHANNELS = ["joints", "angles", "margin", "com", "feet", "support"] as const;

/** The machines that walk: one, or several side by side. */
export class Troupe {
  readonly cast: Cast;
  walkers: Walker[] = [];
  /** Which of them the windows tell of. */
  chosen = 0;
  /** The leg that is worked on, 1 to 4; 0 for none. */
  leg = 0;
  showSupport = true;
  showMarkers = true;
  /** Other walks are on the stage, or another is chosen. */
  readonly changed = new Event();
  /** Another leg is chosen. */
  readonly picked = new Event();
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
  async show(walks: PlannedWalk[], plan: Plan): Promise<void> {
    const turn = ++this.turn;
    const made = await Promise.all(walks.map((walk, i) => this.make(walk, plan, i)));
    if (turn !== this.turn) {
      for (const { actor } of made) actor.dispose();
      return;
    }
    const { cast, app } = this;
    this.retire(cast.actors.splice(0));
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
    const { narrow } = stage;
    if (narrow) this.lookAlong();
    else if (this.turned) {
      const box = new THREE.Box3();
      for (const actor of this.cast.actors) box.union(actor.box());
      stage.viewpoint.fit(box, FIRST);
    }
    this.turned = narrow;
    stage.request();
  }

  /** Choose the leg that is worked on; 0 for none. */
  chooseLeg(leg: number): void {
    this.leg = leg;
    this.picked.emit();
    this.app.stage.request();
  }

  /** Find the part of a machine under a point of the page. */
  partAt(clientX: number, clientY: number): string {
    const ray = new THREE.Raycaster();
    ray.ray.copy(this.app.stage.rayAt(clientX, clientY));
    const pane = this.app.stage.paneIndexAt(clientX, clientY);
    const beside = this.app.stage.panes > 1;
    const seen = this.walkers.filter((_, i) => !beside || i === pane).map(({ actor }) => actor);
    const hits = ray.intersectObjects(seen.flatMap((actor) => actor.meshes), false);
    return hits[0]?.object.parent?.name ?? "";
  }

  /** Look at one leg from its side. */
  lookAtLeg(): void {
    const box = new THREE.Box3();
    for (const part of this.walker?.actor.object.children ?? []) {
      if (part.name.startsWith(`leg${this.leg || 1}/`)) box.expandByObject(part);
    }
    this.app.stage.viewpoint.fit(box, SIDE);
    this.turned = true;
    this.app.stage.request();
  }

  /** Look at the walk from behind its start, so that it leads up a narrow pane. */
  private lookAlong(): void {
    const { markers, height } = this.walker!.facts;
    const places = markers.map(([x, y]) => new THREE.Vector3(x, y, 0).multiplyScalar(UNIT));
    const way = places.at(-1)!.clone().sub(places[0]!);
    // A short walk is seen a little from its side.
    const turn = Math.min(0.5, (0.3 * height * UNIT) / Math.max(way.length(), 1e-9));
    const back = way.lengthSq() > 0 ? way.normalize().negate() : new THREE.Vector3(-1, 0, 0);
    const size = height * UNIT;
    const points = places.flatMap((place) =>
      CORNERS.map(([x, y, z]) => new THREE.Vector3(x, y, z).multiplyScalar(size).add(place)),
    );
    this.app.stage.viewpoint.fitPoints(points, back.applyAxisAngle(UP, turn).add(RAISED));
  }

  /** Set what is shown on the ground. */
  arrange(): void {
    for (const { support, markers } of this.walkers) {
      support.object.visible = this.showSupport;
      markers.object.visible = this.showMarkers;
    }
    this.app.stage.request();
  }

  /** What tests may see of the walks. */
  state(): Record<string, unknown> {
    return {
      frame: this.frame,
      leg: this.leg,
      facts: this.walkers.map(({ facts }) => facts),
      margin: this.walker?.support.margin ?? null,
      support: this.walker?.support.corners ?? [],
      red: [...(this.walker?.actor.alarms ?? [])],
    };
  }

  clear(): void {
    this.turn++;
    this.stop();
    this.cast.clear();
    this.walkers = [];
  }

  private async make({ facts, source }: PlannedWalk, plan: Plan, index: number): Promise<Walker> {
    const file = await ReplayFile.open(source);
    const color = this.app.theme.series(index);
    const actor = await Actor.make(file, color, this.app.clock.time);
    const values = await Promise.all(
      CHANNELS.map((name) => file.channel(file.head.channels.find((entry) => entry.name === name)!)),
    );
    const numbers = Object.fromEntries(CHANNELS.map((name, i) => [name, values[i]])) as unknown as Numbers;
    const support = new Support(numbers, facts.frames, (x, y) => groundHeight(plan.terrain, x / UNIT, y / UNIT) * UNIT);
    const markers = new Markers(facts, plan.machine, plan.terrain, color);
    actor.object.add(support.object, markers.object);
    return { facts, actor, support, markers, numbers };
  }

  /** Take actors off the stage, and let go of them once the next picture is drawn: a shader that
   * is still in use then need not be compiled again, which takes longer than all else. */
  private retire(actors: Actor[]): void {
    for (const { object } of actors) object.removeFromParent();
    const stop = this.app.stage.drawn.on(() => {
      stop();
      for (const actor of actors) actor.dispose();
    });
  }

  private update(): void {
    for (const { actor, support, facts } of this.walkers) {
      const [frame, part] = actor.file.place(this.app.clock.time);
      support.setTime(frame, part);
      const red = facts.interference.filter(([, first, last]) => first <= frame && frame <= last);
      actor.setAlarm(new Set(red.map(([name]) => name)));
    }
  }
}
