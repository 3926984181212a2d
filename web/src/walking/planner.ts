import type { App } from "../app";
import { postJson, Unreachable } from "../server/api";
import { MemorySource } from "../server/source";
import { Event } from "../shell/events";
import { type Draft, History } from "./history";
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
  /** Whether the mouse is still moving something; its way is one step of the history. */
  dragging = false;
  /** The plan has changed, or was taken back. */
  readonly changed = new Event();
  private asking: Promise<void> | null = null;
  private again = false;
  /** Whether a walk is on the stage. */
  private shown = false;

  /**
   * @param history The drafts so far, of a workshop that was left.
   * @param put Puts what was planned on the stage.
   */
  constructor(
    private readonly app: App,
    readonly history: History,
    private readonly put: (walks: PlannedWalk[]) => Promise<void>,
  ) {}

  get busy(): boolean {
    return this.asking !== null;
  }

  /** Whether there are waypoints enough to walk. */
  get complete(): boolean {
    return !this.plan || this.plan.waypoints.length >= fewestWaypoints(this.plan);
  }

  /** Go on where the workshop was left, or with the plan that the server has by default. */
  async start(): Promise<void> {
    const draft = this.history.current ?? History.saved();
    if (draft) {
      ({ plan: this.plan, kinds: this.kinds } = draft);
      try {
        if (this.complete) return await this.walk();
        this.history.add(draft, true);
        return await this.show([]);
      } catch (error) {
        if (this.history.current) throw error;
        // Of another version, perhaps.
        this.app.layout.notice(`The saved walk cannot be restored: ${message(error)}`, "error");
        [this.plan, this.kinds] = [undefined!, []];
      }
    }
    await this.walk();
  }

  /** Change some fields of the plan; done when the walk is shown, or refused. */
  edit(change: Partial<Plan>, kinds: Kind[] = this.kinds): Promise<void> {
    this.plan = { ...this.plan, ...change };
    this.kinds = kinds;
    if (!this.dragging) this.history.add({ plan: this.plan, kinds }, !this.complete);
    return this.renew();
  }

  /** Take a plan of another origin, in which fields may be missing. */
  replace(plan: Partial<Plan>): Promise<void> {
    const kind = plan.machine?.kind;
    return this.edit(plan, kind && this.kinds.length < 2 ? [kind] : this.kinds);
  }

  undo(): Promise<void> {
    return this.take(this.history.undo());
  }

  redo(): Promise<void> {
    return this.take(this.history.redo());
  }

  private take(draft: Draft | undefined): Promise<void> {
    if (!draft) return Promise.resolve();
    ({ plan: this.plan, kinds: this.kinds } = draft);
    return this.renew();
  }

  /** Show the walk of the plan as it is now. */
  renew(): Promise<void> {
    this.changed.emit();
    // A walk that is no longer asked for does not go on.
    if (!this.complete) return this.show([]);
    if (this.asking) this.again = true;
    return (this.asking ??= this.ask().finally(() => (this.asking = null)));
  }

  private show(walks: PlannedWalk[]): Promise<void> {
    this.shown = walks.length > 0;
    return this.put(walks);
  }

  private async ask(): Promise<void> {
    do {
      this.again = false;
      if (!this.complete) return;
      try {
        await this.walk();
      } catch (error) {
        if (this.again || !this.complete) continue;
        this.app.layout.notice(message(error), "error");
        // The plan stays, and is walked when the server is back.
        if (error instanceof Unreachable) return;
        const back = this.history.refuse();
        if (back) ({ plan: this.plan, kinds: this.kinds } = back);
        this.changed.emit();
        if (!this.complete) await this.show([]);
        else if (!this.shown) this.again = true;
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
    if (!this.complete) return;
    // What is newer than the answer stays.
    if (!this.again) {
      [this.plan, this.kinds] = [head.plan, kinds];
      if (!this.dragging) this.history.confirm({ plan: head.plan, kinds });
    }
    this.count++;
    this.changed.emit();
    await this.show(walks);
  }
}

function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
