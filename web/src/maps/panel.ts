import type * as THREE from "three";
import type { App } from "../app";
import { getJson, type MapEntry } from "../server/api";
import { complaint } from "../server/source";
import { h } from "../shell/dom";
import { CutPanel } from "./cut_panel";
import { type Cuts, type MapKind, readVolume } from "./volume_file";

export interface MapInfo {
  kind: MapKind;
  robot: string;
  tool: string;
  /** The link around which a capability map lies. */
  base: string;
  fields: string[];
  /** Whether its robot can be shown in it. */
  shown: boolean;
}

/** Chooses a map, one of its fields and where it is cut open. */
export class MapPanel {
  /** The field that is shown; empty if none is. */
  field = "";
  cut: CutPanel | null = null;
  private readonly choice: HTMLSelectElement;
  private readonly details = h("div");
  private turn = 0;

  /**
   * @param opened Told of a map once its volume is on the stage.
   * @param around Gives the link of a run that a map is to lie around; without it maps lie at the origin.
   */
  constructor(
    private readonly app: App,
    host: HTMLElement,
    private readonly maps: MapEntry[],
    private readonly opened: (map: MapEntry, info: MapInfo) => unknown = () => {},
    private readonly around?: (link: string) => THREE.Object3D | undefined,
  ) {
    const options = maps.map((map) => h("option", { value: map.id }, map.name));
    this.choice = h("select.map", { "aria-label": "Map" }, h("option", { value: "" }, "no map"), ...options);
    this.choice.addEventListener("change", () => void app.guarded(() => this.open(this.choice.value)));
    host.append(this.choice, this.details);
  }

  /** What an exported page needs to know of the map that is shown; nothing if none is. */
  get asked(): Record<string, string> {
    if (!this.cut) return {};
    return { map: this.choice.value, field: this.field, cuts: this.cut.cuts.join(",") };
  }

  dispose(): void {
    this.turn++;
    this.cut?.dispose();
    this.cut = null;
    this.field = "";
  }

  /** Show what a link says, and tell whether it says anything. */
  async openAsked(asked: URLSearchParams): Promise<boolean> {
    const id = asked.get("map") ?? "";
    if (!this.maps.some((map) => map.id === id)) return false;
    const cuts = (asked.get("cuts") ?? "").split(",").map(Number);
    const fine = cuts.length === 7 && cuts.every((cut) => cut >= 0 && cut <= 1);
    await this.open(id, asked.get("field") ?? "", fine ? (cuts as Cuts) : undefined);
    return true;
  }

  /** Show a map, one of its fields and where it is cut; none if the identifier is empty. */
  async open(id: string, field = "", cuts?: Cuts): Promise<void> {
    this.dispose();
    this.details.replaceChildren();
    this.choice.value = id;
    const map = this.maps.find((entry) => entry.id === id);
    if (!map) return;
    const info = await getJson<MapInfo>(`api/maps/${id}`);
    const refusal = this.around && this.refusal(info);
    if (refusal) return this.details.replaceChildren(h("p.refusal", { role: "status" }, refusal));
    const first = [field, "reachable"].find((name) => info.fields.includes(name)) ?? info.fields[0]!;
    await this.show(map, info, first, cuts);
    await this.opened(map, info);
  }

  /** Say why a map means nothing around the robots that are on the stage; nothing if it does. */
  private refusal(info: MapInfo): string {
    if (info.kind !== "capability") {
      return `This is an inverse map (${info.kind}) of ${info.robot}: it rates places of the base around the tool ${info.tool}, `
        + "not of the tool around the base. Around the robot of a run it means nothing; it is shown with its own robot under Maps.";
    }
    if (this.around!(info.base)) return "";
    return `This map lies around the link ${info.base} of ${info.robot}, and no robot on the stage has such a link. It is shown with its own robot under Maps.`;
  }

  private async show(map: MapEntry, info: MapInfo, field: string, cuts?: Cuts): Promise<void> {
    const turn = ++this.turn;
    const answer = await fetch(`api/maps/${map.id}/volume/${encodeURIComponent(field)}`);
    if (!answer.ok) throw new Error(await complaint(answer));
    const file = await readVolume(new Uint8Array(await answer.arrayBuffer()));
    if (turn !== this.turn) return;
    file.cuts = cuts ?? this.cut?.cuts ?? file.cuts;
    this.cut?.dispose();
    this.cut = new CutPanel(this.app, file, () => this.around?.(info.base));
    this.field = field;
    const fields = h("select", { "aria-label": "Field" }, ...info.fields.map((name) => h("option", {}, name)));
    fields.value = field;
    fields.addEventListener("change", () => void this.app.guarded(() => this.show(map, info, fields.value)));
    this.details.replaceChildren(fields, this.cut.element);
  }
}
