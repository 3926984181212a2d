import * as THREE from "three";
import type { App } from "../app";
import type { Source } from "../server/source";
import { Event } from "../shell/events";
import type { View } from "../shell/link";
import { type Style, STYLES } from "../stage/style";
import { isPhase, type NamedTime } from "../time/clock";
import { Actor } from "./actor";
import { ReplayFile } from "./replay_file";

export type Arrangement = "overlaid" | "beside";

/** The replays that are on the stage together: the first solid, the others as its ghosts. */
export class Cast {
  readonly actors: Actor[] = [];
  readonly changed = new Event();
  style: Style = "shaded";
  arrangement: Arrangement = "overlaid";
  follow = false;
  showArrows = true;
  showTrails = true;
  /** What is said while there is no replay. */
  invitation = "";
  private readonly stop: (() => void)[];
  private last: THREE.Vector3 | null = null;
  private gone = false;
  /** How many panes there were when all was fitted into view. */
  private fitted = 1;
  /** Done when what was asked for last is on the stage. */
  private adding: Promise<unknown> = Promise.resolve();

  constructor(private readonly app: App) {
    this.stop = [
      app.stage.update.on(() => this.update()),
      app.theme.changed.on(() => {
        for (const actor of this.actors) actor.setColor(app.theme.sameSeries(actor.color));
        this.arrange();
      }),
    ];
  }

  /** Bring a replay on the stage, after those that were asked for before. */
  async add(source: Source): Promise<Actor> {
    return (await this.queue(source, false, () => true))!;
  }

  /**
   * Show a replay instead of all that are on the stage; they stay until it is loaded.
   *
   * @param wanted Tells whether it is still wanted then; if not, nothing changes.
   */
  replace(source: Source, wanted: () => boolean): Promise<Actor | null> {
    return this.queue(source, true, wanted);
  }

  private queue(source: Source, alone: boolean, wanted: () => boolean): Promise<Actor | null> {
    const added = this.adding.then(() => (wanted() ? this.bring(source, alone, wanted) : null));
    this.adding = added.catch(() => {});
    return added;
  }

  private async bring(source: Source, alone: boolean, wanted: () => boolean): Promise<Actor | null> {
    const { app } = this;
    const file = await ReplayFile.open(source);
    const color = alone ? app.theme.series(0) : this.freeColor();
    const actor = await Actor.make(file, color, app.clock.time);
    if (this.gone || !wanted()) {
      actor.dispose();
      if (this.gone) throw new Error("the mode was changed while a replay was loading");
      return null;
    }
    if (alone) for (const other of this.actors.splice(0)) other.dispose();
    this.actors.push(actor);
    app.stage.scene.add(actor.object);
    file.arrived.on(() => app.stage.request());
    void app.guarded(() => file.loadAll(app.clock.time));
    this.arrange();
    if (this.actors.length === 1) this.frame();
    return actor;
  }

  /** The first colour that no other replay has. */
  private freeColor(): string {
    const taken = this.actors.map((actor) => actor.color);
    let color = this.app.theme.series(0);
    for (let i = 1; taken.includes(color) && i <= taken.length; i++) color = this.app.theme.series(i);
    return color;
  }

  remove(actor: Actor): void {
    const index = this.actors.indexOf(actor);
    if (index < 0) return;
    this.actors.splice(index, 1);
    actor.dispose();
    this.arrange();
  }

  /** Take everything off the stage, for good. */
  clear(): void {
    this.gone = true;
    for (const actor of this.actors.splice(0)) actor.dispose();
    this.app.stage.setPanes([]);
    this.app.stage.gauges.tell({ forces: {}, note: "" });
    for (const stop of this.stop) stop();
  }

  /** How everything is shown, for a link. */
  written(): View {
    const hidden = [this.showArrows ? [] : "forces", this.showTrails ? [] : "trails"].flat();
    return { style: this.style, arrangement: this.arrangement, hide: hidden, follow: this.follow ? "1" : [] };
  }

