import { Event } from "./events";
import { recall, remember } from "./memory";
import { DARK, LIGHT } from "./palette";

/** Dark or light: as the system says, until it is chosen; the choice is remembered. */
export class Theme {
  readonly changed = new Event();
  dark: boolean;

  constructor() {
    const system = matchMedia("(prefers-color-scheme: dark)");
    const chosen = recall<string>("theme", "");
    this.dark = chosen ? chosen === "dark" : system.matches;
    system.addEventListener("change", () => {
      if (!recall<string>("theme", "")) this.set(system.matches);
    });
    this.apply();
  }

  toggle(): void {
    this.set(!this.dark);
    remember("theme", this.dark ? "dark" : "light");
  }

  set(dark: boolean): void {
    this.dark = dark;
    this.apply();
    this.changed.emit();
  }

  /** A colour of the style sheet by its name. */
  color(name: string): string {
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  }

  /** The colour of a series by its number. */
  series(number: number): string {
    const colors = this.dark ? DARK : LIGHT;
    return colors[number % colors.length]!;
  }

  /** A series' colour, given in either theme, as this theme has it. */
  sameSeries(color: string): string {
    const number = Math.max(LIGHT.indexOf(color), DARK.indexOf(color));
    return number < 0 ? color : this.series(number);
  }

  /** How often the colours have been used before a series by its number. */
  round(number: number): number {
    return Math.floor(number / LIGHT.length);
  }

  private apply(): void {
    document.documentElement.dataset.theme = this.dark ? "dark" : "light";
  }
}
