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
import { SweepMode } from "./sweep/mode";
import { remote } from "./testing";
import { WalkingMode } from "./walking/mode";

const replays = embedded("replay").map((bytes) => new MemorySource(bytes));
const [walks] = embedded("walks").map((bytes) => JSON.parse(new TextDecoder().decode(bytes)) as Walks);
const [volume] = embedded("volume");
const exported = replays.length > 0 || volume !== undefined;
const live = new LiveMode();
const modes: Mode[] = walks
  ? [new ExportedWalkMode(replays, walks)]
  : exported
    ? [new ExportedMode(replays, volume)]
    : [new RunsMode(), new SweepMode(), new MapsMode(), new WalkingMode(), live];

const app = new App();
for (const mode of modes) app.add(mode);
if (!exported) {
  // The token has become a cookie; it need not stay in the history.
  history.replaceState(null, "", location.pathname);
  connectionBanner(app);
  dropTarget(app, (files) => void live.drop(app, files));
  app.live.open();
}
window.kinetarium = remote(app, app.enter(modes[0]!).then(() => app.stage.draw()));
