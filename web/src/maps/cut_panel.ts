import "./maps.css";
import * as THREE from "three";
import type { App } from "../app";
import { h, short } from "../shell/dom";
import { Volume } from "./volume";
import type { Cuts, VolumeFile } from "./volume_file";

const AXES = ["x", "y", "z"] as const;
const FROM = new THREE.Vector3(0.7, -1, 0.55);

/** A field of a map on the stage, what its colours mean, and the sliders that cut it open. */
export class CutPanel {
  readonly element: HTMLElement;
  private readonly volume: Volume;
  private readonly sliders: HTMLInputElement[];
  private readonly texts = [0, 1, 2, 3].map(() => h("output"));
  private readonly holder = new THREE.Group();
  private readonly stop: () => void;

  /** @param around Gives the link that the map lies around; nothing if it lies at the origin. */
  constructor(
    private readonly app: App,
    readonly file: VolumeFile,
    private readonly around: () => THREE.Object3D | undefined = () => undefined,
  ) {
    this.volume = new Volume(file);
    const names = [...AXES.flatMap((axis) => [`${axis} from`, `${axis} to`]), "grade from"];
    this.sliders = names.map((name, i) => {
      const input = h("input", { type: "range", min: 0, max: 1, step: 0.005, value: file.cuts[i]!, "aria-label": name });
      input.addEventListener("input", () => this.cut());
      return input;
    });
    const row = (name: string, text: HTMLElement, ...inputs: HTMLElement[]) =>
      h("div.cut", {}, h("label.row", {}, h("span", {}, name), ...inputs), text);
    this.element = h(
      "div",
      {},
      h("p.meaning", {}, file.meaning),
      h("div.legend", {}, h("span", {}, `0 ${file.unit}`), h("i.scale"), h("span", {}, `${short(file.greatest)} ${file.unit}`)),
      ...AXES.map((axis, i) => row(axis, this.texts[i]!, this.sliders[2 * i]!, this.sliders[2 * i + 1]!)),
      row("grade", this.texts[3]!, this.sliders[6]!),
      h("p.empty", {}, file.title),
    );
    this.holder.add(this.volume.object);
    app.stage.scene.add(this.holder);
    this.stop = app.stage.update.on(() => this.place());
    this.cut();
  }

  /** Where it is cut open now. */
  get cuts(): Cuts {
    return this.sliders.map((slider) => Number(slider.value)) as Cuts;
  }

  /** Look at all of it. */
  look(): void {
    this.app.stage.ground.lay(new THREE.Vector3(), 2);
    this.app.stage.viewpoint.fit(new THREE.Box3().setFromObject(this.volume.object), FROM);
    this.app.stage.request();
  }

  dispose(): void {
    this.stop();
    this.holder.removeFromParent();
    this.volume.dispose();
    this.app.stage.request();
  }

  /** Follow the link that the map lies around. */
  private place(): void {
    const link = this.around();
    if (!link) return;
    this.holder.position.copy(link.position);
    this.holder.quaternion.copy(link.quaternion);
  }

  private cut(): void {
    const { cuts, file } = this;
    AXES.forEach((_, axis) => {
      this.volume.cut(axis as 0 | 1 | 2, cuts[2 * axis]!, cuts[2 * axis + 1]!);
      const metres = [cuts[2 * axis]!, cuts[2 * axis + 1]!].map((part) => file.lower[axis]! + part * file.shape[axis]! * file.voxel);
      this.texts[axis]!.textContent = metres.map((value) => `${value.toFixed(2)} m`).join(" … ").replaceAll("-0.00", "0.00");
    });
    this.volume.setLeast(cuts[6]);
    this.texts[3]!.textContent = cuts[6] > 0 ? `from ${short(cuts[6] * file.greatest, 3)} ${file.unit}` : "all that is reached";
    this.app.stage.request();
  }
}
