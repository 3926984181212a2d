/** What the browser keeps of the page from one time to the next; nothing where it may not, as in a sandbox. */

const PREFIX = "kinetarium-";

export function recall<T>(name: string, otherwise: T): T {
  try {
    const text = localStorage.getItem(PREFIX + name);
    return text === null ? otherwise : (JSON.parse(text) as T);
  } catch {
    return otherwise;
  }
}

export function remember(name: string, value: unknown): void {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // It is forgotten with the page.
  }
}
