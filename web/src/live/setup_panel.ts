import { h, short } from "../shell/dom";
import type { Kinds } from "./drop";
import type { Room } from "./room";
import type { RoomObject, Setup, Vector } from "./room_socket";

/** What a room may have, as the server says. */
export interface Choices {
  robots: string[];
  dropped: { id: string; name: string; file: string }[];
  engines: { name: string; version: string; reason: string }[];
  kinds: Kinds;
}

const GRAVITY: [name: string, value: number][] = [["Earth", 9.81], ["Moon", 1.62], ["Mars", 3.71], ["none", 0]];
const SHAPES: Record<RoomObject["shape"], RoomObject> = {
  box: { shape: "box", size: [0.1, 0.1, 0.1], mass: 0.5, position: [0.55, 0, 0.6], friction: 0.8 },
  sphere: { shape: "sphere", size: [0.1, 0.1, 0.1], mass: 0.3, position: [0.55, 0.1, 0.8], friction: 0.8 },
  cylinder: { shape: "cylinder", size: [0.08, 0.08, 0.16], mass: 0.4, position: [0.55, -0.1, 0.7], friction: 0.8 },
};
const SAVED = "kinetarium-room";

/** The form of a room: robot, engines, gravity, ground, servos, objects. */
export class SetupPanel {
  readonly element = h("div.setup");
  readonly setup: Setup = { robot: "panda", engine: "mujoco", base: null, servo: 4, gravity: [0, 0, -9.81], ground: true, friction: 0.8, objects: [] };
  /** The engine to compare with; none if empty. */
  beside = "";
  private readonly objects = h("div.objects");
  private readonly robot = h("select", { "aria-label": "Robot" });
  private readonly file: HTMLInputElement;

  constructor(
    private readonly room: Room,
    private choices: Choices,
    drop: (files: File[]) => void,
  ) {
    this.restore();
    this.file = h("input", { type: "file", multiple: true, hidden: true, accept: choices.kinds.beside.join(","), "aria-label": "Robot file" });
    this.file.addEventListener("change", () => {
      drop([...(this.file.files ?? [])]);
      this.file.value = "";
    });
    this.build();
  }

  /** Both sides, as the server takes them. */
  get sides(): Setup[] {
    const { setup, beside } = this;
    return beside ? [setup, { ...setup, engine: beside }] : [setup];
  }

  /** Offer other robots, and choose one of them. */
  offer(choices: Choices, robot?: string): void {
    this.choices = choices;
    this.listRobots();
    if (robot !== undefined) this.change({ robot, base: null }, false);
  }

  open(keep = true): void {
    localStorage.setItem(SAVED, JSON.stringify({ setup: this.setup, beside: this.beside }));
    this.room.open(this.sides, keep);
  }

  private change(part: Partial<Setup>, keep = true): void {
    Object.assign(this.setup, part);
    this.robot.value = this.setup.robot;
    this.open(keep);
  }

  private restore(): void {
    try {
      const { setup, beside } = JSON.parse(localStorage.getItem(SAVED) ?? "{}") as { setup?: Setup; beside?: string };
      const known = (name: string | undefined) => this.choices.engines.some((engine) => engine.name === name && !engine.reason);
      const robots = ["", ...this.choices.robots, ...this.choices.dropped.map(({ id }) => id)];
      if (setup && known(setup.engine) && robots.includes(setup.robot)) Object.assign(this.setup, setup);
      if (known(beside)) this.beside = beside!;
    } catch {
      // Of another version: the defaults stay.
    }
  }

  private listRobots(): void {
    const { robots, dropped } = this.choices;
    this.robot.replaceChildren(
      ...dropped.map(({ id, name, file }) => h("option", { value: id }, `${name} (${file})`)),
      ...robots.map((name) => h("option", { value: name }, name)),
      h("option", { value: "" }, "none"),
    );
    this.robot.value = this.setup.robot;
  }

