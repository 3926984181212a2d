import type { App } from "../app";
import { h } from "../shell/dom";
import { STYLES } from "../stage/style";
import type { Plan } from "./plan";
import type { PlanView } from "./plan_view";
import type { Troupe } from "./troupe";

interface Button {
  key: string;
  help: string;
  label(): string;
  pressed?(): boolean;
  act(): void;
}

/** How walks are shown: buttons, and a key for each. */
export class ViewButtons {
  readonly element: HTMLElement;
  private readonly free: (() => void)[];

  /** @param plan Gives the plan that is walked. */
  constructor(app: App, troupe: Troupe, plan: () => Plan, view: PlanView) {
    const { cast } = troupe;
    const next = <T>(values: readonly T[], value: T) => values[(values.indexOf(value) + 1) % values.length]!;
    const buttons: Button[] = [
      { key: "s", help: "shaded, hidden lines or wireframe", label: () => cast.style, act: () => (cast.style = next(STYLES, cast.style)) },
      { key: "v", help: "plan view from above", label: () => "plan view", pressed: () => view.on, act: () => view.toggle(plan()) },
      { key: "f", help: "follow with the camera", label: () => "follow", pressed: () => cast.follow, act: () => (cast.follow = !cast.follow) },
      { key: "g", help: "support polygon, centre of mass and margin", label: () => "support", pressed: () => troupe.showSupport, act: () => (troupe.showSupport = !troupe.showSupport) },
      { key: "m", help: "pose of the body at each cycle", label: () => "markers", pressed: () => troupe.showMarkers, act: () => (troupe.showMarkers = !troupe.showMarkers) },
      { key: "r", help: "trail of the body", label: () => "trail", pressed: () => cast.showTrails, act: () => (cast.showTrails = !cast.showTrails) },
      { key: "b", help: "three robots side by side or overlaid", label: () => (cast.arrangement === "beside" ? "side by side" : "overlaid"), act: () => (cast.arrangement = next(["beside", "overlaid"] as const, cast.arrangement)) },
      { key: "a", help: "fit all in view", label: () => "fit", act: () => { view.close(); troupe.look(); } },
    ];
    const elements = buttons.map(({ key, help }) => h("button", { title: `${help} (${key.toUpperCase()})` }));
    const name = () =>
      buttons.forEach(({ label, pressed }, i) => {
        elements[i]!.textContent = label();
        if (pressed) elements[i]!.setAttribute("aria-pressed", String(pressed()));
      });
    this.free = buttons.map(({ key, help, act }, i) => {
      const press = () => {
        act();
        cast.arrange();
        troupe.arrange();
        name();
      };
      elements[i]!.addEventListener("click", press);
      return app.keys.add(key, help, press);
    });
    name();
    this.element = h("div.buttons", {}, ...elements);
  }

  dispose(): void {
    for (const free of this.free) free();
  }
}
