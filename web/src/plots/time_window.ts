import { Event } from "../shell/events";

/** The part of time that charts show together; all of it at first. */
export class TimeWindow {
  readonly changed = new Event();
  range: [from: number, to: number] | null = null;

  set(from: number, to: number): void {
    this.range = [from, to];
    this.changed.emit();
  }

  reset(): void {
    this.range = null;
    this.changed.emit();
  }

  /** Show less, or more, about a time that stays where it is. */
  scale(about: number, factor: number, whole: [number, number]): void {
    const [from, to] = this.range ?? whole;
    const low = Math.max(whole[0], about - (about - from) * factor);
    const high = Math.min(whole[1], about + (to - about) * factor);
    if (low <= whole[0] && high >= whole[1]) this.reset();
    else if (high - low > 1e-9 * (whole[1] - whole[0])) this.set(low, high);
  }
}
