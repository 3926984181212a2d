import type { App } from "../app";
import type { Actor } from "../replay/actor";
import type { Cast } from "../replay/cast";
import type { ChannelEntry } from "../replay/replay_file";
import { h } from "../shell/dom";
import { dash } from "../shell/palette";
import { ColumnChoice } from "./column_choice";
import { difference, type Line, unitsOf } from "./lines";
import { Plot, type PlotChoice } from "./plot";
import { TimeWindow } from "./time_window";

const FIRST = 3;
/** Columns that a channel may have to be shown unasked. */
const FEW = 14;
/** Columns of a channel that are drawn unasked. */
const MOST = 40;
/** What every simulation has; what a study recorded beside it tells more. */
const USUAL = ["q", "v", "poses", "twists", "command"];

/** What was chosen for the chart of a channel. */
interface Choice extends PlotChoice {
  columns: ColumnChoice | null;
  /** Whether runs are drawn as differences from the first. */
  apart: boolean;
}

/** The plots of the replays on the stage: a chart for each chosen channel, in sync with the clock. */
export class ChannelPlots {
  private readonly choice = h("div.choice");
  private readonly charts = h("div.charts");
  private readonly window = new TimeWindow();
  private readonly choices = new Map<string, Choice>();
  private plots: Plot[] = [];
  private chosen: string[] | null = null;
  private readonly stop: (() => void)[];
  private turn = 0;
  private seen: readonly Actor[] = [];
  private ends = "";

  constructor(
    private readonly app: App,
    private readonly cast: Cast,
    host: HTMLElement,
  ) {
    host.append(this.choice, this.charts);
    const redraw = () => void app.guarded(() => this.draw());
    const follow = () => {
      this.keepWindow();
      redraw();
    };
    this.stop = [cast.changed.on(follow), app.theme.changed.on(redraw)];
  }

  /** The channels that are shown. */
  get channels(): string[] {
    return this.shown(this.names());
  }

  /** Show some channels, as far as there are any of them. */
  choose(names: string[]): void {
    if (names.length) this.chosen = names;
  }

  dispose(): void {
    for (const stop of this.stop) stop();
    for (const plot of this.plots.splice(0)) plot.dispose();
  }

  /** Show all of time again when other runs than before are shown, unless they are as long. */
  private keepWindow(): void {
    const { actors } = this.cast;
    if (!actors.length) return;
    const ends = actors.map(({ file }) => `${file.time[0]} ${file.end}`).join();
    if (ends !== this.ends && !actors.some((actor) => this.seen.includes(actor))) this.window.reset();
    [this.seen, this.ends] = [[...actors], ends];
  }

  private names(): string[] {
    const channels = this.cast.actors.flatMap((actor) => actor.file.head.channels);
    return [...new Set(channels.map((channel) => channel.name))];
  }

  private shown(names: string[]): string[] {
    const kept = this.chosen?.filter((name) => names.includes(name));
    if (kept?.length) return kept;
    const few = names.filter((name) => this.columns(name).length <= FEW);
    // Poses mix lengths and turns in one chart.
    const telling = few.filter((name) => !USUAL.includes(name) && !this.unit(name).includes("wxyz"));
    return [telling, few, names].find((choice) => choice.length)?.slice(0, FIRST) ?? [];
  }

  private entries(name: string): { actor: Actor; entry: ChannelEntry }[] {
    return this.cast.actors.flatMap((actor) => {
      const entry = actor.file.head.channels.find((channel) => channel.name === name);
      return entry ? [{ actor, entry }] : [];
    });
  }

  /** The columns that any replay has of a channel. */
  private columns(name: string): string[] {
    return [...new Set(this.entries(name).flatMap(({ entry }) => entry.columns))];
  }

  private unit(name: string): string {
    return this.entries(name)[0]?.entry.unit ?? "";
  }

  /** What was chosen for a channel, as far as its columns are the same as then. */
  private choiceOf(name: string): Choice {
    let choice = this.choices.get(name);
    if (!choice) this.choices.set(name, (choice = { log: false, apart: false, hidden: new Set(), columns: null }));
    const columns = this.columns(name);
    if (columns.length < 2) choice.columns = null;
    else if (choice.columns?.names.join("\n") !== columns.join("\n")) {
      choice.columns = new ColumnChoice(columns, new Set(columns.slice(0, MOST)), () => void this.app.guarded(() => this.draw()));
    }
    return choice;
  }

