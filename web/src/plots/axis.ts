import type uPlot from "uplot";
import { short } from "../shell/dom";

export const FONT = "11px system-ui";

/**
 * Write the values of ticks with the digits that tell them apart; very large and very small ones
 * with an exponent, a multiple of three.
 *
 * @param step Distance of two ticks.
 */
export function tickTexts(values: readonly number[], step: number): string[] {
  const greatest = Math.max(...values.map(Math.abs), step);
  const power = Math.floor(Math.log10(greatest));
  const exponent = power >= 5 || power < -3 ? 3 * Math.floor(power / 3) : 0;
  // Steps are 1, 2, 2.5 or 5 times a power of ten.
  const digits = [0, 1].find((more) => isWhole(step / 10 ** (Math.floor(Math.log10(step)) - more))) ?? 2;
  const places = Math.min(Math.max(0, exponent - Math.floor(Math.log10(step)) + digits), 15);
  const end = exponent ? `e${exponent}` : "";
  return values.map((value) => {
    const text = (value / 10 ** exponent).toFixed(places);
    return Number(text) === 0 ? "0" : text + end;
  });
}

function isWhole(value: number): boolean {
  return Math.abs(value - Math.round(value)) < 1e-6;
}

/** Write the ticks of a logarithmic axis: powers of ten, and others where there is room. */
export function logTexts(values: readonly (number | null)[]): string[] {
  return values.map((value) => {
    if (value === null) return "";
    return Math.abs(value) >= 1e4 || Math.abs(value) < 1e-3 ? value.toExponential(0) : short(value);
  });
}

/** The width of an axis: that of its longest text. */
export function axisWidth(chart: uPlot, texts: string[] | null, index: number, cycle: number): number {
  const axis = chart.axes[index]! as uPlot.Axis & { _size: number };
  const { ctx } = chart;
  ctx.save();
  ctx.font = FONT;
  const width = Math.max(0, ...(texts ?? []).map((text) => ctx.measureText(text ?? "").width));
  ctx.restore();
  const needed = Math.ceil(width + (axis.ticks?.size ?? 0) + (axis.gap ?? 0)) + 2;
  return cycle > 1 ? Math.max(needed, axis._size) : needed; // sizes have to settle
}
