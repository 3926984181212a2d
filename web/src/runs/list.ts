import type { App } from "../app";
import type { Actor } from "../replay/actor";
import type { Cast } from "../replay/cast";
import type { FolderEntry, Listing, RunEntry } from "../server/api";
import { ServerSource } from "../server/source";
import { h, short } from "../shell/dom";
import { save } from "../shell/tools";

/** The runs by folder, each with what tells it apart, how it ended and what it was judged by. */
export class RunList {
  private listing: Listing = { root: "", folders: [], maps: [] };
  private readonly open = new Map<string, Actor>();
  private readonly closed = new Set<string>();
  private readonly filter = h("input.filter", { type: "search", placeholder: "Filter", "aria-label": "Filter" });
  private readonly export = h("button", { title: "Save what is on the stage as one HTML file" }, "Export HTML");
  private readonly rows = h("div");

  constructor(
    private readonly app: App,
    private readonly cast: Cast,
    host: HTMLElement,
  ) {
    this.filter.addEventListener("input", () => this.draw());
    this.export.addEventListener("click", () => void app.guarded(() => this.saveExport()));
    host.append(h("div.row", {}, this.filter, this.export), this.rows);
  }

  get count(): number {
    return this.listing.folders.reduce((sum, folder) => sum + folder.runs.length, 0);
  }

  show(listing: Listing): void {
    this.listing = listing;
    this.draw();
  }

  /** Watch the first run there is. */
  async openFirst(): Promise<void> {
    const folder = this.listing.folders.find((f) => f.runs.length);
    const run = folder?.runs.find((r) => r.status === "completed");
    if (folder && run) await this.watch(folder, run, false);
  }

  /** Watch a run alone, or together with those that are watched already. */
  async watch(folder: FolderEntry, run: RunEntry, together: boolean): Promise<void> {
    const id = `${folder.id}/${run.key}`;
    const actor = this.open.get(id);
    if (actor && together) {
      this.cast.remove(actor);
      this.open.delete(id);
    } else {
      const source = new ServerSource(`api/replay/${folder.id}/${encodeURIComponent(run.key)}`);
      if (!together) this.closeAll();
      this.open.set(id, await this.cast.add(source));
    }
    this.draw();
  }

  private async saveExport(): Promise<void> {
    const runs = [...this.open.keys()].map(encodeURIComponent).join(",");
    const answer = await fetch(`api/export?runs=${runs}`);
    if (!answer.ok) throw new Error("nothing on the stage can be exported");
    save(await answer.blob(), "kinetarium.html");
  }

  private closeAll(): void {
    for (const actor of this.open.values()) this.cast.remove(actor);
    this.open.clear();
  }

  private draw(): void {
    this.export.disabled = this.open.size === 0;
    const { folders } = this.listing;
    if (!folders.length) {
      const hint = "No runs here yet: run a study with --out into this folder.";
      this.rows.replaceChildren(h("p.empty", {}, hint));
      return;
    }
    this.rows.replaceChildren(...folders.map((folder) => this.folder(folder)));
  }

  private folder(folder: FolderEntry): HTMLElement {
    const wanted = this.filter.value.toLowerCase();
    const fits = (run: RunEntry) =>
      `${folder.name} ${folder.study} ${run.label} ${run.status}`.toLowerCase().includes(wanted);
    const runs = folder.runs.filter(fits);
    const state = folder.error ?? (folder.finished ? "" : "running or stopped");
    const element = h(
      "details.folder",
      { open: !this.closed.has(folder.id), hidden: wanted !== "" && !runs.length },
      h("summary", { title: folder.title }, h("b", {}, folder.name), ` · ${folder.runs.length} `, h("i", {}, state)),
      ...runs.map((run) => this.run(folder, run)),
    );
    element.addEventListener("toggle", () => {
      if (element.open) this.closed.delete(folder.id);
      else this.closed.add(folder.id);
    });
    return element;
  }

  private run(folder: FolderEntry, run: RunEntry): HTMLElement {
    const actor = this.open.get(`${folder.id}/${run.key}`);
    const watch = (together: boolean) => void this.app.guarded(() => this.watch(folder, run, together));
    const row = h(
      "div.run",
      { "data-status": run.status, "data-open": Boolean(actor), title: caseWords(run) },
      h("button.name", { onclick: () => watch(false) }, run.label),
      h("span.status", {}, run.status),
      h(
        "button.add",
        { title: actor ? "Take off the stage" : "Show together with the others", onclick: () => watch(true) },
        actor ? "−" : "+",
      ),
      h("small", {}, run.message || figures(run)),
    );
    if (actor) row.style.setProperty("--series", actor.color);
    return row;
  }
}

function words(value: unknown): string {
  if (typeof value === "number") return short(value, 3);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** All fields of a case. */
function caseWords(run: RunEntry): string {
  return Object.entries(run.case).map(([name, value]) => `${name} ${words(value)}`).join("\n");
}

/** The first figures a run was judged by. */
function figures(run: RunEntry): string {
  const row = run.rows[0] ?? {};
  const numbers = Object.entries(row).filter(([, value]) => typeof value === "number");
  return numbers.slice(0, 3).map(([name, value]) => `${name} ${words(value)}`).join(" · ");
}
