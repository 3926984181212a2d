import "uplot/dist/uPlot.min.css";
import "./style.css";
import { App, type Mode } from "./app";
import { embedded, ExportedMode } from "./exported/mode";
import { MapsMode } from "./maps/mode";
import { RunsMode } from "./runs/mode";
import { remote } from "./testing";
import { WalkingMode } from "./walking/mode";

const replays = embedded();
const modes: Mode[] = replays.length
  ? [new ExportedMode(replays)]
  : [new RunsMode(), new MapsMode(), new WalkingMode()];

const app = new App();
for (const mode of modes) app.add(mode);
if (!replays.length) {
  // The token has become a cookie; it need not stay in the history.
  history.replaceState(null, "", location.pathname);
  app.live.open();
}
window.kinetarium = remote(app, app.enter(modes[0]!).then(() => app.stage.draw()));