  private async draw(): Promise<void> {
    const turn = ++this.turn;
    const names = this.names();
    const shown = this.shown(names);
    const made = await Promise.all(shown.map((name) => this.lines(name, this.choiceOf(name))));
    if (turn !== this.turn) return;
    const focused = document.activeElement;
    for (const plot of this.plots.splice(0)) plot.dispose();
    this.plots = shown.map((name, i) => {
      const choice = this.choiceOf(name);
      return new Plot(this.app, made[i]!.title, made[i]!.lines, this.window, choice, this.tools(choice));
    });
    this.charts.replaceChildren(...this.plots.map((plot) => plot.element));
    if (focused instanceof HTMLElement && this.charts.contains(focused)) focused.focus();
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

  /** The buttons of a chart for its columns and for differences. */
  private tools(choice: Choice): HTMLElement[] {
    const apart = h("button.tool", {
      title: "Differences from the first run",
      "aria-label": "Differences from the first run",
      "aria-pressed": choice.apart,
      onclick: () => {
        choice.apart = !choice.apart;
        void this.app.guarded(() => this.draw());
      },
    }, "Δ");
    return [...(choice.columns ? [choice.columns.element] : []), ...(this.cast.actors.length > 1 ? [apart] : [])];
  }

  /** Give a line for every chosen column of every replay that has a channel. */
  private async lines(name: string, choice: Choice): Promise<{ title: string; lines: Line[] }> {
    const { actors } = this.cast;
    const several = actors.length > 1;
    const titles = distinct(actors.map((actor) => actor.file.head.title));
    const all = this.columns(name);
    const drawn = choice.columns ? all.filter((column) => choice.columns!.chosen.has(column)) : all;
    const runs = await Promise.all(this.entries(name).map(async ({ actor, entry }) => {
      const values = await actor.file.channel(entry);
      const { time } = actor.file;
      const lines = new Map<string, Line>();
      const units = unitsOf(entry.unit, entry.columns);
      entry.columns.forEach((column, i) => {
        const at = drawn.indexOf(column);
        if (at < 0) return;
        lines.set(column, {
          name: [several ? actor.file.head.title : "", column].filter(Boolean).join(" ") || name,
          label: [column, several ? titles[actors.indexOf(actor)] : ""].filter(Boolean).join(" · ") || name,
          unit: units[i],
          time,
          values: values.subarray(i * time.length, (i + 1) * time.length),
          // Replays by their colour on the stage, and their columns by dashes.
          color: several ? actor.color : this.app.theme.series(all.indexOf(column)),
          dash: dash(several ? at : this.app.theme.round(all.indexOf(column))),
        });
      });
      return lines;
    }));
    const unit = this.unit(name);
    const mixed = unitsOf(unit, this.entries(name)[0]?.entry.columns ?? []).length > 0;
    const title = unit && !mixed ? `${name} [${unit}]` : name;
    const [first, ...others] = runs;
    if (!choice.apart || !first || !others.length) return { title, lines: runs.flatMap((lines) => [...lines.values()]) };
    const lines = others.flatMap((other) =>
      [...other].flatMap(([column, line]) => {
        const from = first.get(column);
        return from ? [{ ...line, name: `Δ ${line.name}`, label: `Δ ${line.label}`, ...difference(line, from) }] : [];
      }),
    );
    return { title: `Δ ${title} from ${actors[0]!.file.head.title}`, lines };
  }
}

/** Shorten titles, each a study and what its run differs in, to the parts that not all of them have. */
function distinct(titles: string[]): string[] {
  const parts = titles.map((title) => {
    const [first = "", ...others] = title.split(", ");
    const cut = first.indexOf(" ");
    return cut < 0 ? [first, ...others] : [first.slice(0, cut), first.slice(cut + 1), ...others];
  });
  const common = (part: string) => parts.every((own) => own.includes(part));
  return parts.map((own, i) => own.filter((part) => !common(part)).join(", ") || titles[i]!);
}