  /** Show everything as a link says, from the next arrangement on. */
  read(asked: URLSearchParams): void {
    const style = STYLES.find((each) => each === asked.get("style"));
    if (style) this.style = style;
    const arrangement = asked.get("arrangement");
    if (arrangement === "overlaid" || arrangement === "beside") this.arrangement = arrangement;
    if (asked.has("hide")) [this.showArrows, this.showTrails] = ["forces", "trails"].map((each) => !asked.getAll("hide").includes(each)) as [boolean, boolean];
    this.follow = asked.has("follow");
  }

  /** A link of the first replay that has it, by its own name; such as what a map lies around. */
  link(name: string): THREE.Object3D | undefined {
    for (const actor of this.actors) {
      const found = actor.object.children.find((part) => part.name === name || part.name.endsWith(`/${name}`));
      if (found) return found;
    }
    return undefined;
  }

  /** Set how everything is shown. */
  arrange(): void {
    const { app, actors } = this;
    const beside = this.arrangement === "beside" && actors.length > 1;
    const legs = [1, 2, 3, 4].map((leg) => app.theme.color(`leg${leg}`));
    actors.forEach((actor, i) => {
      actor.setLegColors(legs);
      actor.setStyle(this.style, app.theme.color("stage"), app.theme.color("ink"));
      actor.setGhost(i > 0 && !beside);
      actor.arrows.object.visible = this.showArrows;
      actor.trails.object.visible = this.showTrails;
    });
    const panes = actors.map((a) => ({ title: a.file.head.title, objects: [a.object] }));
    app.stage.setPanes(beside ? panes : []);
    app.layout.labels(beside ? panes.map((pane) => pane.title) : []);
    this.scaleForces();
    const longest = actors.reduce<Actor | null>(
      (a, b) => (a && a.file.end >= b.file.end ? a : b), null);
    if (longest) app.clock.setRange(longest.file.time[0]!, longest.file.end, longest.file.time, this.namedTimes());
    else app.clock.setRange(0, 0);
    if (app.stage.panes !== this.fitted && actors.length) this.frame();
    this.changed.emit();
    app.stage.request();
  }

  /** The phases of the first replay, as those of its ghosts would only confuse, and the events of all. */
  private namedTimes(): NamedTime[] {
    const [first, ...others] = this.actors;
    if (!first) return [];
    const own = (actor: Actor) => actor.file.head.markers ?? [];
    if (!others.length) return own(first);
    return this.actors.flatMap((actor) =>
      own(actor).flatMap((each) => {
        if (isPhase(each)) return actor === first ? [each] : [];
        return [{ ...each, name: `${actor.file.head.title}: ${each.name}`, color: actor.color }];
      }),
    );
  }

  /** Draw the forces of all replays to one scale, and say which; say why there is nothing to see. */
  private scaleForces(): void {
    const { actors } = this;
    const greatest: Record<string, number> = {};
    for (const { arrows } of actors) {
      for (const [unit, force] of Object.entries(arrows.own())) greatest[unit] = Math.max(greatest[unit] ?? 0, force);
    }
    for (const { arrows } of actors) arrows.greatest = greatest;
    const length = actors[0]?.arrows.length ?? 1;
    const perMetre = Object.entries(greatest).map(([unit, force]) => [unit, force / length] as const);
    const seen = actors.some(({ file }) => file.head.solids.length);
    const note = seen ? "" : (actors.find(({ file }) => file.head.note)?.file.head.note ?? (actors.length ? "" : this.invitation));
    this.app.stage.gauges.tell({ forces: this.showArrows ? Object.fromEntries(perMetre) : {}, note });
  }

  /** Look at all there is. */
  frame(): void {
    const box = new THREE.Box3();
    for (const actor of this.actors) box.union(actor.box());
    this.fitted = this.app.stage.panes;
    if (box.isEmpty()) return;
    const size = box.getSize(new THREE.Vector3()).length();
    for (const actor of this.actors) actor.arrows.length = size * 0.18;
    this.scaleForces();
    this.app.stage.viewpoint.fit(box);
    this.app.stage.lay(box);
    this.last = null;
    this.app.stage.request();
  }

  private update(): void {
    for (const actor of this.actors) actor.setTime(this.app.clock.time);
    const center = this.follow ? (this.actors[0]?.center() ?? null) : null;
    if (center && this.last) this.app.stage.viewpoint.shift(center.clone().sub(this.last));
    this.last = center;
  }
}
