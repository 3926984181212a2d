import type { App } from "../app";
import { unpack } from "../replay/streams";
import { getJson, type MapEntry } from "../server/api";
import { complaint } from "../server/source";
import { h, short } from "../shell/dom";
import { Volume, type VolumeData } from "./volume";

export interface MapInfo {
  kind: string;
  robot: string;
  tool: string;
  voxel: number;
  poses: number;
  fields: string[];
  shown: boolean;
}

interface VolumeHead extends Omit<VolumeData, "grades"> {
  greatest: number;
  unit: string;
}

const AXES = ["x", "y", "z"] as const;

/** Chooses a map, one of its fields and where it is cut open. */
export class MapPanel {
  volume: Volume | null = null;
  private readonly choice: HTMLSelectElement;
  private readonly details = h("div");
  private turn = 0;

  /**
   * @param opened Told of a map once its volume is on the stage.
   */
  constructor(
    private readonly app: App,
    host: HTMLElement,
    private readonly maps: MapEntry[],
    private readonly opened: (map: MapEntry, info: MapInfo) => unknown = () => {},
  ) {
    const options = maps.map((map) => h("option", { value: map.id }, map.name));
    this.choice = h("select.map", { "aria-label": "Map" }, h("option", { value: "" }, "no map"), ...options);
    this.choice.addEventListener("change", () => void app.guarded(() => this.open(this.choice.value)));
    host.append(this.choice, this.details);
  }

  /** The field that is shown; empty if none is. */
  field = "";

  dispose(): void {
    this.turn++;
    this.volume?.dispose();
    this.volume = null;
    this.field = "";
  }

  /** Show a map; none if the identifier is empty. */
  async open(id: string): Promise<void> {
    this.dispose();
    this.details.replaceChildren();
    this.choice.value = id;
    this.app.stage.request();
    const map = this.maps.find((entry) => entry.id === id);
    if (!map) return;
    const info = await getJson<MapInfo>(`api/maps/${id}`);
    await this.show(map, info, info.fields.includes("reachable") ? "reachable" : info.fields[0]!);
    await this.opened(map, info);
  }

  private async show(map: MapEntry, info: MapInfo, field: string): Promise<void> {
    const turn = ++this.turn;
    const answer = await fetch(`api/maps/${map.id}/volume/${encodeURIComponent(field)}`);
    if (!answer.ok) throw new Error(await complaint(answer));
    const bytes = new Uint8Array(await answer.arrayBuffer());
    const start = 4 + new DataView(bytes.buffer).getUint32(0, true);
    const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, start))) as VolumeHead;
    const grades = await unpack(bytes.subarray(start));
    if (turn !== this.turn) return;
    this.volume?.dispose();
    this.volume = new Volume({ grades, ...head });
    this.field = field;
    this.app.stage.scene.add(this.volume.object);
    const fields = h("select", { "aria-label": "Field" }, ...info.fields.map((name) => h("option", {}, name)));
    fields.value = field;
    fields.addEventListener("change", () => void this.app.guarded(() => this.show(map, info, fields.value)));
    const greatest = `${short(head.greatest)} ${head.unit}`;
    this.details.replaceChildren(
      h("p.empty", {}, `${info.kind} of ${info.robot} at ${info.tool}, voxels of ${short(info.voxel)} m, `,
        `${info.poses} poses each`),
      fields,
      h("div.legend", {}, h("span", {}, "0"), h("i.scale"), h("span", {}, greatest)),
      ...this.cuts(),
    );
    this.app.stage.request();
  }

  /** Make the sliders: two for each axis, and one for the least grade. */
  private cuts(): HTMLElement[] {
    // The half that the usual view looks at is taken away.
    const sliders = AXES.map((axis) => {
      return [slider(`${axis} from`, axis === "y" ? 0.5 : 0), slider(`${axis} to`, 1)] as const;
    });
    const least = slider("grade from", 0);
    const update = () => {
      sliders.forEach(([low, high], axis) => {
        this.volume?.cut(axis as 0 | 1 | 2, Number(low.value), Number(high.value));
      });
      this.volume?.setLeast(Number(least.value));
      this.app.stage.request();
    };
    for (const input of [...sliders.flat(), least]) input.addEventListener("input", update);
    update();
    const row = (name: string, ...inputs: HTMLElement[]) => h("label.row", {}, h("span", {}, name), ...inputs);
    return [...sliders.map((pair, i) => row(AXES[i]!, ...pair)), row("grade", least)];
  }
}

function slider(label: string, value: number): HTMLInputElement {
  return h("input", { type: "range", min: 0, max: 1, step: 0.005, value, "aria-label": label });
}
