import type { App } from "../app";
import { postJson } from "../server/api";
import { MemorySource } from "../server/source";
import { Event } from "../shell/events";
import { type Facts, fewestWaypoints, type Kind, type Plan } from "./plan";

/** A walk as the server planned it. */
export interface PlannedWalk {
  facts: Facts;
  source: MemorySource;
}

/**
 * The plan that is worked on. Every edit is sent to the server; while one is on its way only the
 * last of those made meanwhile is kept. An edit that is refused is taken back.
 */
export class Planner {
  /** The plan as it should be. */
  plan!: Plan;
  /** The kinds of machine that walk it. */
  kinds: Kind[] = [];
  /** How many plans were answered. */
  count = 0;
  /** Whether the mouse is still moving something. */
  dragging = false;
  /** The plan has changed, or was taken back. */
  readonly changed = new Event();
  private accepted: { plan: Plan; kinds: Kind[] } | null = null;
  private asking: Promise<void> | null = null;
  private again = false;

  /** @param show Puts what was planned on the stage. */
  constructor(
    private readonly app: App,
    private readonly show: (walks: PlannedWalk[]) => Promise<void>,
  ) {}

  get busy(): boolean {
    return this.asking !== null;
  }

  /** Whether there are waypoints enough to walk. */
  get complete(): boolean {
    return this.plan.waypoints.length >= fewestWaypoints(this.plan);
  }

  /** Ask for the plan that the server has by default. */
  async start(): Promise<void> {
    await this.walk();
  }

  /** Change some fields of the plan; done when the walk is shown, or refused. */
  edit(change: Partial<Plan>, kinds: Kind[] = this.kinds): Promise<void> {
    this.plan = { ...this.plan, ...change };
    this.kinds = kinds;
    this.changed.emit();
    if (!this.complete) return Promise.resolve();
    if (this.asking) this.again = true;
    return (this.asking ??= this.ask().finally(() => (this.asking = null)));
  }

  /** Take a plan of another origin, in which fields may be missing. */
  replace(plan: Partial<Plan>): Promise<void> {
    const kind = plan.machine?.kind;
    return this.edit(plan, kind && this.kinds.length < 2 ? [kind] : this.kinds);
  }

  private async ask(): Promise<void> {
    do {
      this.again = false;
      try {
        await this.walk();
      } catch (error) {
        if (this.again) continue;
        if (this.accepted) ({ plan: this.plan, kinds: this.kinds } = this.accepted);
        this.changed.emit();
        this.app.layout.notice(error instanceof Error ? error.message : String(error), "error");
      }
    } while (this.again);
  }

  private async walk(): Promise<void> {
    const asked = { plan: this.plan ?? {}, ...(this.kinds.length ? { kinds: this.kinds } : {}) };
    const answer = await postJson("api/walking/plan", asked);
    const bytes = new Uint8Array(await answer.arrayBuffer());
    const start = 4 + new DataView(bytes.buffer).getUint32(0, true);
    const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, start))) as {
      plan: Plan;
      walks: (Facts & { bytes: number })[];
    };
    let at = start;
    const walks = head.walks.map((facts) => {
      const source = new MemorySource(bytes.subarray(at, at + facts.bytes));
      at += facts.bytes;
      return { facts, source };
    });
    const kinds = head.walks.map((walk) => walk.kind);
    this.accepted = { plan: head.plan, kinds };
    // What is newer than the answer stays.
    if (!this.again) [this.plan, this.kinds] = [head.plan, kinds];
    this.count++;
    this.changed.emit();
    await this.show(walks);
  }
}
