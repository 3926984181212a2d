import type { App } from "../app";
import { dialog } from "../shell/dialog";
import { h } from "../shell/dom";
import { recall, remember } from "../shell/memory";
import { save } from "../shell/tools";
import { film, pictures, type Shot } from "./video";

const SIZES: [name: string, width: number, height: number][] = [
  ["HD, 1280 × 720", 1280, 720], ["Full HD, 1920 × 1080", 1920, 1080], ["4K, 3840 × 2160", 3840, 2160], ["square, 1080 × 1080", 1080, 1080],
];
const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];
const RATES = [10, 24, 25, 30, 60];
/** What graphics cards draw at most, and what is still a picture [px]. */
const LARGEST = 8192;
const SMALLEST = 16;
/** How long a film is at first, at most [s]. */
const FIRST = 10;

/** Save what is seen as a picture or a film of any size. */
export function captureTools(app: App): void {
  const open = () => openPanel(app);
  app.layout.saving.append(h("button", { title: "Save a picture or a video of a chosen size (E)", onclick: open }, "video …"));
  app.keys.add("e", "save a picture or a video of a chosen size", open);
}

function openPanel(app: App): void {
  const { clock, stage } = app;
  const seen = stage.element.getBoundingClientRect();
  const kept = recall<Partial<Record<"width" | "height", number>>>("capture", {});
  const field = (name: string, value: number, least: number, most: number, step: number | "any" = 1) =>
    h("input", { type: "number", value, min: least, max: most, step, "aria-label": name, required: true });
  const width = field("Width", kept.width ?? even(seen.width), SMALLEST, LARGEST);
  const height = field("Height", kept.height ?? even(seen.height), SMALLEST, LARGEST);
  const sizes = h("select", { "aria-label": "Size" },
    h("option", { value: "" }, "own size"),
    h("option", { value: `${even(seen.width)} ${even(seen.height)}` }, "as the view is"),
    ...SIZES.map(([name, w, hgt]) => h("option", { value: `${w} ${hgt}` }, name)));
  sizes.addEventListener("change", () => {
    if (sizes.value) [width.value, height.value] = sizes.value.split(" ") as [string, string];
  });
  for (const input of [width, height]) input.addEventListener("input", () => (sizes.value = ""));
  sizes.value = `${width.value} ${height.value}`;
  if (sizes.selectedIndex < 0) sizes.value = "";

  const from = field("From", round(clock.start), clock.start, clock.end, "any");
  const to = field("To", round(Math.min(clock.end, clock.start + FIRST)), clock.start, clock.end, "any");
  const speed = h("select", { "aria-label": "Speed of the video" }, ...SPEEDS.map((each) => h("option", { value: each }, `${each}×`)));
  const rate = h("select", { "aria-label": "Pictures per second" }, ...RATES.map((each) => h("option", { value: each }, `${each} /s`)));
  [speed.value, rate.value] = ["1", "30"];
  const bar = h("progress", { max: 1, value: 0, hidden: true, "aria-label": "Progress" });
  const said = h("p.empty", { role: "status" });
  const stop = new AbortController();

  const size = () => {
    for (const input of [width, height]) if (!input.reportValidity()) throw new Error("choose a size that can be drawn");
    remember("capture", { width: Number(width.value), height: Number(height.value) });
    return { width: Number(width.value), height: Number(height.value) };
  };
  const shot = (): Shot => ({
    width: even(Number(width.value)), height: even(Number(height.value)),
    from: Number(from.value), to: Number(to.value), rate: Number(rate.value), speed: Number(speed.value),
  });
  const tell = () => {
    const count = pictures(shot());
    said.textContent = clock.duration > 0 ? `${count} pictures, ${(count / Number(rate.value)).toFixed(1)} s of video` : "There is nothing to play: a picture can be saved.";
  };
  const failed = (error: unknown) => {
    if (!stop.signal.aborted) said.textContent = error instanceof Error ? error.message : String(error);
  };
  const busy = async (action: () => Promise<void>) => {
    for (const button of [picture, video]) button.disabled = true;
    await action().catch(failed);
    bar.hidden = true;
    picture.disabled = false;
    video.disabled = clock.duration <= 0;
  };
  const picture = h("button", { onclick: () => void busy(async () => save(await stage.png(size()), "kinetarium.png")) }, "Save PNG");
  const video = h("button.primary", {
    disabled: clock.duration <= 0,
    onclick: () => void busy(async () => {
      size();
      for (const input of [from, to]) if (!input.reportValidity()) return;
      bar.hidden = false;
      const time = clock.time;
      try {
        save(await film(app, shot(), (done) => (bar.value = done), stop.signal), "kinetarium.webm");
      } finally {
        clock.set(time);
      }
      tell();
    }),
  }, "Save WebM");
  for (const input of [from, to, speed, rate]) input.addEventListener("input", tell);
  tell();
  clock.pause();
  const row = (name: string, ...parts: (HTMLElement | string)[]) => h("div.row", {}, h("span", {}, name), ...parts);
  dialog("Picture or video", h("form.capture", { onsubmit: (event: Event) => event.preventDefault() },
    row("Size", sizes, width, "×", height, "px"),
    row("Video", from, "to", to, "s", speed, rate),
    said, bar,
    h("div.buttons", {}, picture, video),
  ), () => stop.abort());
}

function even(value: number): number {
  return Math.max(SMALLEST, 2 * Math.floor(value / 2));
}

function round(value: number): number {
  return Number(value.toFixed(6));
}
