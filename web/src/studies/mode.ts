import "./studies.css";
import type { App, Mode } from "../app";
import { getJson } from "../server/api";
import { h } from "../shell/dom";
import { FieldError, Form, type StudyForm } from "./form";
import { type Job, Jobs, jobsView } from "./jobs";

/** Starting studies: their forms, and what became of those that were started. */
export class StudiesMode implements Mode {
  readonly id = "studies";
  readonly title = "Studies";
  readonly about = "Start a study: choose its robot, engines and settings in a form, and watch its runs arrive.";
  readonly timeless = true;
  private forms: StudyForm[] = [];
  private form: Form | null = null;
  private readonly kept = new Map<string, Form>();
  private jobs: Jobs | null = null;
  private stop: (() => void)[] = [];

  /** @param runs The mode in which results are watched. */
  constructor(private readonly runs: Mode) {}

  /** The studies of all modes of a page. */
  of(app: App): Jobs {
    return (this.jobs ??= new Jobs(app));
  }

  async enter(app: App): Promise<void> {
    const jobs = this.of(app);
    const places = {
      list: app.layout.panel("left", "Studies"),
      form: h("div.study-sheet"),
      jobs: app.layout.panel("right", "Started"),
    };
    app.layout.overlay.append(places.form);
    places.list.append(h("p.empty", {}, "Looking for studies …"));
    this.stop.push(jobsView(app, jobs, places.jobs, (job) => void this.show(app, job)));
    if (!this.forms.length) this.forms = await getJson<StudyForm[]>("api/studies");
    if (app.mode !== this) return;
    const choose = (study: StudyForm) => {
      this.open(app, study, places.form);
      for (const button of places.list.querySelectorAll("button")) {
        button.setAttribute("aria-pressed", String(button.dataset.study === study.name));
      }
    };
    const pick = (study: StudyForm) => {
      choose(study);
      // On a phone the form is below the list.
      if (matchMedia("(max-width: 800px)").matches) places.form.scrollIntoView();
    };
    places.list.replaceChildren(
      ...this.forms.map((study) =>
        h("button.study", { "data-study": study.name, "aria-pressed": false, onclick: () => pick(study) }, h("b", {}, study.name), h("small", {}, study.help))),
    );
    choose(this.form?.study ?? this.forms.find(({ name }) => name === "drop") ?? this.forms[0]!);
    await jobs.refresh();
  }

  leave(): void {
    for (const stop of this.stop.splice(0)) stop();
  }

  state(): Record<string, unknown> {
    return { study: this.form?.study.name ?? "", jobs: this.jobs?.list ?? [], studies: this.forms.map(({ name }) => name) };
  }

  private open(app: App, study: StudyForm, host: HTMLElement): void {
    const form = (this.form = this.kept.get(study.name) ?? new Form(study));
    this.kept.set(study.name, form);
    const start = h("button.primary", { "data-start": study.name }, `Start ${study.name}`);
    const wrong = h("p.failed", { role: "alert", hidden: true });
    const begin = async () => {
      wrong.hidden = true;
      try {
        start.disabled = true;
        await this.of(app).start(study.name, form.values());
      } catch (error) {
        wrong.textContent = error instanceof Error ? error.message : String(error);
        wrong.hidden = false;
        if (!(error instanceof FieldError)) throw error;
      } finally {
        start.disabled = false;
      }
    };
    start.addEventListener("click", () => void app.guarded(begin));
    const again = h("button", { onclick: () => {
      this.kept.delete(study.name);
      this.open(app, study, host);
    } }, "Defaults");
    host.replaceChildren(
      h("h1", {}, study.title),
      h("p.lead", {}, `${study.help[0]!.toUpperCase()}${study.help.slice(1)}.`),
      h("div.buttons", {}, start, again),
      wrong,
      form.element,
    );
  }

  private async show(app: App, job: Job): Promise<void> {
    await app.enter(this.runs);
    document.querySelector<HTMLInputElement>(".side input[type=search]")?.focus();
    app.layout.notice(`The runs are in ${job.folder}.`);
  }
}
