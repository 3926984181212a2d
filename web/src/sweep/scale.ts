import { short } from "../shell/dom";

export type Value = number | string | boolean | null;

/** What a scatter plot shows of a table: a value for each row, and the name of the column. */
export interface Dimension {
  name: string;
  values: Value[];
  /** Numbers by their logarithms, if all are positive. */
  log?: boolean;
}

/** Room before the first and after the last value, as a part of their range. */
const EDGE = 0.04;

/** Places the values of a column between 0 and 1: numbers by size, others in alphabetical order. */
export class Scale {
  /** The values of a column that is not of numbers. */
  readonly names: string[] | null;
  private readonly log: boolean;
  private readonly low: number;
  private readonly high: number;

  constructor(dimension: Dimension) {
    const given = dimension.values.filter((value) => value !== null);
    const numbers = given.filter((value) => typeof value === "number");
    this.names = numbers.length === given.length ? null : [...new Set(given.map(String))].sort();
    this.log = Boolean(dimension.log) && numbers.every((value) => value > 0);
    const ends = this.names ? [0, this.names.length - 1] : numbers.map((value) => this.number(value));
    // Not Math.min(...ends): a long table has more rows than a function takes arguments.
    const low = ends.reduce((a, b) => Math.min(a, b), Infinity);
    const high = ends.reduce((a, b) => Math.max(a, b), -Infinity);
    // A single value has its own size around it, so that its ticks are near it.
    const pad = high > low ? EDGE * (high - low) : (this.names || this.log || !low ? 0.5 : 0.5 * Math.abs(low));
    [this.low, this.high] = ends.length ? [low - pad, high + pad] : [0, 1];
  }

  /** The place of a value; NaN without one. */
  at(value: Value): number {
    if (value === null) return NaN;
    const number = this.names ? this.names.indexOf(String(value)) : this.number(Number(value));
    return (number - this.low) / (this.high - this.low);
  }

  ticks(): { at: number; text: string }[] {
    const { names, low, high } = this;
    if (names) {
      const step = Math.ceil(names.length / 8);
      return names.filter((_, i) => i % step === 0).map((name) => ({ at: this.at(name), text: name }));
    }
    const rough = (high - low) / 5;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
    const found = [];
    for (let i = Math.ceil(low / step); i * step <= high + 1e-9 * step; i++) {
      const value = this.log ? 10 ** (i * step) : i * step;
      found.push({ at: (i * step - low) / (high - low), text: short(value, 3) });
    }
    return found;
  }

  private number(value: number): number {
    return this.log ? Math.log10(value) : value;
  }
}

/** Shorten a text. */
export function clipped(text: string, most = 9): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
