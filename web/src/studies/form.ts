import { h, short } from "../shell/dom";

/** A field of a study's config, as the server describes it. */
export interface FormField {
  name: string;
  kind: "flag" | "integer" | "number" | "text" | "choice" | "data";
  choices: string[];
  list: boolean;
  length: number | null;
  empty: boolean;
  default: unknown;
  unit: string;
  least: number | null;
  most: number | null;
  also: number[];
  help: string;
  rare: boolean;
  suggestions: string[];
}

export interface StudyForm {
  name: string;
  title: string;
  help: string;
  fields: FormField[];
}

/** What is wrong with a field. */
export class FieldError extends Error {}

/** The fields of one study, and what is written in them. */
export class Form {
  readonly element: HTMLElement;
  private readonly read = new Map<string, () => unknown>();

  constructor(readonly study: StudyForm) {
    const plain = study.fields.filter((field) => !field.rare);
    const rare = study.fields.filter((field) => field.rare);
    this.element = h(
      "div.study-form",
      {},
      ...plain.map((field) => this.field(field)),
      rare.length > 0 && h("details.rare", {}, h("summary", {}, "How the robot file is read"), h("div.study-form", {}, ...rare.map((field) => this.field(field)))),
    );
  }

  /** The fields that differ from their defaults. */
  values(): Record<string, unknown> {
    const chosen: Record<string, unknown> = {};
    for (const field of this.study.fields) {
      const value = this.read.get(field.name)!();
      if (JSON.stringify(value) !== JSON.stringify(field.default)) chosen[field.name] = value;
    }
    return chosen;
  }

  private field(field: FormField): HTMLElement {
    const { name, kind, list, unit, help } = field;
    const [control, read] = kind === "flag" ? flag(field) : kind === "choice" && !list ? choice(field) : kind === "choice" ? choices(field) : text(field);
    this.read.set(name, read);
    const label = name.replaceAll("_", " ");
    const limits = field.least === null ? "" : ` Range: ${short(field.least)} .. ${short(field.most!)}${field.also.map((value) => `, or ${short(value)}`).join("")}.`;
    const title = `${help}${limits}`;
    if (kind === "choice" && list) {
      return h("fieldset.study-field", { title, "data-field": name }, h("legend", {}, label), control, h("small", {}, title));
    }
    return h("label.study-field", { title, "data-field": name }, h("span", {}, label), control, h("i", {}, unit), h("small", {}, title));
  }
}

type Control = [HTMLElement, () => unknown];

function flag(field: FormField): Control {
  const input = h("input", { type: "checkbox", checked: field.default === true });
  return [input, () => input.checked];
}

function choice(field: FormField): Control {
  const options = field.empty ? ["", ...field.choices] : field.choices;
  const select = h("select", {}, ...options.map((value) => h("option", { value }, value || "–")));
  select.value = String(field.default ?? "");
  return [select, () => (field.empty && select.value === "" ? null : select.value)];
}

function choices(field: FormField): Control {
  const chosen = new Set(field.default as string[]);
  const boxes = field.choices.map((value) => {
    const box = h("input", { type: "checkbox", value, checked: chosen.has(value) });
    return h("label", {}, box, value);
  });
  const read = () => boxes.map((label) => label.querySelector("input")!).filter((box) => box.checked).map((box) => box.value);
  return [h("div.choices", {}, ...boxes), read];
}

/** A number, a text, or a list of them with spaces between. */
function text(field: FormField): Control {
  const { kind, list, name } = field;
  const shown = (value: unknown) =>
    value === null || value === undefined ? "" : kind === "data" ? JSON.stringify(value) : Array.isArray(value) ? value.join(" ") : String(value);
  const id = `options-${name}-${Math.random().toString(36).slice(2)}`;
  const input = h("input", {
    type: "text", value: shown(field.default), spellcheck: "false", autocomplete: "off",
    placeholder: list ? (kind === "text" ? "several names" : "several numbers") : "",
    list: field.suggestions.length ? id : undefined,
    inputmode: kind === "number" || kind === "integer" ? "decimal" : undefined,
  });
  const one = (word: string): unknown => {
    if (kind === "text") return word;
    const value = Number(word);
    if (word.trim() === "" || !Number.isFinite(value) || (kind === "integer" && !Number.isInteger(value))) {
      throw new FieldError(`${name}: '${word}' is not ${kind === "integer" ? "a whole number" : "a number"}`);
    }
    const { least, most, also } = field;
    if (least !== null && !(least <= value && value <= most!) && !also.includes(value)) {
      throw new FieldError(`${name}: ${word} is outside ${short(least)} .. ${short(most!)} ${field.unit}`.trim());
    }
    return value;
  };
  const read = (): unknown => {
    const written = input.value;
    if (kind === "data") return written.trim() === "" ? null : (JSON.parse(written) as unknown);
    if (list) {
      const words = written.split(/[\s,]+/).filter(Boolean);
      return words.length === 0 && field.empty ? null : words.map(one);
    }
    return written === "" && field.empty ? null : one(written);
  };
  const check = () => {
    try {
      read();
      input.setCustomValidity("");
    } catch (error) {
      input.setCustomValidity(error instanceof Error ? error.message : String(error));
    }
  };
  input.addEventListener("input", check);
  const options = field.suggestions.map((value) => h("option", { value }));
  return [field.suggestions.length ? h("span.suggested", {}, input, h("datalist", { id }, ...options)) : input, read];
}
