import type { App } from "../app";
import { complaint } from "../server/source";
import { h } from "./dom";
import { viewOf } from "./link";
import { save } from "./tools";

/** How an exported page is to show what it holds: as it is seen now. What it holds it need not be told. */
export function exportedView(app: App): string {
  const view = viewOf(app);
  for (const name of ["mode", "run", "walk", "map", "field", "cuts"]) view.delete(name);
  view.set("theme", app.theme.dark ? "dark" : "light");
  return view.toString();
}

/**
 * The button that saves what is on the stage as one HTML file.
 *
 * @param asked Gives what the page is to hold, as the server takes it.
 */
export function exportButton(app: App, asked: () => Record<string, string>): HTMLButtonElement {
  const saveExport = async () => {
    const answer = await fetch(`api/export?${new URLSearchParams({ ...asked(), view: exportedView(app) })}`);
    if (!answer.ok) throw new Error(await complaint(answer));
    save(await answer.blob(), "kinetarium.html");
  };
  const title = "Save the current view as one HTML file";
  return h("button", { title, onclick: () => void app.guarded(saveExport) }, "Export HTML");
}
