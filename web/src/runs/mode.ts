import type { App, Mode } from "../app";
import { ChannelPlots } from "../plots/channels";
import { MapPanel } from "../maps/panel";
import { Cast } from "../replay/cast";
import { getJson, type Listing } from "../server/api";
import type { View } from "../shell/link";
import { displayPanel } from "./display";
import { LeggedRuns } from "./legged";
import { RunList } from "./list";

/** Watching runs: their list, their replays, their plots. */
export class RunsMode implements Mode {
  readonly id = "runs";
  readonly title = "Runs";
  readonly about = "Watch what was simulated: choose a run, play it, lay others over it, read the curves.";
  cast: Cast | null = null;
  private list: RunList | null = null;
  private plots: ChannelPlots | null = null;
  private map: MapPanel | null = null;
  private legged: LeggedRuns | null = null;
  private listing: Listing = { root: "", folders: [], maps: [] };
  private stop: (() => void)[] = [];

  async enter(app: App): Promise<void> {
    const { asked } = app;
    this.cast = new Cast(app);
    this.cast.read(asked);
    this.stop.push(displayPanel(app, this.cast, app.layout.panel("left", "View")));
    const legged = (this.legged = new LeggedRuns(app, this.cast, app.layout.panel("right", "Gait")));
    const plots = (this.plots = new ChannelPlots(app, this.cast, app.layout.panel("right", "Plots")));
    plots.choose(asked.getAll("channel"));
    this.stop.push(() => plots.dispose(), () => legged.dispose());
    let map: MapPanel | null = null;
    this.list = new RunList(app, this.cast, app.layout.panel("left", "Runs"), () => map?.asked ?? {});
    this.stop.push(
      app.live.message.on((message) => {
        if (message.type === "runs") void app.guarded(() => this.refresh());
      }),
    );
    await this.refresh();
    await this.list.openAll(asked.getAll("run"), asked.get("folder"));
    const { maps } = this.listing;
    if (maps.length && app.mode === this) {
      const panel = (map = this.map = new MapPanel(app, app.layout.panel("left", "Map"), maps, undefined, (link) => this.cast?.link(link)));
      this.stop.push(() => panel.dispose());
      await panel.openAsked(asked);
    }
  }

  leave(): void {
    for (const stop of this.stop.splice(0)) stop();
    this.cast?.clear();
    this.cast = this.list = this.legged = this.plots = this.map = null;
  }

  view(): View {
    return {
      run: this.list?.shown ?? [],
      channel: this.plots?.channels ?? [],
      ...this.cast?.written(),
      ...this.map?.asked,
    };
  }

  state(): Record<string, unknown> {
    return { runs: this.list?.count ?? 0, ...this.legged?.state() };
  }

  private async refresh(): Promise<void> {
    this.listing = await getJson<Listing>("api/runs");
    this.list?.show(this.listing);
  }
}
