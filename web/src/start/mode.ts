import "./start.css";
import type { App, Mode } from "../app";
import { getJson, type FolderEntry, type Listing } from "../server/api";
import { h } from "../shell/dom";
import { showHelp } from "../shell/help";
import { remember } from "../shell/memory";

/** Folders that are offered at once. */
const MOST = 6;

/** The first page: what this is, what is in the folder, and what to click. */
export class StartMode implements Mode {
  readonly id = "start";
  readonly title = "Start";
  readonly timeless = true;
  private listing: Listing = { root: "", folders: [], maps: [] };
  private stop = () => {};
  private readonly page = h("div.start", { tabindex: -1 });

  /** @param modes The other modes, each of which gets a card. */
  constructor(private readonly modes: Mode[]) {}

  async enter(app: App): Promise<void> {
    app.layout.overlay.append(this.page);
    this.page.replaceChildren(h("p.empty", {}, "Looking for results …"));
    this.stop = app.live.message.on((message) => {
      if (message.type === "runs") void app.guarded(() => this.list(app));
    });
    await this.list(app);
  }

  private async list(app: App): Promise<void> {
    this.listing = await getJson<Listing>("api/runs");
    if (app.mode === this) this.page.replaceChildren(...this.content(app));
  }

  leave(): void {
    remember("started", true);
    this.stop();
    this.page.remove();
  }

  state(): Record<string, unknown> {
    return { runs: this.count };
  }

  private get count(): number {
    return this.listing.folders.reduce((sum, folder) => sum + folder.runs.length, 0);
  }

  private content(app: App): HTMLElement[] {
    const { root, folders, maps } = this.listing;
    const filled = folders.filter((folder) => folder.runs.length);
    const found = filled.length
      ? `The folder “${root}” has ${many(this.count, "run")} of ${many(filled.length, "study", "studies")}${maps.length ? ` and ${many(maps.length, "map")}` : ""}.`
      : `The folder “${root}” has no runs yet.`;
    return [
      h("h1", {}, "Kinetarium studio"),
      h("p.lead", {}, "Every run of a simulated robot as it moved: in 3-D, beside the curves it was judged by, and beside the same run in other physics engines."),
      h("h2", {}, "What do you want to do?"),
      h("div.cards", {}, ...this.modes.map((mode) => this.card(app, mode))),
      h("h2", {}, found),
      filled.length ? this.folders(app, filled) : hint(),
      h("p", {}, "Press ", h("button.link", { onclick: () => showHelp(app) }, h("kbd", {}, "?")),
        " for all keys. “Kinetarium”, at the top left, leads back here."),
    ];
  }

  private card(app: App, mode: Mode): HTMLElement {
    return h("button.card", { "data-start": mode.id, onclick: () => void app.enter(mode) },
      h("strong", {}, mode.title), h("span", {}, mode.about ?? ""));
  }

  /** Offer the folders, a press on which shows their first run. */
  private folders(app: App, folders: FolderEntry[]): HTMLElement {
    const [runs] = this.modes;
    return h("div.folders", {},
      ...folders.slice(0, MOST).map((folder) =>
        h("button.card", { "data-folder": folder.name, onclick: () => void app.enter(runs!, new URLSearchParams({ folder: folder.id })) },
          h("strong", {}, folder.name), h("span", {}, `${folder.title ?? folder.study ?? ""}: ${many(folder.runs.length, "run")}`))),
      folders.length > MOST && h("span.empty", {}, `and ${folders.length - MOST} more under ${runs!.title}`),
    );
  }
}

function hint(): HTMLElement {
  return h("p", {}, "Make some, and they appear here by themselves: ",
    h("code", {}, "kinetarium drop --out out/drop"), " lets a box fall in every engine that is installed.");
}

function many(count: number, one: string, more = `${one}s`): string {
  return `${count} ${count === 1 ? one : more}`;
}
