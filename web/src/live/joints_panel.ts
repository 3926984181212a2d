import { h } from "../shell/dom";
import type { Frame } from "./frame";
import type { Room } from "./room";

/** How often numbers follow [ms]. */
const EVERY = 120;

/** A slider for every joint: its target, and where it is. */
export class JointsPanel {
  readonly element = h("div.joints");
  private readonly rows: { name: string; index: number; slider: HTMLInputElement; value: HTMLElement; unit: string }[] = [];
  private readonly list = h("div");
  private readonly hint = h("p.empty");
  private readonly modes: HTMLButtonElement[];
  private readonly stop: (() => void)[];
  private shown = 0;

  constructor(private readonly room: Room) {
    const mode = (name: "servo" | "kinematic", title: string) =>
      h("button", { title, onclick: () => this.setMode(name), "data-joints": name }, name);
    this.modes = [
      mode("servo", "Drives with limited efforts follow the sliders; joints give way"),
      mode("kinematic", "Joints follow the sliders exactly, whatever is in the way"),
    ];
    this.element.append(h("div.buttons", {}, ...this.modes), this.hint, this.list);
    this.stop = [room.changed.on(() => this.build()), room.moved.on((frame) => this.follow(frame))];
    this.build();
  }

  dispose(): void {
    for (const stop of this.stop) stop();
  }

  private setMode(mode: "servo" | "kinematic"): void {
    this.room.setMode(mode);
    this.build();
  }

  private build(): void {
    const { facts, frame } = this.room.first ?? {};
    const { mode } = this.room.inputs;
    for (const button of this.modes) button.setAttribute("aria-pressed", String(button.dataset.joints === mode));
    this.rows.length = 0;
    const joints = facts?.joints ?? [];
    const prefix = commonPrefix(joints.map(({ name }) => name));
    const driven = joints.some((joint) => joint.driven);
    this.hint.textContent =
      !joints.length ? "No joints that move." : mode === "servo" && !driven ? "No servos: the joints hang freely. Set a servo in the room, or move them kinematically." : "";
    this.hint.hidden = this.hint.textContent === "";
    this.list.replaceChildren(
      ...joints.flatMap((joint, index) => {
        if (joint.mimic) return [];
        const [low, high] = [joint.lower ?? -Math.PI, joint.upper ?? Math.PI];
        const target = this.room.inputs.targets[joint.name] ?? frame?.targets[index] ?? joint.home;
        const slider = h("input", {
          type: "range", min: low, max: high, step: "any", "aria-label": joint.name,
          disabled: mode === "servo" && !joint.driven,
        });
        slider.value = String(target);
        slider.addEventListener("input", () => this.room.setTarget(joint.name, Number(slider.value)));
        const value = h("output");
        this.rows.push({ name: joint.name, index, slider, value, unit: joint.unit });
        return [h("label.joint", { title: `${joint.name}: ${low.toFixed(2)} to ${high.toFixed(2)} ${joint.unit}` }, h("span", {}, joint.name.slice(prefix)), slider, value)];
      }),
    );
    if (frame) this.write(frame);
  }

  private follow(frame: Frame): void {
    const now = performance.now();
    if (now < this.shown + EVERY) return;
    this.shown = now;
    this.write(frame);
  }

  private write(frame: Frame): void {
    for (const { name, index, slider, value, unit } of this.rows) {
      const text = `${frame.positions[index]?.toFixed(3)} ${unit}`;
      if (value.textContent !== text) value.textContent = text;
      if (!(name in this.room.inputs.targets) && document.activeElement !== slider) slider.value = String(frame.targets[index]);
    }
  }
}

/** How many characters all names begin with, up to the last separator among them. */
function commonPrefix([first = "", ...others]: string[]): number {
  let length = others.length ? first.length : 0;
  for (const name of others) while (!name.startsWith(first.slice(0, length))) length--;
  return 1 + Math.max(...["_", "/", "-", "."].map((mark) => first.lastIndexOf(mark, length - 1)).filter((at) => at < length), -1);
}
