import type { App } from "../app";
import "../time/events.css";
import { isPhase, type NamedTime } from "../time/clock";
import { h } from "./dom";

/** How often the slider follows while playing [ms]: without a graphics card it costs as much as a robot. */
const SHOW_EVERY = 80;
const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8];

/** The slider of time, with play, pause, single steps and speed. */
export function timeline(app: App): void {
  const { clock, keys } = app;
  const host = app.layout.timeline;
  const slider = h("input.slider", { type: "range", min: 0, max: 1, step: "any", "aria-label": "Time" });
  const play = h("button.play", { title: "Play or pause (space)", onclick: () => clock.toggle() });
  const shown = h("output.time");
  const phase = h("output.phase");
  const marks = h("div.marks");
  let marked: readonly NamedTime[] = [];
  let markedUpTo = 0;
  const speed = h(
    "select",
    { title: "Speed ([ and ])", "aria-label": "Speed" },
    ...SPEEDS.map((value) => h("option", { value }, `${value}×`)),
  );
  const loop = h("button", { title: "Loop (L)", onclick: () => setLoop() }, "↻");
  const setLoop = () => {
    clock.loop = !clock.loop;
    clock.changed.emit();
  };
  slider.addEventListener("input", () => clock.set(Number(slider.value)));
  // The keys of a slider go from sample to sample, as they do elsewhere.
  slider.addEventListener("keydown", (event) => {
    const direction = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    if (direction === undefined || event.shiftKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    clock.step(direction as 1 | -1);
  });
  speed.addEventListener("change", () => clock.setSpeed(Number(speed.value)));
  host.append(
    h("button", { title: "Go to start (Home)", onclick: () => clock.set(clock.start) }, "|‹"),
    h("button", { title: "Previous sample (←)", onclick: () => clock.step(-1) }, "‹"),
    play,
    h("button", { title: "Next sample (→)", onclick: () => clock.step(1) }, "›"),
    h("div.track", {}, slider, marks),
    phase,
    shown,
    speed,
    loop,
  );
  const mark = () => {
    [marked, markedUpTo] = [clock.markers, clock.end];
    marks.replaceChildren(
      ...marked.map((each) => {
        const { name, time, kind = "phase", color } = each;
        const label = `${isPhase(each) ? "" : `${kind}: `}${name} (${time.toFixed(2)} s)`;
        const tick = h("button.mark", { title: label, "aria-label": label, "data-kind": kind, onclick: () => clock.set(time) });
        if (color) tick.style.setProperty("--run", color);
        tick.style.setProperty("--at", String((time - clock.start) / (clock.duration || 1)));
        return tick;
      }),
    );
  };
  let shownAt = 0;
  const show = () => {
    const now = performance.now();
    if (clock.playing && now < shownAt + SHOW_EVERY) return;
    shownAt = clock.playing ? now : 0;
    host.classList.toggle("idle", clock.duration <= 0);
    if (clock.markers !== marked || clock.end !== markedUpTo) mark();
    const { name } = clock.marker ?? { name: "" };
    phase.hidden = !clock.markers.some(isPhase);
    phase.textContent = phase.title = name;
    slider.min = String(clock.start);
    slider.max = String(clock.end);
    slider.value = String(clock.time);
    // As wide as at the end, so that the slider keeps its length.
    shown.style.minWidth = `${2 * clock.end.toFixed(2).length + 6}ch`;
    shown.textContent = `${clock.time.toFixed(3)} / ${clock.end.toFixed(2)} s`;
    play.textContent = clock.playing ? "⏸" : "▶";
    play.setAttribute("aria-label", clock.playing ? "Pause" : "Play");
    speed.value = String(clock.speed);
    loop.setAttribute("aria-pressed", String(clock.loop));
  };
  clock.changed.on(show);
  show();
  keys.add(" ", "play or pause", () => clock.toggle());
  keys.add("ArrowLeft", "previous sample", () => clock.step(-1));
  keys.add("ArrowRight", "next sample", () => clock.step(1));
  keys.add(".", "next event", () => clock.jump(1));
  keys.add(",", "previous event", () => clock.jump(-1));
  keys.add("Home", "go to start", () => clock.set(clock.start));
  keys.add("End", "go to end", () => clock.set(clock.end));
  keys.add("[", "slower", () => clock.setSpeed(nextSpeed(clock.speed, -1)));
  keys.add("]", "faster", () => clock.setSpeed(nextSpeed(clock.speed, 1)));
  keys.add("l", "loop", setLoop);
}

/** Give the next speed that can be chosen. */
function nextSpeed(speed: number, direction: 1 | -1): number {
  const index = SPEEDS.indexOf(speed) + direction;
  return SPEEDS[Math.min(Math.max(index, 0), SPEEDS.length - 1)]!;
}
