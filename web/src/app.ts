import { captureTools } from "./capture/panel";
import type { Cast } from "./replay/cast";
import { Live } from "./server/live";
import { Keys } from "./shell/keys";
import { Layout } from "./shell/layout";
import { applyView, type View } from "./shell/link";
import { Theme } from "./shell/theme";
import { timeline } from "./shell/timeline";
import { tools } from "./shell/tools";
import { cameraKeys } from "./stage/camera_keys";
import { Stage } from "./stage/stage";
import { zoomWindow } from "./stage/zoom_window";
import { Clock } from "./time/clock";

/** A way to use the page; one at a time is entered. */
export interface Mode {
  /** Names it in addresses and tests. */
  readonly id: string;
  /** What its tab says. */
  readonly title: string;
  /** Open panels and put things on the stage. */
  enter(app: App): void | Promise<void>;
  /** Take its things off the stage; panels are taken away for it. */
  leave(app: App): void;
  /** Whether nothing of it is played, so that it has no time line. */
  readonly timeless?: boolean;
  /** The replays it has on the stage. */
  readonly cast?: Cast | null;
  /** What it is for, in a sentence; the start page says it. */
  readonly about?: string;
  /** What a link has to say to show the same again; `enter` finds it in `app.asked`. */
  view?(): View;
  /** What tests may see of it, as plain data. */
  state?(): Record<string, unknown>;
}

/** Everything a mode works with. */
export class App {
  readonly layout = new Layout();
  readonly theme = new Theme();
  readonly keys = new Keys();
  readonly clock = new Clock();
  readonly stage: Stage;
  readonly live = new Live();
  mode: Mode | null = null;
  /** What the link says that is opened; empty if a mode is entered by its tab. */
  asked = new URLSearchParams();
  entering = false;
  private readonly tabs = new Map<Mode, HTMLButtonElement>();

  constructor() {
    this.stage = new Stage(this.layout.stage, this.clock);
    timeline(this);
    tools(this);
    zoomWindow(this);
    cameraKeys(this);
    captureTools(this);
    const paint = () => this.stage.setColors(this.theme.color("stage"), this.theme.color("grid"));
    this.theme.changed.on(paint);
    paint();
  }

  /** Give a mode its tab. */
  add(mode: Mode): void {
    const tab = document.createElement("button");
    tab.textContent = mode.title;
    tab.dataset.mode = mode.id;
    tab.addEventListener("click", () => void this.enter(mode));
    this.tabs.set(mode, tab);
    this.layout.modes.append(tab);
  }

  /** @param asked What a link says of the mode, the camera and the time. */
  async enter(mode: Mode, asked = new URLSearchParams()): Promise<void> {
    this.mode?.leave(this);
    this.layout.clear();
    this.clock.pause();
    this.clock.setRange(0, 0);
    this.mode = mode;
    document.body.dataset.mode = mode.id;
    this.layout.timeline.hidden = mode.timeless ?? false;
    this.asked = asked;
    this.entering = true;
    for (const [other, tab] of this.tabs) tab.setAttribute("aria-pressed", String(other === mode));
    await this.guarded(() => mode.enter(this));
    if (this.asked !== asked) return; // another one was entered meanwhile
    this.entering = false;
    applyView(this, asked);
    this.stage.request();
  }

  /** Show a time [s]; done when everything that is seen then has come and is drawn. */
  async showTime(time: number): Promise<void> {
    this.clock.pause();
    this.clock.set(time);
    await Promise.all((this.mode?.cast?.actors ?? []).map((actor) => actor.file.loadAt(this.clock.time)));
    this.stage.draw();
  }

  /** Do something, and say it on the page if it fails while its mode is still there. */
  async guarded(action: () => unknown): Promise<void> {
    const { mode } = this;
    try {
      await action();
    } catch (error) {
      if (mode !== this.mode) return;
      this.layout.notice(error instanceof Error ? error.message : String(error), "error");
    }
  }
}
