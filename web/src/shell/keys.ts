/** Where keys are for writing, and where they are so even with Ctrl. */
const FIELDS = "input:not([type=range]), textarea, select";
const TEXTS = "input:not([type=range], [type=number]), textarea";

/** The keys that do something, wherever the mouse is. */
export class Keys {
  private readonly actions = new Map<string, { help: string; action: () => void }>();

  constructor() {
    document.addEventListener("keydown", (event) => {
      const control = event.ctrlKey || event.metaKey;
      const field = event.target instanceof Element && event.target.closest(control ? TEXTS : FIELDS);
      if (field || event.altKey) return;
      const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
      const found = this.actions.get(control ? `Ctrl+${event.shiftKey ? "Shift+" : ""}${key}` : key);
      if (!found) return;
      event.preventDefault();
      found.action();
    });
  }

  /** Bind a key, such as "a" or "Ctrl+Shift+z"; gives what frees it again. */
  add(key: string, help: string, action: () => void): () => void {
    this.actions.set(key, { help, action });
    return () => this.actions.delete(key);
  }

  list(): string {
    const name = (key: string) => (key === " " ? "space" : key);
    return [...this.actions].map(([key, { help }]) => `${name(key)}: ${help}`).join(" · ");
  }
}
