/**
 * Colours of series. The first eight are those of the reports, told apart by the colour-blind too;
 * each of the others is as far from all before it as one can be in Oklab at a contrast of 3.2.
 */

export const LIGHT = [
  "#024cd8", "#c83800", "#02a48b", "#8e298d", "#152a57", "#b18e00", "#6b1a22", "#6d6f72",
  "#ff00f0", "#9678ff", "#005a00", "#ff3c87", "#8700ff", "#0f1e00", "#0087d2", "#4b00a5",
  "#1e8700", "#b478a5", "#005a87", "#784b00", "#3c002d", "#b43cd2", "#695ab4", "#c30f69",
];

export const DARK = [
  "#3a69ff", "#f0922b", "#37f5c7", "#ad5c9b", "#7aabff", "#ffdf3a", "#c94a30", "#989ea0",
  "#008700", "#ff00ff", "#ffd2ff", "#5ac300", "#a50fff", "#007896", "#ff87c3", "#69ff00",
  "#ff0087", "#c378ff", "#87783c", "#ffffd2", "#b4c378", "#00c3a5", "#a5d2e1", "#d200b4",
];

/** The colours that replay files give to solids of the legs 1 to 4: red, green and blue, 0..1. */
export const LEGS = [[0.01, 0.3, 0.85], [0.78, 0.22, 0], [0.01, 0.64, 0.55], [0.56, 0.16, 0.55]];

/** Dashes [px] of lines whose colours are used up, or that share one. */
const DASHES = [[], [7, 3], [2, 2], [8, 3, 2, 3], [12, 4], [4, 2, 1, 2], [1, 3], [12, 3, 2, 3, 2, 3]];

/** The dash of a line by its number; none for the first. */
export function dash(number: number): number[] {
  return DASHES[number % DASHES.length]!;
}

/** From low to high: viridis, whose lightness rises evenly. */
export const SEQUENTIAL = [
  "#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725",
];
