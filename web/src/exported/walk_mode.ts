import "../walking/walking.css";
import type { App, Mode } from "../app";
import type { Cast } from "../replay/cast";
import type { MemorySource } from "../server/source";
import type { View } from "../shell/link";
import { Findings } from "../walking/findings";
import { GaitDiagram } from "../walking/gait_diagram";
import { JointWindow } from "../walking/joint_window";
import type { Facts, Plan } from "../walking/plan";
import { PlanView } from "../walking/plan_view";
import { Troupe } from "../walking/troupe";
import { ViewButtons } from "../walking/view_buttons";

/** The plan of exported walks, and what is known of each. */
export interface Walks {
  plan: Plan;
  walks: Facts[];
}

/** Watching the walks of an exported page, with all that the workshop shows of them. */
export class ExportedWalkMode implements Mode {
  readonly id = "exported-walk";
  readonly title = "Walk";
  private troupe: Troupe | null = null;
  private stop: (() => void)[] = [];

  constructor(
    private readonly sources: MemorySource[],
    private readonly walks: Walks,
  ) {}

  get cast(): Cast | null {
    return this.troupe?.cast ?? null;
  }

  async enter(app: App): Promise<void> {
    const { plan, walks } = this.walks;
    const troupe = (this.troupe = new Troupe(app));
    troupe.cast.read(app.asked);
    const view = new PlanView(app);
    const buttons = new ViewButtons(app, troupe, () => plan, view);
    const findings = new Findings(troupe);
    const diagram = new GaitDiagram(app, troupe);
    const joints = new JointWindow(app, troupe);
    app.layout.panel("left", "View").append(buttons.element);
    app.layout.panel("left", "Walk").append(findings.element);
    app.layout.panel("right", "Gait").append(diagram.element);
    app.layout.panel("right", "Joints").append(joints.table, joints.plots);
    for (const part of [buttons, findings, diagram, joints]) this.stop.push(() => part.dispose());
    this.stop.push(() => view.close());
    await troupe.show(walks.map((facts, i) => ({ facts, source: this.sources[i]! })), plan);
    troupe.look();
  }

  leave(): void {
    for (const stop of this.stop.splice(0)) stop();
    this.troupe?.clear();
    this.troupe = null;
  }

  view(): View {
    return { ...this.troupe?.cast.written() };
  }

  state(): Record<string, unknown> {
    return this.troupe?.state() ?? {};
  }
}
