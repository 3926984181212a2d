import type { App } from "../app";
import { getJson } from "../server/api";
import { h } from "./dom";

/** What of a mode, or of the whole page, a link has to say, by name; of some things there are several. */
export type View = Record<string, string | string[]>;

/** How long nothing has changed before the address says it [ms]; browsers refuse to be told often. */
const SETTLED = 400;

/** Everything that a link needs to show the same again: the mode and its things, camera and time. */
export function viewOf(app: App): URLSearchParams {
  const { mode, stage, clock } = app;
  const view: View = {
    mode: mode?.id ?? "",
    ...mode?.view?.(),
    camera: stage.viewpoint.written(),
    time: String(Number(clock.time.toFixed(6))),
    ...(clock.speed === 1 ? {} : { speed: String(clock.speed) }),
  };
  const pairs = Object.entries(view).flatMap(([name, values]) => [values].flat().map((value) => [name, value]));
  return new URLSearchParams(pairs);
}

/** Set camera and time as a link says, once its mode has put everything on the stage. */
export function applyView(app: App, asked: URLSearchParams): void {
  const { stage, clock } = app;
  stage.viewpoint.read(asked.get("camera") ?? "");
  const time = Number(asked.get("time") ?? NaN);
  if (Number.isFinite(time)) clock.set(time);
  const speed = Number(asked.get("speed") ?? NaN);
  if (speed > 0 && speed <= 100) clock.setSpeed(speed);
}

/** What the address asks for; nothing if it is the plain one. */
export function asked(): URLSearchParams {
  return new URLSearchParams(location.hash.slice(1));
}

/** Keep the address true to what is seen, so that it can be reloaded, and follow one that is typed. */
export function followAddress(app: App, open: (asked: URLSearchParams) => void): void {
  if (location.protocol === "about:") return; // within a notebook's page, whose address it is
  let waiting: ReturnType<typeof setTimeout> | undefined;
  app.stage.drawn.on(() => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      if (!app.clock.playing && !app.entering) history.replaceState(null, "", `#${viewOf(app)}`);
    }, SETTLED);
  });
  addEventListener("hashchange", () => open(asked()));
}

/** A button that copies a link to what is seen. */
export function linkButton(app: App, served: boolean): void {
  const copy = async () => {
    // Another browser has no cookie yet: the link has the token, as the address that was printed.
    const address = served ? (await getJson<{ address: string }>("api/address")).address : location.href.split("#")[0]!;
    await copyText(`${address}#${viewOf(app)}`);
    app.layout.notice(served
      ? "The link is copied. It opens what you see in any browser of this machine while the studio runs."
      : "The link is copied. It opens this file with what you see.");
  };
  const press = () => void app.guarded(copy);
  const button = h("button", { title: "Copy a link to what is seen: runs, channels, camera and time (K)", onclick: press }, "copy link");
  app.layout.saving.append(button);
  app.keys.add("k", "copy a link to what is seen", press);
}

async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Not allowed, as in a frame: in the old way.
    const field = h("textarea", { "aria-label": "Link" }, text);
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    if (!done) throw new Error(`the browser does not let the page copy; the link is ${text}`);
  }
}
