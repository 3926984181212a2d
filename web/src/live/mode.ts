import "./live.css";
import type { App, Mode } from "../app";
import { getJson } from "../server/api";
import { h } from "../shell/dom";
import { type Dropped, findingsView, sendRobot } from "./drop";
import { Inspector } from "./inspector";
import { JointsPanel } from "./joints_panel";
import { PullTool } from "./pull_tool";
import { Room } from "./room";
import { type Choices, SetupPanel } from "./setup_panel";

/** All contacts of two solids in one engine: how many, and their sum [N]. */
interface Touch {
  count: number;
  force: [number, number, number];
}

const SPEEDS = [0.1, 0.25, 0.5, 1, 2];

/** Live physics: a robot in an engine, or in two, that is moved, pulled and looked at. */
export class LiveMode implements Mode {
  readonly id = "live";
  readonly title = "Live";
  readonly about = "Put a robot into an engine, or into two, pull it with the mouse, and see at once how it answers.";
  readonly timeless = true;
  private room: Room | null = null;
  private setup: SetupPanel | null = null;
  private inspector: Inspector | null = null;
  private found: HTMLElement | null = null;
  private contacts: HTMLElement | null = null;
  private dropped: Dropped | null = null;
  private stop: (() => void)[] = [];
  private entered = Promise.resolve();

  enter(app: App): Promise<void> {
    return (this.entered = this.open(app));
  }

  leave(): void {
    for (const stop of this.stop.splice(0)) stop();
    this.room?.close();
    this.room = this.setup = this.inspector = this.found = this.contacts = null;
  }

  /** Take a robot file, pass it through the gate, and show it. */
  async drop(app: App, files: File[]): Promise<void> {
    if (app.mode !== this) await app.enter(this);
    await this.entered;
    await app.guarded(async () => {
      const dropped = (this.dropped = await sendRobot(files, (await getJson<Choices>("api/live")).kinds));
      this.showFindings();
      if (!dropped.ok || !this.setup) return;
      this.setup.offer(await getJson<Choices>("api/live"), dropped.id);
    });
  }

  state(): Record<string, unknown> {
    const { room, inspector } = this;
    if (!room) return {};
    const frame = room.first?.frame;
    return {
      room: {
        engines: room.sides.filter(Boolean).map(({ facts }) => facts.engine),
        robot: room.first?.facts.name ?? "",
        playing: room.playing,
        busy: room.busy,
        trouble: room.trouble,
        time: frame?.time ?? 0,
        times: room.sides.map((side) => side?.frame?.time ?? 0),
        pace: room.pace,
        counts: { ...room.counts },
        waits: [...room.waits],
        positions: [...(frame?.positions ?? [])],
        joints: room.first?.facts.joints.map(({ name }) => name) ?? [],
        contacts: frame?.contacts ?? [],
        pull: [...(frame?.pull ?? [])],
        poses: Object.fromEntries(room.first?.facts.solids.map(({ name }) => [name, room.first!.pose(name)]) ?? []),
        others: room.sides[1] ? Object.fromEntries(room.sides[1].facts.solids.map(({ name }) => [name, room.sides[1]!.pose(name)])) : {},
        chosen: inspector?.chosen ?? null,
        distance: inspector?.distance ?? null,
        dropped: this.dropped,
      },
    };
  }

  private async open(app: App): Promise<void> {
    const places = {
      room: app.layout.panel("left", "Room"),
      contacts: app.layout.panel("right", "Contacts"),
      inspector: app.layout.panel("right", "Inspect"),
      joints: app.layout.panel("right", "Joints"),
      file: app.layout.panel("right", "Robot file"),
    };
    places.room.append(h("p.empty", {}, "Looking for engines …"));
    const choices = await getJson<Choices>("api/live");
    if (app.mode !== this) return;
    const hud = h("div.live-overlay");
    app.layout.overlay.append(hud);
    const room = (this.room = new Room(app, hud));
    const setup = (this.setup = new SetupPanel(room, choices, (files) => void this.drop(app, files)));
    const inspector = (this.inspector = new Inspector(app, room));
    const tool = new PullTool(app, room);
    const joints = new JointsPanel(room);
    tool.click = (grip, side) => inspector.click(grip, side);
    hud.append(this.bar(room));
    places.room.replaceChildren(setup.element);
    places.inspector.append(inspector.element);
    places.joints.append(joints.element);
    this.contacts = places.contacts;
    this.found = places.file;
    this.showFindings();
    this.listContacts();
    let listed = 0;
    this.stop.push(
      () => [tool, inspector, joints].forEach((part) => part.dispose()),
      room.moved.on(() => {
        if (performance.now() < listed + 200) return;
        listed = performance.now();
        this.listContacts();
      }),
      room.refused.on(({ findings }) => {
        if (findings.length) this.dropped = { ok: false, file: setup.setup.robot, text: "", findings };
        this.showFindings();
      }),
      app.keys.add("g", "run or pause the live room", () => room.run(!room.playing)),
      app.keys.add("n", "one time step of the live room", () => room.step()),
      app.keys.add("a", "fit all in view", () => room.look()),
    );
    setup.open();
    room.run(true);
  }

