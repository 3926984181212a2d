/** How solids are drawn. */
export type Style = "shaded" | "hidden-line" | "wireframe";

export const STYLES: Style[] = ["shaded", "hidden-line", "wireframe"];
