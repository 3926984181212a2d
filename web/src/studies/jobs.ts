import type { App } from "../app";
import { getJson, postJson } from "../server/api";
import { h } from "../shell/dom";
import { Event } from "../shell/events";

/** A study that was started, as the server tells it. */
export interface Job {
  id: string;
  study: string;
  folder: string;
  state: "running" | "done" | "refused" | "failed" | "cancelled";
  total: number;
  done: number;
  failed: number;
  message: string;
}

/** How often the server is asked while a study runs [ms]. */
const EVERY = 700;

/** The studies that were started from pages; they run on wherever the page is. */
export class Jobs {
  list: Job[] = [];
  readonly changed = new Event();
  private timer = 0;

  constructor(private readonly app: App) {}

  /** Start a study; gives its job. */
  async start(study: string, config: Record<string, unknown>, files: Record<string, string> = {}): Promise<Job> {
    const answer = await postJson(`api/studies/${encodeURIComponent(study)}`, { config, files });
    const job = (await answer.json()) as Job;
    await this.refresh();
    return job;
  }

  async cancel(job: Job): Promise<void> {
    await postJson(`api/jobs/${job.id}/cancel`, {});
    await this.refresh();
  }

  async refresh(): Promise<void> {
    clearTimeout(this.timer);
    const before = new Map(this.list.map((job) => [job.id, job.state]));
    this.list = await getJson<Job[]>("api/jobs");
    for (const job of this.list) {
      if (before.get(job.id) === "running" && job.state !== "running") this.tell(job);
    }
    this.changed.emit();
    if (this.list.some((job) => job.state === "running")) {
      this.timer = window.setTimeout(() => void this.app.guarded(() => this.refresh()), EVERY);
    }
  }

  private tell({ study, state, message }: Job): void {
    const words = { done: "is done", refused: "was refused", failed: "has failed", cancelled: "was cancelled", running: "" }[state];
    this.app.layout.notice(`${study} ${words}${message ? `: ${message}` : ""}`, state === "done" || state === "cancelled" ? "note" : "error");
  }
}

/** The list of started studies, each with its progress. */
export function jobsView(app: App, jobs: Jobs, host: HTMLElement, show: (job: Job) => void): () => void {
  const draw = () => {
    if (!jobs.list.length) {
      host.replaceChildren(h("p.empty", {}, "Nothing was started from the page yet."));
      return;
    }
    host.replaceChildren(
      ...jobs.list.map((job) =>
        h(
          "div.job",
          { "data-state": job.state, "data-job": job.id },
          h("b", {}, job.folder),
          h("span", {}, job.state === "running" && job.total === 0 ? "preparing …" : job.state === "running" ? `${job.done} of ${job.total}` : job.state),
          job.state === "running"
            ? h("button", { onclick: () => void app.guarded(() => jobs.cancel(job)) }, "Cancel")
            : job.state === "done" && h("button", { onclick: () => show(job) }, "Show runs"),
          job.state === "running" && h("progress", { max: job.total || 1, value: job.total ? job.done : undefined, "aria-label": `Progress of ${job.folder}` }),
          job.failed > 0 && h("small.failed", {}, `${job.failed} failed`),
          job.message !== "" && h("small", {}, job.message),
        ),
      ),
    );
  };
  draw();
  return jobs.changed.on(draw);
}
