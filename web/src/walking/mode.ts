import "./walking.css";
import type { App, Mode } from "../app";
import type { Cast } from "../replay/cast";
import { h } from "../shell/dom";
import type { View } from "../shell/link";
import type { Jobs } from "../studies/jobs";
import { EyePanel } from "./eye_panel";
import { Files } from "./files";
import { Findings } from "./findings";
import { GaitDiagram } from "./gait_diagram";
import { GaitPanel } from "./gait_panel";
import { GroundPanel } from "./ground_panel";
import { type Draft, History } from "./history";
import { JointWindow } from "./joint_window";
import { LegPicker } from "./leg_picker";
import { Menu } from "./menu";
import { PathPanel } from "./path_panel";
import { PathTool } from "./path_tool";
import { UNIT } from "./plan";
import { PhysicsPanel } from "./physics_panel";
import { PlanView } from "./plan_view";
import { Planner } from "./planner";
import { RobotPanel } from "./robot_panel";
import { Troupe } from "./troupe";
import { UndoButtons } from "./undo_buttons";
import { ViewButtons } from "./view_buttons";

/** Give the draft that a link has, if any. */
function drafted(text: string | null): Draft | undefined {
  try {
    const bytes = Uint8Array.from(atob(text ?? ""), (letter) => letter.charCodeAt(0));
    const draft = JSON.parse(new TextDecoder().decode(bytes)) as Draft | null;
    return draft && Array.isArray(draft.kinds) && Array.isArray(draft.plan?.waypoints) ? draft : undefined;
  } catch {
    return undefined;
  }
}

type Places = Record<"view" | "menu" | "walk" | "gait" | "joints" | "physics", HTMLElement>;

/** The walking workshop: a machine with pantograph legs is made, led along a path, and watched. */
export class WalkingMode implements Mode {
  readonly id = "walking";
  readonly title = "Walking";
  readonly about = "Build a walking machine, draw its path, and see at once how it goes and what would go wrong.";
  private planner: Planner | null = null;
  private troupe: Troupe | null = null;
  private tool: PathTool | null = null;
  private menu: Menu | null = null;
  private stop: (() => void)[] = [];
  /** The drafts, which outlive a change of the mode, as do the time and the page of the menu. */
  private readonly history = new History();
  private left = { time: 0, page: "Robot" };

  /** @param jobs Gives the studies that the page has started. */
  constructor(private readonly jobs: (app: App) => Jobs) {}

  get cast(): Cast | null {
    return this.troupe?.cast ?? null;
  }

  async enter(app: App): Promise<void> {
    const troupe = (this.troupe = new Troupe(app));
    const draft = drafted(app.asked.get("walk"));
    if (draft) this.history.add(draft, false);
    troupe.cast.read(app.asked);
    const planner: Planner = new Planner(app, this.history, (walks) => troupe.show(walks, planner.plan));
    this.planner = planner;
    // Panels first, for the view to have its final size when the walk is fitted into it.
    const places: Places = {
      view: app.layout.panel("left", "View"),
      menu: app.layout.panel("left", "Main menu"),
      walk: app.layout.panel("right", "Walk"),
      gait: app.layout.panel("right", "Gait"),
      joints: app.layout.panel("right", "Joints"),
      physics: app.layout.panel("left", "Physics"),
    };
    places.walk.append(h("p.empty", {}, "Planning the first walk …"));
    await planner.start();
    // The mode may have been left meanwhile.
    if (this.troupe !== troupe) return;
    this.open(app, planner, troupe, places);
    troupe.look();
    app.clock.set(this.left.time);
    troupe.changed.emit();
  }

  leave(app: App): void {
    if (this.menu) this.left = { time: app.clock.time, page: this.menu.page };
    for (const stop of this.stop.splice(0)) stop();
    this.troupe?.clear();
    this.planner = this.troupe = this.tool = this.menu = null;
    window.kinetarium.addWaypoint = null;
  }

  view(): View {
    const { planner, troupe } = this;
    if (!planner?.plan || !troupe) return {};
    const draft: Draft = { plan: planner.plan, kinds: planner.kinds };
    const bytes = new TextEncoder().encode(JSON.stringify(draft));
    return { walk: btoa(String.fromCharCode(...bytes)), ...troupe.cast.written() };
  }

  state(): Record<string, unknown> {
    const { planner, troupe } = this;
    if (!planner?.plan || !troupe) return {};
    return {
      plan: planner.plan,
      kinds: planner.kinds,
      plans: planner.count,
      busy: planner.busy,
      waypoints: planner.plan.waypoints.map(([x, y]) => [x * UNIT, y * UNIT]),
      pen: this.tool?.pen ?? false,
      places: this.tool?.places ?? [],
      ...troupe.state(),
    };
  }

  private open(app: App, planner: Planner, troupe: Troupe, places: Places): void {
    const view = new PlanView(app);
    const look = () => (view.on ? view.open(planner.plan) : troupe.look());
    const tool = (this.tool = new PathTool(app, planner));
    const files = new Files(app, planner, look);
    const robot = new RobotPanel(app, planner, troupe, look);
    const path = new PathPanel(app, planner, tool, look, () => files.load(), () => troupe.walker?.facts.markers.at(-1) ?? [0, 0, 0]);
    const gait = new GaitPanel(planner);
    const ground = new GroundPanel(planner);
    const buttons = new ViewButtons(app, troupe, () => planner.plan, view);
    const findings = new Findings(troupe, (cure) => void app.guarded(() => planner.edit(cure)));
    const diagram = new GaitDiagram(app, troupe);
    const joints = new JointWindow(app, troupe, () => planner.dragging);
    const menu = (this.menu = new Menu({ Robot: robot.element, Path: path.element, Gait: gait.element, Ground: ground.element, Files: files.element }));
    menu.open(this.left.page);
    const steps = new UndoButtons(app, planner);
    const eye = new EyePanel(app);
    const picker = new LegPicker(app, troupe, () => tool.busy, (link) => robot.links.choose(link));
    places.view.append(buttons.element, eye.element);
    places.menu.append(steps.element, menu.element);
    places.walk.replaceChildren(findings.element);
    places.gait.append(diagram.element);
    places.joints.append(joints.table, joints.plots);
    const physics = new PhysicsPanel(app, planner, this.jobs(app));
    places.physics.append(physics.element);
    for (const part of [tool, steps, eye, picker, robot, path, gait, ground, buttons, findings, diagram, joints, physics]) this.stop.push(() => part.dispose());
    this.stop.push(() => view.close());
    this.stop.push(app.live.changed.on((connection) => {
      if (connection === "here") void app.guarded(() => planner.renew());
    }));
    window.kinetarium.addWaypoint = (x, y) => tool.add(x, y);
  }
}
