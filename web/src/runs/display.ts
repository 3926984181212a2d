import type { App } from "../app";
import type { Arrangement, Cast } from "../replay/cast";
import { h } from "../shell/dom";
import { STYLES } from "../stage/style";

const ARRANGEMENTS: Arrangement[] = ["overlaid", "beside"];
const NAMES: Record<Arrangement, string> = { overlaid: "overlaid", beside: "side by side" };

/** How the replays are shown: buttons, and a key for each. Gives what frees the keys. */
export function displayPanel(app: App, cast: Cast, host: HTMLElement): () => void {
  const free: (() => void)[] = [];
  const names: (() => void)[] = [];
  const button = (
    key: string,
    help: string,
    label: () => string,
    pressed: () => boolean | null,
    act: () => void,
  ) => {
    const element = h("button", { title: `${help} (${key.toUpperCase()})` });
    const name = () => {
      element.textContent = label();
      const state = pressed();
      if (state !== null) element.setAttribute("aria-pressed", String(state));
    };
    const press = () => {
      act();
      cast.arrange();
      for (const each of names) each();
    };
    element.addEventListener("click", press);
    names.push(name);
    free.push(app.keys.add(key, help, press));
    name();
    return element;
  };
  const next = <T>(values: readonly T[], value: T) => values[(values.indexOf(value) + 1) % values.length]!;
  const style = () => (cast.style = next(STYLES, cast.style));
  const arrangement = () => (cast.arrangement = next(ARRANGEMENTS, cast.arrangement));
  const none = () => null;
  host.append(
    h(
      "div.buttons",
      {},
      button("s", "shaded, hidden lines or wireframe", () => cast.style, none, style),
      button("b", "overlaid or side by side", () => NAMES[cast.arrangement], none, arrangement),
      button("f", "follow with the camera", () => "follow", () => cast.follow,
        () => (cast.follow = !cast.follow)),
      button("c", "contact forces", () => "forces", () => cast.showArrows,
        () => (cast.showArrows = !cast.showArrows)),
      button("r", "trails", () => "trails", () => cast.showTrails,
        () => (cast.showTrails = !cast.showTrails)),
      button("h", "shadows", () => "shadows", () => app.stage.sun.shadows,
        () => (app.stage.sun.shadows = !app.stage.sun.shadows)),
      button("a", "fit all in view", () => "fit", none, () => cast.frame()),
    ),
  );
  return () => free.forEach((release) => release());
}
