import type { App } from "../app";
import { h } from "./dom";
import { showHelp } from "./help";

/** The tools of the view that every mode has: projection, picture, theme. */
export function tools(app: App): void {
  const { stage } = app;
  const projection = h("button", { title: "Perspective or orthographic (O)" });
  const toggle = () => {
    const { viewpoint } = stage;
    viewpoint.setProjection(viewpoint.projection === "perspective" ? "orthographic" : "perspective");
    stage.request();
  };
  // A mode may change it, too.
  const name = () => {
    if (projection.textContent !== stage.viewpoint.projection) projection.textContent = stage.viewpoint.projection;
  };
  projection.addEventListener("click", toggle);
  stage.update.on(name);
  name();
  const shoot = () => void app.guarded(() => savePicture(app));
  const light = () => app.theme.toggle();
  const theme = h("button", { title: "Dark or light (T)", "aria-label": "Dark or light", onclick: light }, "◐");
  const picture = h("button", { title: "Save a picture (P)", onclick: shoot }, "PNG");
  app.layout.camera.append(projection);
  app.layout.saving.append(picture);
  app.layout.tools.append(theme);
  app.keys.add("o", "perspective or orthographic", toggle);
  app.keys.add("p", "save a picture", shoot);
  app.keys.add("t", "dark or light", light);
  const help = () => showHelp(app);
  app.keys.add("?", "show this list", help);
  app.layout.tools.append(h("button", { title: "Keys and mouse (?)", "aria-label": "Keys and mouse", onclick: help }, "?"));
  for (const side of ["left", "right"] as const)
    app.keys.add(side === "left" ? "<" : ">", `hide or show the panels on the ${side}`, () => app.layout.sides[side].toggle());
}

async function savePicture(app: App): Promise<void> {
  save(await app.stage.png(), "kinetarium.png");
}

/** Give the user a file. */
export function save(blob: Blob, name: string): void {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
