import { Event } from "../shell/events";

/** What a named time is: the start of a phase, or something that happens. */
export type TimeKind = "phase" | "contact" | "slip" | "warning" | "divergence";

/** A time with a name [s]. */
export interface NamedTime {
  readonly name: string;
  readonly time: number;
  /** A phase if it is not said. */
  readonly kind?: TimeKind;
  /** The colour of the run it belongs to, if there are several. */
  readonly color?: string;
}

/** The time that is shown [s]: set, played, stepped. */
export class Clock {
  time = 0;
  start = 0;
  end = 0;
  speed = 1;
  playing = false;
  loop = true;
  /** The times that single steps go to [s], rising. */
  steps: ArrayLike<number> = [];
  /** Named times, such as the starts of phases, rising. */
  markers: readonly NamedTime[] = [];
  readonly changed = new Event();
  private last = 0;

  constructor() {
    // No pictures are drawn while the page is hidden; time goes on where it was left.
    document.addEventListener("visibilitychange", () => (this.last = performance.now()));
  }

  get duration(): number {
    return this.end - this.start;
  }

  /** Choose what part of time there is to see. */
  setRange(
    start: number,
    end: number,
    steps: ArrayLike<number> = [],
    markers: readonly NamedTime[] = [],
  ): void {
    [this.start, this.end, this.steps, this.markers] = [start, end, steps, markers];
    this.time = Math.min(Math.max(this.time, start), end);
    this.changed.emit();
  }

  /** The phase that has begun last, if any. */
  get marker(): NamedTime | undefined {
    const phases = this.markers.filter(isPhase);
    return phases[after(phases.map((each) => each.time), this.time + 1e-9) - 1];
  }

  /** Go to the next named time, or the one before. */
  jump(direction: 1 | -1): void {
    const times = this.markers.map(({ time }) => time).sort((a, b) => a - b);
    const near = 1e-9 * Math.max(1, Math.abs(this.end));
    const found = direction > 0 ? times.find((time) => time > this.time + near) : times.findLast((time) => time < this.time - near);
    if (found === undefined) return;
    this.playing = false;
    this.set(found);
  }

  set(time: number): void {
    this.time = Math.min(Math.max(time, this.start), this.end);
    this.changed.emit();
  }

  setSpeed(speed: number): void {
    this.speed = speed;
    this.changed.emit();
  }

  play(): void {
    if (this.duration <= 0) return;
    if (this.time >= this.end) this.time = this.start;
    this.playing = true;
    this.last = performance.now();
    this.changed.emit();
  }

  pause(): void {
    this.playing = false;
    this.changed.emit();
  }

  toggle(): void {
    if (this.playing) this.pause();
    else this.play();
  }

  /** Go to the next sample, or the one before. */
  step(direction: 1 | -1): void {
    this.playing = false;
    const here = after(this.steps, this.time + direction * 1e-9 * Math.max(1, this.end));
    const index = direction > 0 ? here : here - 1;
    const last = this.steps.length - 1;
    if (last >= 0) this.set(this.steps[Math.min(Math.max(index, 0), last)]!);
  }

  /** Move on by the time that has passed, if it is playing. */
  advance(now: number): void {
    if (!this.playing) return;
    // However long a picture takes, time keeps its pace.
    const passed = (Math.max(now - this.last, 0) / 1000) * this.speed;
    this.last = now;
    let time = this.time + passed;
    if (time > this.end) {
      if (this.loop) time = this.start + ((time - this.start) % this.duration);
      else {
        time = this.end;
        this.playing = false;
      }
    }
    this.time = time;
    this.changed.emit();
  }
}

export function isPhase({ kind }: NamedTime): boolean {
  return (kind ?? "phase") === "phase";
}

/** Count the values that are not above a limit, in an array that rises. */
export function after(values: ArrayLike<number>, limit: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
