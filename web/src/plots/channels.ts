import type { App } from "../app";
import type { Cast } from "../replay/cast";
import type { ChannelEntry } from "../replay/replay_file";
import { h } from "../shell/dom";
import { type Line, Plot } from "./plot";

const FIRST = 3;
/** Columns that a channel may have to be shown unasked. */
const FEW = 14;
/** Lines of one replay in a chart; the others are left out. */
const MOST = 40;
/** What every simulation has; what a study recorded beside it tells more. */
const USUAL = ["q", "v", "poses", "twists", "command"];

/** The plots of the replays on the stage: a chart for each chosen channel, in sync with the clock. */
export class ChannelPlots {
  private readonly choice = h("div.choice");
  private readonly charts = h("div.charts");
  private plots: Plot[] = [];
  private chosen: string[] | null = null;
  private readonly stop: (() => void)[];
  private turn = 0;

  constructor(
    private readonly app: App,
    private readonly cast: Cast,
    host: HTMLElement,
  ) {
    host.append(this.choice, this.charts);
    const redraw = () => void app.guarded(() => this.draw());
    this.stop = [cast.changed.on(redraw), app.theme.changed.on(redraw)];
  }

  dispose(): void {
    for (const stop of this.stop) stop();
    for (const plot of this.plots.splice(0)) plot.dispose();
  }

  private names(): string[] {
    const channels = this.cast.actors.flatMap((actor) => actor.file.head.channels);
    return [...new Set(channels.map((channel) => channel.name))];
  }

  private shown(names: string[]): string[] {
    const kept = this.chosen?.filter((name) => names.includes(name));
    if (kept?.length) return kept;
    const few = names.filter((name) => this.columns(name) <= FEW);
    // Poses mix lengths and turns in one chart.
    const telling = few.filter((name) => !USUAL.includes(name) && !this.unit(name).includes("wxyz"));
    return [telling, few, names].find((choice) => choice.length)?.slice(0, FIRST) ?? [];
  }

  private columns(name: string): number {
    return this.entry(name)?.columns.length ?? 0;
  }

  private unit(name: string): string {
    return this.entry(name)?.unit ?? "";
  }

  private entry(name: string): ChannelEntry | undefined {
    const channels = this.cast.actors.flatMap((actor) => actor.file.head.channels);
    return channels.find((channel) => channel.name === name);
  }

  private async draw(): Promise<void> {
    const turn = ++this.turn;
    const names = this.names();
    const shown = this.shown(names);
    const made = await Promise.all(shown.map((name) => this.lines(name)));
    if (turn !== this.turn) return;
    for (const plot of this.plots.splice(0)) plot.dispose();
    this.plots = shown.map((name, i) => new Plot(this.app, made[i]!.title || name, made[i]!.lines));
    this.charts.replaceChildren(...this.plots.map((plot) => plot.element));
    const toggle = (name: string) => {
      this.chosen = shown.includes(name) ? shown.filter((n) => n !== name) : [...shown, name];
      void this.app.guarded(() => this.draw());
    };
    this.choice.replaceChildren(
      ...names.map((name) =>
        h("button.chip", { "aria-pressed": shown.includes(name), onclick: () => toggle(name) }, name),
      ),
    );
    this.app.stage.request();
  }

  /** Give a line for every column of every replay that has a channel. */
  private async lines(name: string): Promise<{ title: string; lines: Line[] }> {
    const { actors } = this.cast;
    const lines: Line[] = [];
    let title = name;
    for (const actor of actors) {
      const entry = actor.file.head.channels.find((channel) => channel.name === name);
      if (!entry) continue;
      title = entry.unit ? `${name} [${entry.unit}]` : name;
      const values = await actor.file.channel(entry);
      const { time } = actor.file;
      if (entry.columns.length > MOST) title += `, first ${MOST} of ${entry.columns.length}`;
      entry.columns.slice(0, MOST).forEach((column, i) => {
        lines.push({
          name: [actors.length > 1 ? actor.file.head.title : "", column].filter(Boolean).join(" ") || name,
          time,
          values: values.subarray(i * time.length, (i + 1) * time.length),
          color: actors.length > 1 ? actor.color : this.app.theme.series(i),
          dashed: actor !== actors[0],
        });
      });
    }
    return { title, lines };
  }
}
