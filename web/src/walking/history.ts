import { Event } from "../shell/events";
import type { Kind, Plan } from "./plan";

/** What is worked on: a plan, and the kinds of machine that walk it. */
export interface Draft {
  plan: Plan;
  kinds: Kind[];
}

const MOST = 200;
const STORE = "kinetarium-walking";

/** The drafts so far, which one goes back and forth in; the last is saved in the browser. */
export class History {
  readonly changed = new Event();
  private drafts: Draft[] = [];
  /** Whether the server took each of them, or has not been asked as its path is too short. */
  private taken: boolean[] = [];
  private at = -1;

  get canUndo(): boolean {
    return this.at > 0;
  }

  get canRedo(): boolean {
    return this.at + 1 < this.drafts.length;
  }

  get current(): Draft | undefined {
    return this.drafts[this.at];
  }

  /** Add a draft; those that were undone are forgotten. */
  add(draft: Draft, taken: boolean): void {
    if (this.current && JSON.stringify(this.current) === JSON.stringify(draft)) return;
    this.drafts.splice(++this.at, Infinity, draft);
    this.taken.splice(this.at, Infinity, taken);
    if (this.drafts.length > MOST) {
      this.drafts.shift();
      this.taken.shift();
      this.at--;
    }
    this.keep();
  }

  /** Take note that the server took the draft, as it writes it. */
  confirm(draft: Draft): void {
    if (this.at < 0) return this.add(draft, true);
    this.drafts[this.at] = draft;
    this.taken[this.at] = true;
    this.keep();
  }

  /** Forget drafts that were refused, back to one that was not, and give that. */
  refuse(): Draft | undefined {
    while (this.at > 0 && !this.taken[this.at]) this.at--;
    this.drafts.splice(this.at + 1);
    this.taken.splice(this.at + 1);
    this.keep();
    return this.current;
  }

  undo(): Draft | undefined {
    if (!this.canUndo) return undefined;
    this.at--;
    this.keep();
    return this.current;
  }

  redo(): Draft | undefined {
    if (!this.canRedo) return undefined;
    this.at++;
    this.keep();
    return this.current;
  }

  /** The draft that the browser has kept from the last time, if any. */
  static saved(): Draft | undefined {
    try {
      const draft = JSON.parse(localStorage.getItem(STORE) ?? "null") as Draft | null;
      return draft && Array.isArray(draft.kinds) && typeof draft.plan === "object" ? draft : undefined;
    } catch {
      return undefined; // damaged, or the browser keeps nothing
    }
  }

  private keep(): void {
    try {
      localStorage.setItem(STORE, JSON.stringify(this.current));
    } catch {
      // The browser keeps nothing; the workshop does while the page lives.
    }
    this.changed.emit();
  }
}
