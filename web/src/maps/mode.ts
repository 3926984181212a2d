import type { App, Mode } from "../app";
import { Cast } from "../replay/cast";
import { getJson, type Listing, type MapEntry } from "../server/api";
import { ServerSource } from "../server/source";
import { h } from "../shell/dom";
import { exportButton } from "../shell/export_button";
import type { View } from "../shell/link";
import { type MapInfo, MapPanel } from "./panel";

/** Reachability maps: a volume of voxels, cut open, with the robot it is of. */
export class MapsMode implements Mode {
  readonly id = "maps";
  readonly title = "Maps";
  readonly about = "See where a robot's tool reaches: a volume, cut open, around the robot.";
  readonly timeless = true;
  cast: Cast | null = null;
  private panel: MapPanel | null = null;
  private readonly robot = h("p.empty.robot");

  async enter(app: App): Promise<void> {
    this.cast = new Cast(app);
    const host = app.layout.panel("left", "Map");
    const { maps } = await getJson<Listing>("api/runs");
    if (!maps.length) {
      host.append(h("p.empty", {}, "No maps (*.rmap) in this folder. A map of the Panda takes a few seconds: ", h("code", {}, "kinetarium reach build --robot panda --out out/panda.rmap")));
      return;
    }
    const panel = (this.panel = new MapPanel(app, host, maps, (map, info) => this.opened(map, info)));
    host.append(this.robot, exportButton(app, () => panel.asked));
    if (!(await panel.openAsked(app.asked))) await panel.open(maps[0]!.id);
  }

  leave(): void {
    this.panel?.dispose();
    this.cast?.clear();
    this.panel = this.cast = null;
  }

  view(): View {
    return { ...this.panel?.asked };
  }

  state(): Record<string, unknown> {
    return { map: this.panel?.field ?? "" };
  }

  private async opened(map: MapEntry, info: MapInfo): Promise<void> {
    for (const actor of [...(this.cast?.actors ?? [])]) this.cast?.remove(actor);
    const inverse = info.kind !== "capability";
    this.robot.textContent = !info.shown
      ? `The robot of this map, ${info.robot}, is not in the catalogue and cannot be shown.`
      : inverse
        ? `${info.robot}: its tool ${info.tool} is at the origin, and voxels are places of its base. It stands where its home pose puts it.`
        : `${info.robot} in its home pose: its link ${info.base} is at the origin, and voxels are places of its tool ${info.tool}.`;
    if (info.shown) await this.cast?.add(new ServerSource(`api/maps/${map.id}/robot`));
    this.panel?.cut?.look();
  }
}
