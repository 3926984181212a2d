import type { App } from "../app";
import { LEG_NAMES } from "./plan";
import type { Troupe } from "./troupe";

/** How far a click may slip [px]. */
const SLIP = 4;

/** A click on a leg in the view chooses it, and the link that was hit; a click beside it chooses none. */
export class LegPicker {
  private readonly stop: (() => void)[] = [];
  private pressed: [number, number] | null = null;

  /**
   * @param busy Tells whether clicks mean something else, such as waypoints.
   * @param picked Told of the link that was clicked.
   */
  constructor(app: App, troupe: Troupe, busy: () => boolean, picked: (link: string) => void) {
    const canvas = app.stage.renderer.domElement;
    const listen = (name: "pointerdown" | "pointerup", act: (event: PointerEvent) => void) => {
      canvas.addEventListener(name, act);
      this.stop.push(() => canvas.removeEventListener(name, act));
    };
    listen("pointerdown", (event) => (this.pressed = event.button === 0 && !busy() ? [event.clientX, event.clientY] : null));
    listen("pointerup", (event) => {
      const from = this.pressed;
      this.pressed = null;
      if (!from || Math.hypot(event.clientX - from[0], event.clientY - from[1]) > SLIP) return;
      const [leg, link] = troupe.partAt(event.clientX, event.clientY).split("/");
      const number = Number(/^leg(\d)$/.exec(leg ?? "")?.[1] ?? 0);
      troupe.chooseLeg(number);
      if (!number || !link) return;
      picked(link);
      app.layout.notice(`Leg ${number} (${LEG_NAMES[number - 1]}): ${link}`);
    });
  }

  dispose(): void {
    for (const stop of this.stop) stop();
  }
}
