import type { App } from "../app";
import type { Actor } from "../replay/actor";
import type { Cast } from "../replay/cast";
import type { FolderEntry, Listing, RunEntry } from "../server/api";
import { ServerSource } from "../server/source";
import { h, short } from "../shell/dom";
import { exportButton } from "../shell/export_button";

/** The runs by folder, each with what tells it apart, how it ended and what it was judged by. */
export class RunList {
  private listing: Listing = { root: "", folders: [], maps: [] };
  private readonly open = new Map<string, Actor>();
  private readonly closed = new Set<string>();
  private readonly loading = new Set<string>();
  /** How often a run was asked for alone. */
  private turn = 0;
  private readonly filter = h("input.filter", { type: "search", placeholder: "Filter", "aria-label": "Filter" });
  private readonly export: HTMLButtonElement;
  private readonly rows = h("div");

  /** @param around Gives what an exported page is to hold beside the runs. */
  constructor(
    private readonly app: App,
    private readonly cast: Cast,
    host: HTMLElement,
    around: () => Record<string, string>,
  ) {
    this.filter.addEventListener("input", () => this.draw());
    this.export = exportButton(app, () => ({ runs: [...this.open.keys()].join(","), ...around() }));
    host.append(h("div.row", {}, this.filter, this.export), this.rows);
  }

  get count(): number {
    return this.listing.folders.reduce((sum, folder) => sum + folder.runs.length, 0);
  }

  show(listing: Listing): void {
    this.listing = listing;
    this.draw();
  }

  /** The runs that are watched, "folder/key", in their order. */
  get shown(): string[] {
    return [...this.open.keys()];
  }

  /** Watch some runs, "folder/key"; the first of a folder, or of all, if none of them is here. */
  async openAll(ids: string[], wanted: string | null): Promise<void> {
    const all = this.listing.folders.flatMap((folder) => folder.runs.map((run) => ({ folder, run })));
    const found = ids.flatMap((id) => all.find(({ folder, run }) => id === `${folder.id}/${run.key}`) ?? []);
    if (found.length < ids.length) this.app.layout.notice("The link names runs that are not in this folder.", "error");
    if (!found.length) return this.openFirst(wanted);
    for (const { folder, run } of found) await this.watch(folder, run, this.open.size > 0);
  }

  /** Watch the first run of a folder, or of the first that has any; one with bodies if there is one. */
  private async openFirst(wanted: string | null): Promise<void> {
    const filled = this.listing.folders.filter((f) => f.runs.length);
    const folder = filled.find((f) => f.id === wanted) ?? filled[0];
    const run = folder?.runs.find((r) => r.status === "completed") ?? (wanted ? folder?.runs[0] : undefined);
    if (!folder || !run) return;
    await this.watch(folder, run, false);
    const { instead } = this.open.get(`${folder.id}/${run.key}`)?.file.head ?? {};
    const moving = folder.runs.find((r) => r.key === instead);
    if (moving) await this.watch(folder, moving, false);
  }

  /** Watch a run alone, or together with those that are watched already. */
  async watch(folder: FolderEntry, run: RunEntry, together: boolean): Promise<void> {
    const id = `${folder.id}/${run.key}`;
    const actor = this.open.get(id);
    if (actor && together) {
      this.cast.remove(actor);
      this.open.delete(id);
      this.draw();
      return;
    }
    if (!together) this.turn++;
    const { turn } = this;
    this.loading.add(id);
    this.draw();
    try {
      const source = new ServerSource(`api/replay/${folder.id}/${encodeURIComponent(run.key)}`);
      if (together) await this.bring(id, source, turn);
      else {
        // Another run may be chosen meanwhile.
        const shown = await this.cast.replace(source, () => turn === this.turn);
        if (shown) {
          this.open.clear();
          this.open.set(id, shown);
        }
      }
    } finally {
      this.loading.delete(id);
      this.draw();
    }
  }

  private async bring(id: string, source: ServerSource, turn: number): Promise<void> {
    const added = await this.cast.add(source);
    if (turn === this.turn && !this.open.has(id)) this.open.set(id, added);
    else this.cast.remove(added);
  }

  private draw(): void {
    this.export.disabled = this.open.size === 0;
    const { folders } = this.listing;
    if (!folders.length) {
      const hint = "No runs yet: run a study with --out in this folder.";
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
    const state = folder.error ?? (folder.finished ? "" : "running or interrupted");
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
    const id = `${folder.id}/${run.key}`;
    const actor = this.open.get(id);
    const watch = (together: boolean) => void this.app.guarded(() => this.watch(folder, run, together));
    const row = h(
      "div.run",
      { "data-status": run.status, "data-open": Boolean(actor), title: caseWords(run) },
      h("button.name", { "data-key": id, onclick: () => watch(false) }, run.label),
      h("span.status", {}, this.loading.has(id) ? "loading …" : run.status),
      h(
        "button.add",
        {
          title: actor ? "Remove from the view" : "Add to the view",
          "aria-label": actor ? `Remove ${folder.name} ${run.label} from the view` : `Add ${folder.name} ${run.label} to the view`,
          "data-key": `${id} add`,
          onclick: () => watch(true),
        },
        actor ? "−" : "+",
      ),
      h("small", {}, run.message || figures(run)),
    );
    if (actor) row.style.setProperty("--series", actor.color);
    return row;
  }
}

/** Write a value in few words; of what has parts only those that are plain. */
function words(value: unknown): string {
  if (typeof value === "number") return short(value, 3);
  if (Array.isArray(value)) return value.length > 3 || value.some(isObject) ? `${value.length} items` : value.map(words).join(" ");
  if (!isObject(value)) return String(value);
  const plain = Object.entries(value).filter(([, part]) => !isObject(part));
  return plain.map(([name, part]) => `${name} ${words(part)}`).join(", ");
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
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