  /** Run, pause, step, reset, speed; the time, and how honestly it passes. */
  private bar(room: Room): HTMLElement {
    const play = h("button.primary", { onclick: () => room.run(!room.playing) });
    const step = h("button", { title: "One time step (N)", onclick: () => room.step() }, "Step");
    const reset = h("button", { title: "Back to the start", onclick: () => room.reset() }, "Reset");
    const speed = h("select", { "aria-label": "Speed of the room" }, ...SPEEDS.map((value) => h("option", { value }, `${value}×`)));
    speed.value = "1";
    speed.addEventListener("change", () => room.run(room.playing, Number(speed.value)));
    const time = h("output.time", { title: "Simulated time" });
    const pace = h("output.pace", { title: "Simulated time over real time, and frames a second" });
    const alarm = h("p.alarm", { role: "alert", hidden: true });
    const titles = h("div.sides");
    const again = h("button", { onclick: () => this.setup?.open(false) }, "Open the room again");
    const show = () => {
      play.textContent = room.playing ? "Pause" : "Run";
      play.title = `${play.textContent} (G)`;
      play.setAttribute("aria-pressed", String(room.playing));
      const { factor, rate } = room.pace;
      pace.textContent = room.busy ? "building …" : room.playing && rate ? `${factor.toFixed(2)}× real time, ${rate.toFixed(0)} Hz` : room.playing ? "" : "paused";
      pace.dataset.slow = String(room.playing && rate > 0 && factor < 0.95 * room.speed);
      alarm.hidden = room.trouble === "";
      if (room.trouble) alarm.replaceChildren(h("b", {}, room.trouble), " The page and the server are fine. ", again);
      const names = room.sides.filter(Boolean).map(({ facts }) => facts.title);
      titles.replaceChildren(...(names.length > 1 ? names : []).map((name) => h("span", {}, name)));
    };
    const tick = () => {
      const text = `${(room.first?.frame?.time ?? 0).toFixed(2)} s`;
      if (time.textContent !== text) time.textContent = text;
    };
    this.stop.push(room.state.on(show), room.changed.on(show), room.moved.on(tick));
    show();
    tick();
    const fit = h("button", { title: "Fit all in view (A)", onclick: () => room.look() }, "Fit");
    const bar = h("div.live-bar", {}, play, step, reset, speed, fit, time, pace);
    const hint = h("p.live-hint", {}, "Drag a body to pull it · click to inspect · drag beside it to turn the view");
    return h("div.live-top", {}, bar, titles, alarm, hint);
  }

  private listContacts(): void {
    if (!this.contacts) return;
    const sides = this.room?.sides.filter(Boolean) ?? [];
    // Contacts of the same two solids belong together, also those in two engines.
    const pairs = new Map<string, Touch[]>();
    sides.forEach(({ facts, frame }, i) => {
      const name = (index: number) => facts.scene_solids[index]?.replace(/^robot\//, "") ?? "";
      for (const { solids, force } of frame?.contacts ?? []) {
        const [a, b] = solids.map(name) as [string, string];
        const [key, sign] = a <= b ? [`${a} · ${b}`, 1] : [`${b} · ${a}`, -1];
        const touches = pairs.get(key) ?? sides.map((): Touch => ({ count: 0, force: [0, 0, 0] }));
        pairs.set(key, touches);
        touches[i]!.count++;
        force.forEach((value, axis) => (touches[i]!.force[axis]! += sign * value));
      }
    });
    if (!pairs.size) {
      this.contacts.replaceChildren(h("p.empty", {}, "Nothing touches."));
      return;
    }
    const rows = [...pairs].map(([key, touches]) => ({ key, touches, size: Math.max(...touches.map(({ force }) => Math.hypot(...force))) }));
    rows.sort((a, b) => b.size - a.size);
    const heads = sides.length > 1 ? sides.map(({ facts }) => facts.title) : ["points", "force"];
    const cells = (touches: Touch[]) => {
      const forces = touches.map(({ count, force }) => (count ? `${Math.hypot(...force).toFixed(2)} N` : "–"));
      return sides.length > 1 ? forces : [touches[0]!.count, ...forces];
    };
    this.contacts.replaceChildren(
      h("table.sweep", {},
        h("thead", {}, h("tr", {}, ...["between", ...heads].map((text) => h("th", {}, text)))),
        h("tbody", {}, ...rows.slice(0, 8).map(({ key, touches }) => h("tr", {}, h("td", {}, key), ...cells(touches).map((text) => h("td", {}, text)))))),
      rows.length > 8 ? h("p.empty", {}, `and ${rows.length - 8} more pairs`) : "",
    );
  }

  private showFindings(): void {
    this.found?.replaceChildren(this.dropped ? findingsView(this.dropped) : h("p.empty", {}, "Drop a URDF, xacro or MJCF file on the page: it is checked as by kinetarium inspect, and put into the room."));
  }
}
