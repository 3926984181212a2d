import type { App, Mode } from "../app";
import { ChannelPlots } from "../plots/channels";
import type { Actor } from "../replay/actor";
import { Cast } from "../replay/cast";
import { displayPanel } from "../runs/display";
import { MemorySource } from "../server/source";
import { h } from "../shell/dom";

const TYPE = "application/x-kinetarium-replay";

/** The replays that the page itself holds. */
export function embedded(): MemorySource[] {
  const elements = document.querySelectorAll(`script[type="${TYPE}"]`);
  return [...elements].map((element) => {
    const text = atob(element.textContent!.trim());
    element.remove();
    return new MemorySource(Uint8Array.from(text, (letter) => letter.charCodeAt(0)));
  });
}

/** Watching the replays of an exported page; there is no server. */
export class ExportedMode implements Mode {
  readonly id = "exported";
  readonly title = "Replay";
  cast: Cast | null = null;
  private stop: (() => void)[] = [];

  constructor(private readonly sources: MemorySource[]) {}

  async enter(app: App): Promise<void> {
    this.cast = new Cast(app);
    this.stop.push(displayPanel(app, this.cast, app.layout.panel("left", "View")));
    const plots = new ChannelPlots(app, this.cast, app.layout.panel("right", "Plots"));
    this.stop.push(() => plots.dispose());
    const list = app.layout.panel("left", "Replays");
    for (const source of this.sources) {
      let actor: Actor | null = await this.cast.add(source);
      const title = actor.file.head.title;
      const button = h("button.map", { "aria-pressed": true }, title);
      const toggle = async () => {
        if (actor) {
          this.cast!.remove(actor);
          actor = null;
        } else actor = await this.cast!.add(source);
        button.setAttribute("aria-pressed", String(actor !== null));
      };
      button.addEventListener("click", () => void app.guarded(toggle));
      list.append(button);
    }
  }

  leave(): void {
    for (const stop of this.stop.splice(0)) stop();
    this.cast?.clear();
    this.cast = null;
  }
}
