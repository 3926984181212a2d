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

  constructor(
    private readonly app: App,
    file: VolumeFile,
  ) {
    this.volume = new Volume(file);
    const names = [...AXES.flatMap((axis) => [`${axis} from`, `${axis} to`]), "grade from"];
    this.sliders = names.map((name, i) => {
      const input = h("input", { type: "range", min: 0, max: 1, step: 0.005, value: file.cuts[i]!, "aria-label": name });
      input.addEventListener("input", () => this.cut());
      return input;
    });
    const row = (name: string, ...inputs: HTMLElement[]) => h("label.row", {}, h("span", {}, name), ...inputs);
    this.element = h(
      "div",
      {},
      h("p.empty", {}, file.title),
      h("div.legend", {}, h("span", {}, "0"), h("i.scale"), h("span", {}, `${short(file.greatest)} ${file.unit}`)),
      ...AXES.map((axis, i) => row(axis, this.sliders[2 * i]!, this.sliders[2 * i + 1]!)),
      row("grade", this.sliders[6]!),
    );
    app.stage.scene.add(this.volume.object);
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
    this.volume.dispose();
    this.app.stage.request();
  }

  private cut(): void {
    const { cuts } = this;
    AXES.forEach((_, axis) => this.volume.cut(axis as 0 | 1 | 2, cuts[2 * axis]!, cuts[2 * axis + 1]!));
    this.volume.setLeast(cuts[6]);
    this.app.stage.request();
  }
}
