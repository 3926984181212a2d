import type { App } from "../app";
import { getJson, postJson } from "../server/api";
import { h } from "../shell/dom";
import type { Jobs } from "../studies/jobs";
import { jobsView } from "../studies/jobs";
import type { Planner } from "./planner";
import { TABLE_1 } from "./plan";

/** The walk of the workshop in physics: the study `walk` with its path and its robot. */
export class PhysicsPanel {
  readonly element = h("div");
  private readonly stop: (() => void)[] = [];

  constructor(
    private readonly app: App,
    private readonly planner: Planner,
    private readonly jobs: Jobs,
  ) {
    const engines = h("select", { "aria-label": "Engine of the walk" }, h("option", { value: "mujoco" }, "mujoco"));
    void app.guarded(async () => {
      const { engines: known } = await getJson<{ engines: { name: string; reason: string }[] }>("api/live");
      engines.replaceChildren(...known.filter(({ reason }) => !reason).map(({ name }) => h("option", { value: name }, name)));
      engines.value = "mujoco";
    });
    const start = h("button", { "data-start": "walk", title: "Simulate this walk; it appears among the runs", onclick: () => void app.guarded(() => this.start(engines.value)) }, "Walk in physics");
    const list = h("div");
    this.element.append(h("div.buttons", {}, engines, start), list);
    this.stop.push(jobsView(app, jobs, list, (job) => app.layout.notice(`The runs are in ${job.folder}.`)));
    void app.guarded(() => jobs.refresh());
  }

  dispose(): void {
    for (const stop of this.stop) stop();
  }

  private async start(engine: string): Promise<void> {
    const { plan, kinds } = this.planner;
    const { terrain, order } = plan;
    if (terrain.slope_deg !== 0 || terrain.steps.length || terrain.map) {
      throw new Error("from here walks in physics are on level ground; for others: kinetarium walk --terrain");
    }
    if (plan.segments?.length || plan.by_region) {
      throw new Error("in physics a path has one segment, and one leg order for all of it");
    }
    const row = Object.entries(TABLE_1).find(([, legs]) => legs.join() === order.join())?.[0];
    if (order.length && !row) throw new Error("in physics the legs follow the automatic order, or a row of Table 1");
    const machine = await postJson("api/walking/files/machine.json", { plan, kinds });
    const { stride, lift, sway, tilt, timing, step_time, heading, curve, spin_deg } = plan;
    const files = { "machine.json": await machine.text(), "path.json": JSON.stringify(plan.waypoints) };
    const spin = heading === "spin";
    const config = {
      engine: [engine], type: kinds, machine: "@machine.json", path: [spin ? "spin" : "@path.json"], order: [row ?? "auto"],
      stride: [stride], sway: [sway], tilt, timing: [timing], lift, step_time, curve, spin_deg, ...(spin ? {} : { heading }),
    };
    const job = await this.jobs.start("walk", config, files);
    this.app.layout.notice(`The walk is simulated; its run will be in ${job.folder}.`);
  }
}
