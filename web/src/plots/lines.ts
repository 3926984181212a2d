import { after } from "../time/clock";

/** A quantity over time. */
export interface Line {
  /** What it is among all lines of a chart. */
  name: string;
  /** What tells it from the others, for places with little room; its name by default. */
  label?: string;
  /** Its unit, where the lines of a chart have different ones. */
  unit?: string;
  time: ArrayLike<number>;
  values: ArrayLike<number>;
  color: string;
  /** Lengths of its dashes [px]; none if it is drawn through. */
  dash?: number[];
}

/** The sample that is shown at a time: the last that is not after it. */
export function valueAt({ time, values }: Line, at: number): number {
  return values[Math.max(0, after(time, at + 1e-9) - 1)] ?? NaN;
}

/** A line's label with its unit. */
export function labelOf({ name, label, unit }: Line): string {
  return unit ? `${label ?? name} [${unit}]` : (label ?? name);
}

/**
 * Give the unit of each column of a channel that has several: "N, 1" are those of fx, fy, fz and
 * number, "m, wxyz" those of x, y, z and a quaternion; none if they cannot be told.
 */
export function unitsOf(unit: string, columns: readonly string[]): string[] {
  const units = unit.split(", ").map((each) => (each === "1" || each === "wxyz" ? "" : each));
  if (units.length < 2) return [];
  if (units.length === columns.length) return units;
  // The components of a vector have one unit.
  const vectors = columns.map((column) => column.at(-1) ?? "-").join("").match(/wxyz|xyz|./gu) ?? [];
  if (vectors.length === columns.length || vectors.length % units.length) return [];
  return vectors.flatMap((vector, i) => Array<string>(vector.length).fill(units[i % units.length]!));
}

/** The part of a line between two times, with a sample more to each side. */
export function within(line: Line, from: number, to: number): Line {
  const first = Math.max(0, after(line.time, from) - 1);
  const end = Math.min(line.time.length, after(line.time, to) + 1);
  const cut = (values: ArrayLike<number>) => Array.prototype.slice.call(values, first, end) as number[];
  return { ...line, time: cut(line.time), values: cut(line.values) };
}

/** By how much a line is above another, at the times of the other that both have. */
export function difference(line: Line, from: Line): { time: number[]; values: number[] } {
  const [time, values]: [number[], number[]] = [[], []];
  const last = line.time.length - 1;
  for (let i = 0; i < from.time.length; i++) {
    const at = from.time[i]!;
    const k = after(line.time, at + 1e-9) - 1;
    if (k < 0 || at > line.time[last]! + 1e-9) continue;
    const next = Math.min(k + 1, last);
    const span = line.time[next]! - line.time[k]!;
    const part = span > 0 ? Math.min(Math.max((at - line.time[k]!) / span, 0), 1) : 0;
    time.push(at);
    values.push(line.values[k]! + (part ? (line.values[next]! - line.values[k]!) * part : 0) - from.values[i]!);
  }
  return { time, values };
}

/** Write lines as a table, a row for each time that one of them has. */
export function csv(lines: readonly Line[]): string {
  const times = new Float64Array(lines.reduce((sum, line) => sum + line.time.length, 0));
  let end = 0;
  for (const { time } of lines) {
    times.set(time as ArrayLike<number>, end);
    end += time.length;
  }
  times.sort();
  const next = lines.map(() => 0);
  const rows = [["time_s", ...lines.map(({ name }) => quoted(name))].join(",")];
  times.forEach((time, i) => {
    if (i && time === times[i - 1]) return;
    const cells = lines.map((line, n) => {
      if (line.time[next[n]!] !== time) return "";
      const value = line.values[next[n]!++]!;
      return Number.isFinite(value) ? String(value) : "";
    });
    rows.push([String(time), ...cells].join(","));
  });
  return `${rows.join("\n")}\n`;
}

function quoted(text: string): string {
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