  private build(): void {
    const { setup } = this;
    this.listRobots();
    this.robot.addEventListener("change", () => this.change({ robot: this.robot.value, base: null }, false));
    const engines = this.choices.engines.filter((engine) => !engine.reason);
    const missing = this.choices.engines.filter((engine) => engine.reason);
    const engine = choice("Engine", engines.map(({ name }) => [name, name]), setup.engine, (name) => this.change({ engine: name }));
    const beside = choice("Beside it", [["", "nothing"], ...engines.map(({ name }): [string, string] => [name, name])], this.beside, (name) => {
      this.beside = name;
      this.open();
    });
    const gravity = number("Gravity", "m/s²", -setup.gravity[2], 0.5, (value) => this.change({ gravity: [0, 0, -value] }));
    const planets = h("div.buttons", {}, ...GRAVITY.map(([name, value]) =>
      h("button.chip", { onclick: () => {
        gravity.querySelector("input")!.value = String(value);
        this.change({ gravity: [0, 0, -value] });
      } }, name)));
    const servo = number("Servos", "Hz", setup.servo, 0.5, (value) => this.change({ servo: value }));
    servo.title = "Natural frequency of the position servos of all joints; 0 lets the robot hang freely";
    const friction = number("Friction", "", setup.friction, 0.1, (value) => this.change({ friction: value }));
    const ground = h("input", { type: "checkbox", checked: setup.ground });
    ground.addEventListener("change", () => this.change({ ground: ground.checked }));
    const base = choice("Base", [["", "as built"], ["fixed", "fixed"], ["free", "free"]], setup.base ?? "", (value) => this.change({ base: (value || null) as Setup["base"] }, false));
    this.element.append(
      h("label.field.wide", {}, h("span", {}, "Robot"), this.robot),
      h("div.buttons", {}, h("button", { onclick: () => this.file.click() }, "Open a robot file …"), this.file),
      engine,
      beside,
      missing.length ? h("p.empty", {}, `Not installed: ${missing.map(({ name }) => name).join(", ")}`) : null!,
      base,
      gravity,
      planets,
      servo,
      friction,
      h("label.field", {}, h("span", {}, "Ground"), ground),
      h("h3", {}, "Objects"),
      h("div.buttons", {}, ...(Object.keys(SHAPES) as RoomObject["shape"][]).map((shape) =>
        h("button", { onclick: () => this.add(shape), "data-object": shape }, `+ ${shape}`))),
      this.objects,
    );
    this.listObjects();
  }

  private add(shape: RoomObject["shape"]): void {
    const made = structuredClone(SHAPES[shape]);
    // Beside those that are there already.
    const n = this.setup.objects.length;
    made.position = [made.position[0], made.position[1] + 0.13 * (n % 3) - 0.13, made.position[2] + 0.15 * Math.floor(n / 3)];
    this.set([...this.setup.objects, made]);
  }

  private set(objects: RoomObject[]): void {
    this.change({ objects });
    this.listObjects();
  }

  private listObjects(): void {
    const { objects } = this.setup;
    this.objects.replaceChildren(
      ...objects.map((object, index) => {
        const edit = (part: Partial<RoomObject>) => this.set(objects.map((each, i) => (i === index ? { ...each, ...part } : each)));
        const sizes = object.shape === "box" ? [0, 1, 2] : object.shape === "sphere" ? [0] : [0, 2];
        const size = sizes.map((axis) => small(object.size[axis]!, "Size [m]", (value) =>
          edit({ size: object.size.map((old, i) => (i === axis ? value : old)) as Vector })));
        const place = [0, 1, 2].map((axis) => small(object.position[axis]!, `Start, ${"xyz"[axis]} [m]`, (value) =>
          edit({ position: object.position.map((old, i) => (i === axis ? value : old)) as Vector })));
        return h(
          "details.object",
          {},
          h("summary", {}, `${object.shape} `, h("i", {}, `${short(object.mass, 3)} kg`),
            h("button.remove", { title: "Remove", "aria-label": `Remove ${object.shape} ${index + 1}`, onclick: () => this.set(objects.filter((_, i) => i !== index)) }, "−")),
          h("div.row", {}, h("span", {}, "size"), ...size),
          h("div.row", {}, h("span", {}, "mass"), small(object.mass, "Mass [kg]", (mass) => edit({ mass }))),
          h("div.row", {}, h("span", {}, "start"), ...place),
        );
      }),
    );
  }
}

function choice(label: string, options: [string, string][], value: string, act: (value: string) => void): HTMLElement {
  const select = h("select", { "aria-label": label }, ...options.map(([name, text]) => h("option", { value: name }, text)));
  select.value = value;
  select.addEventListener("change", () => act(select.value));
  return h("label.field.wide", {}, h("span", {}, label), select);
}

function number(label: string, unit: string, value: number, step: number, act: (value: number) => void): HTMLElement {
  const input = h("input", { type: "number", step, value: short(value), "aria-label": label });
  input.addEventListener("change", () => {
    if (Number.isFinite(input.valueAsNumber)) act(input.valueAsNumber);
  });
  return h("label.field", {}, h("span", {}, label), input, h("i", {}, unit));
}

function small(value: number, title: string, act: (value: number) => void): HTMLInputElement {
  const input = h("input.filter", { type: "number", step: "any", value: short(value), title, "aria-label": title });
  input.addEventListener("change", () => {
    if (Number.isFinite(input.valueAsNumber)) act(input.valueAsNumber);
  });
  return input;
}
