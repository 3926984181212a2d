import "uplot/dist/uPlot.min.css";
import "./style.css";
import { App, type Mode } from "./app";
import { embedded } from "./exported/embedded";
import { ExportedMode } from "./exported/mode";
import { ExportedWalkMode, type Walks } from "./exported/walk_mode";
import { dropTarget } from "./live/drop";
import { LiveMode } from "./live/mode";
import { MapsMode } from "./maps/mode";
import { RunsMode } from "./runs/mode";
import { MemorySource } from "./server/source";
import { connectionBanner } from "./shell/banner";
import { keepFocus } from "./shell/focus";
import { asked, followAddress, linkButton } from "./shell/link";
import { recall } from "./shell/memory";
import { canDraw, explainWebGl } from "./shell/without_webgl";
import { StartMode } from "./start/mode";
import { StudiesMode } from "./studies/mode";
import { SweepMode } from "./sweep/mode";
import { remote } from "./testing";
import { WalkingMode } from "./walking/mode";

const replays = embedded("replay").map((bytes) => new MemorySource(bytes));
const [walks] = embedded("walks").map((bytes) => JSON.parse(new TextDecoder().decode(bytes)) as Walks);
const [volume] = embedded("volume");
const [view] = embedded("view").map((bytes) => new URLSearchParams(new TextDecoder().decode(bytes)));
const exported = replays.length > 0 || volume !== undefined;

function open(): void {
  const runs = new RunsMode();
  const studies = new StudiesMode(runs);
  const live = new LiveMode();
  const modes: Mode[] = walks
    ? [new ExportedWalkMode(replays, walks)]
    : exported
      ? [new ExportedMode(replays, volume)]
      : [runs, new SweepMode(), new MapsMode(), new WalkingMode((app) => studies.of(app)), live, studies];
  const app = new App();
  for (const mode of modes) app.add(mode);
  const start = new StartMode(modes);
  const first = asked();
  if (!exported) {
    // The token has become a cookie; it need not stay in the history.
    history.replaceState(null, "", location.pathname + location.hash);
    connectionBanner(app);
    dropTarget((files) => void live.drop(app, files));
    app.live.open();
    app.layout.brand.addEventListener("click", () => void app.enter(start));
  } else if (view?.has("theme")) app.theme.set(view.get("theme") === "dark");
  if (location.protocol !== "about:") linkButton(app, !exported);
  keepFocus();

  /** Show what an address asks for: the start page at first, later the runs, unless it says more. */
  const show = (view: URLSearchParams) => {
    const otherwise = exported || recall("started", false) ? modes[0]! : start;
    return app.enter([start, ...modes].find((mode) => mode.id === view.get("mode")) ?? otherwise, view);
  };
  window.kinetarium = remote(app, show(first.size || !view ? first : view).then(() => app.stage.draw()));
  followAddress(app, (view) => void show(view));
}

if (canDraw()) open();
else explainWebGl();
