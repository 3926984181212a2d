import "../walking/walking.css";
import type { App } from "../app";
import type { Actor } from "../replay/actor";
import type { Cast } from "../replay/cast";
import { h } from "../shell/dom";
import { Event } from "../shell/events";
import { lengthText } from "../stage/gauges";
import { type Gaits, GaitDiagram } from "../walking/gait_diagram";
import { LEG_NAMES, UNIT } from "../walking/plan";
import { Support } from "../walking/support";

const CHANNELS = ["feet", "support", "com"] as const;

/** A run on legs: its support, and when its feet swing. */
interface Walker {
  actor: Actor;
  support: Support;
  names: string[];
  facts: { frames: number; steps: [leg: number, first: number, last: number][]; warnings: [] };
}

/** Of runs on legs the support polygon, its margin and the gait, as the workshop shows them. */
export class LeggedRuns implements Gaits {
  readonly changed = new Event();
  walker: Walker | undefined;
  private readonly walkers = new Map<Actor, Walker>();
  private readonly margin = h("output.margin");
  private readonly toggle = h("button.tool", { title: "Support polygon, centre of mass and margin (G)", "aria-pressed": true }, "support");
  private readonly body = h("div");
  private readonly stop: (() => void)[];
  private diagram: GaitDiagram | null = null;
  private shown = true;

  constructor(
    private readonly app: App,
    private readonly cast: Cast,
    private readonly host: HTMLElement,
  ) {
    const press = () => {
      this.shown = !this.shown;
      this.toggle.setAttribute("aria-pressed", String(this.shown));
      app.stage.request();
    };
    this.toggle.addEventListener("click", press);
    host.append(h("div.legendhead", {}, this.margin, this.toggle), this.body);
    this.host.parentElement!.hidden = true;
    this.stop = [
      cast.changed.on(() => void app.guarded(() => this.renew())),
      app.stage.update.on(() => this.update()),
      app.keys.add("g", "support polygon of runs on legs", press),
    ];
  }

  dispose(): void {
    for (const stop of this.stop) stop();
    this.diagram?.dispose();
  }

  /** What tests may see. */
  state(): Record<string, unknown> {
    const { walker } = this;
    return walker ? { margin: walker.support.margin * UNIT, support: walker.support.corners, steps: walker.facts.steps } : {};
  }

  goTo(frame: number): void {
    const time = this.walker?.actor.file.time[frame];
    if (time === undefined) return;
    this.app.clock.pause();
    this.app.clock.set(time);
  }

  /** Find the runs on legs among those on the stage. */
  private async renew(): Promise<void> {
    const { cast } = this;
    for (const actor of this.walkers.keys()) if (!cast.actors.includes(actor)) this.walkers.delete(actor);
    await Promise.all(cast.actors.filter((actor) => !this.walkers.has(actor)).map((actor) => this.find(actor)));
    const first = cast.actors.map((actor) => this.walkers.get(actor)).find(Boolean);
    this.host.parentElement!.hidden = !first;
    if (first === this.walker) return;
    this.walker = first;
    this.diagram?.dispose();
    this.diagram = first ? new GaitDiagram(this.app, this, first.names) : null;
    this.body.replaceChildren(...(this.diagram ? [this.diagram.element] : []));
    this.changed.emit();
    this.app.stage.request();
  }

  private async find(actor: Actor): Promise<void> {
    const { file } = actor;
    const entries = CHANNELS.map((name) => file.head.channels.find((entry) => entry.name === name));
    const [feet, support, com] = entries;
    const legs = support?.columns.length ?? 0;
    // Samples that were thinned are extremes, which are no places.
    if (!feet || !support || !com || file.head.step > 1) return;
    if (feet.columns.length !== 3 * legs || com.columns.length !== 3 || legs < 3 || legs > 16) return;
    const values = await Promise.all([feet, support, com].map((entry) => file.channel(entry)));
    if (!this.cast.actors.includes(actor) || this.walkers.has(actor)) return;
    const frames = file.time.length;
    const numbers = { feet: values[0]!, support: values[1]!, com: values[2]! };
    const drawn = new Support(numbers, frames);
    actor.object.add(drawn.object);
    const names = legs === 4 ? LEG_NAMES : support.columns;
    this.walkers.set(actor, { actor, support: drawn, names, facts: { frames, steps: swings(numbers.support, legs, frames), warnings: [] } });
  }

  private update(): void {
    for (const { actor, support } of this.walkers.values()) {
      support.object.visible = this.shown;
      support.setTime(...actor.file.place(this.app.clock.time));
    }
    const { walker } = this;
    if (!walker) return;
    const metres = walker.support.margin * UNIT;
    const text = `margin ${metres < 0 ? "−" : ""}${lengthText(Math.abs(metres))}`;
    if (this.margin.textContent !== text) this.margin.textContent = text;
  }
}

/** Give leg, last sample on the ground and first on it again of every swing, in the order of time. */
function swings(support: Float32Array, legs: number, frames: number): [number, number, number][] {
  const found: [number, number, number][] = [];
  for (let leg = 0; leg < legs; leg++) {
    let lifted = -1;
    for (let i = 0; i < frames; i++) {
      const on = support[leg * frames + i]! > 0.5;
      if (!on && lifted < 0) lifted = Math.max(0, i - 1);
      if ((on || i === frames - 1) && lifted >= 0) {
        found.push([leg + 1, lifted, i]);
        lifted = -1;
      }
    }
  }
  return found.sort((a, b) => a[1] - b[1]);
}
