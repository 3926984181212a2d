/** Where keys are for writing. */
const FIELDS = "input:not([type=range]), textarea, select";

/** The keys that do something, wherever the mouse is. */
export class Keys {
  private readonly actions = new Map<string, { help: string; action: () => void }>();

  constructor() {
    document.addEventListener("keydown", (event) => {
      const field = event.target instanceof Element && event.target.closest(FIELDS);
      if (field || event.ctrlKey || event.metaKey || event.altKey) return;
      const found = this.actions.get(event.key.length === 1 ? event.key.toLowerCase() : event.key);
      if (!found) return;
      event.preventDefault();
      found.action();
    });
  }

  /** Bind a key; gives what frees it again. */
  add(key: string, help: string, action: () => void): () => void {
    this.actions.set(key, { help, action });
    return () => this.actions.delete(key);
  }

  list(): string {
    const name = (key: string) => (key === " " ? "space" : key);
    return [...this.actions].map(([key, { help }]) => `${name(key)}: ${help}`).join(" · ");
  }
}
