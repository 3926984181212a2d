/** Colours of series, those of the reports: told apart by the colour-blind too. */

export const LIGHT = [
  "#024cd8", "#c83800", "#02a48b", "#8e298d", "#152a57", "#b18e00", "#6b1a22", "#6d6f72",
];

export const DARK = [
  "#3a69ff", "#f0922b", "#37f5c7", "#ad5c9b", "#7aabff", "#ffdf3a", "#c94a30", "#989ea0",
];

/** From low to high: viridis, whose lightness rises evenly. */
export const SEQUENTIAL = [
  "#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725",
];
