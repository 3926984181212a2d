const SLOW = 75;
const QUICK = 25;
const MEMORY = 0.85;

/** Whether pictures come too slowly while time is played; coarser ones are then better. */
export class Pace {
  coarse = false;
  private slow = false;
  private last = 0;
  private interval = (SLOW + QUICK) / 2;

  /** Take note of a picture, at a time [ms]. */
  frame(now: number, playing: boolean): void {
    if (playing && this.last) {
      this.interval = MEMORY * this.interval + (1 - MEMORY) * Math.min(now - this.last, 500);
      if (this.interval > SLOW) this.slow = true;
      else if (this.interval < QUICK) this.slow = false;
    }
    this.last = playing ? now : 0;
    this.coarse = playing && this.slow;
  }
}
