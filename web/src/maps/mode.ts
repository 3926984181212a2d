import * as THREE from "three";
import type { App, Mode } from "../app";
import { Cast } from "../replay/cast";
import { getJson, type Listing, type MapEntry } from "../server/api";
import { ServerSource } from "../server/source";
import { h } from "../shell/dom";
import { type MapInfo, MapPanel } from "./panel";

const FROM = new THREE.Vector3(0.7, -1, 0.55);

/** Reachability maps: a volume of voxels, cut open, around the robot it is of. */
export class MapsMode implements Mode {
  readonly id = "maps";
  readonly title = "Maps";
  cast: Cast | null = null;
  private panel: MapPanel | null = null;

  async enter(app: App): Promise<void> {
    this.cast = new Cast(app);
    const host = app.layout.panel("left", "Map");
    const { maps } = await getJson<Listing>("api/runs");
    if (!maps.length) {
      host.append(h("p.empty", {}, "No maps (*.rmap) in this folder."));
      return;
    }
    this.panel = new MapPanel(app, host, maps, (map, info) => this.opened(app, map, info));
    await this.panel.open(maps[0]!.id);
  }

  leave(): void {
    this.panel?.dispose();
    this.cast?.clear();
    this.panel = this.cast = null;
  }

  state(): Record<string, unknown> {
    return { map: this.panel?.field ?? "" };
  }

  private async opened(app: App, map: MapEntry, info: MapInfo): Promise<void> {
    for (const actor of [...(this.cast?.actors ?? [])]) this.cast?.remove(actor);
    if (info.shown) await this.cast?.add(new ServerSource(`api/maps/${map.id}/robot`));
    if (!this.panel?.volume) return;
    app.stage.ground.lay(new THREE.Vector3(), 2);
    app.stage.viewpoint.fit(new THREE.Box3().setFromObject(this.panel.volume.object), FROM);
    app.stage.request();
  }
}
