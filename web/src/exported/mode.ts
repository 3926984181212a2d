import type { App, Mode } from "../app";
import { CutPanel } from "../maps/cut_panel";
import { readVolume } from "../maps/volume_file";
import { ChannelPlots } from "../plots/channels";
import type { Actor } from "../replay/actor";
import { Cast } from "../replay/cast";
import { displayPanel } from "../runs/display";
import type { MemorySource } from "../server/source";
import { h } from "../shell/dom";
import type { View } from "../shell/link";

/** Watching the replays and the map of an exported page; there is no server. */
export class ExportedMode implements Mode {
  readonly id = "exported";
  readonly title = "Replay";
  cast: Cast | null = null;
  private plots: ChannelPlots | null = null;
  private stop: (() => void)[] = [];

  /**
   * @param sources The replays.
   * @param volume The map around them, as the server packs it.
   */
  constructor(
    private readonly sources: MemorySource[],
    private readonly volume: Uint8Array<ArrayBuffer> | undefined,
  ) {}

  async enter(app: App): Promise<void> {
    const cast = (this.cast = new Cast(app));
    cast.read(app.asked);
    this.stop.push(displayPanel(app, cast, app.layout.panel("left", "View")));
    const list = app.layout.panel("left", "Replays");
    for (const source of this.sources) list.append(await this.entry(app, cast, source));
    if (cast.actors.some((actor) => actor.file.head.channels.length)) {
      const plots = (this.plots = new ChannelPlots(app, cast, app.layout.panel("right", "Plots")));
      plots.choose(app.asked.getAll("channel"));
      this.stop.push(() => plots.dispose());
      cast.arrange();
    }
    if (this.volume) {
      const file = await readVolume(this.volume);
      // An inverse map comes with its own robot, whose tool is at the origin.
      const panel = new CutPanel(app, file, () => (file.kind === "capability" ? cast.link(file.base) : undefined));
      app.layout.panel("left", "Map").append(panel.element);
      this.stop.push(() => panel.dispose());
      if (!app.clock.duration) panel.look();
    }
  }

  leave(): void {
    for (const stop of this.stop.splice(0)) stop();
    this.cast?.clear();
    this.cast = this.plots = null;
  }

  view(): View {
    return { channel: this.plots?.channels ?? [], ...this.cast?.written() };
  }

  /** Bring a replay on the stage, and give the button that takes it off and brings it back. */
  private async entry(app: App, cast: Cast, source: MemorySource): Promise<HTMLElement> {
    let actor: Actor | null = await cast.add(source);
    const button = h("button.map", { "aria-pressed": true }, actor.file.head.title);
    const toggle = async () => {
      if (actor) {
        cast.remove(actor);
        actor = null;
      } else actor = await cast.add(source);
      button.setAttribute("aria-pressed", String(actor !== null));
    };
    button.addEventListener("click", () => void app.guarded(toggle));
    return button;
  }
}
