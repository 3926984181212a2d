/** Where keys are for writing, and where they are so even with Ctrl. */
const FIELDS = "input:not([type=range], [type=checkbox], [type=radio]), textarea, select";
const TEXTS = "input:not([type=range], [type=number], [type=checkbox], [type=radio]), textarea";
/** What Space and Enter press, and what arrow keys move, when it has the focus. */
const PRESSED = "button, summary, a[href], input[type=checkbox], input[type=radio], [role=button]";
const MOVED = "input[type=range], input[type=radio], [role=separator], [role=slider]";
const PRESSING = [" ", "Enter"];
const MOVING = /^(Arrow\w+|Home|End|PageUp|PageDown)$/;

/** A key that does something. */
export interface Key {
  /** Such as "a", "?", "Shift+ArrowLeft" or "Ctrl+Shift+z". */
  readonly key: string;
  readonly help: string;
}

/** The keys that do something, wherever the mouse is, unless what has the focus takes them. */
export class Keys {
  private readonly actions = new Map<string, { help: string; action: () => void }>();

  constructor() {
    document.addEventListener("keydown", (event) => {
      if (event.defaultPrevented || event.altKey || taken(event)) return;
      const found = this.actions.get(nameOf(event));
      if (!found) return;
      event.preventDefault();
      found.action();
    });
  }

  /** Bind a key; gives what frees it again. One without help is not listed. */
  add(key: string, help: string, action: () => void): () => void {
    this.actions.set(key, { help, action });
    return () => this.actions.delete(key);
  }

  list(): Key[] {
    return [...this.actions].filter(([, { help }]) => help).map(([key, { help }]) => ({ key, help }));
  }
}

/** Tell whether what has the focus takes a key. */
function taken(event: KeyboardEvent): boolean {
  if (document.querySelector("dialog[open]")) return true;
  const { target, key } = event;
  if (!(target instanceof Element)) return false;
  const control = event.ctrlKey || event.metaKey;
  if (target.closest(control ? TEXTS : FIELDS)) return true;
  if (control) return false;
  return (PRESSING.includes(key) && target.closest(PRESSED) !== null) || (MOVING.test(key) && target.matches(MOVED));
}

/** Characters are named as they are, whether Shift was needed for them or not. */
function nameOf(event: KeyboardEvent): string {
  const character = event.key.length === 1;
  const control = event.ctrlKey || event.metaKey;
  const shift = event.shiftKey && (control || !character);
  return `${control ? "Ctrl+" : ""}${shift ? "Shift+" : ""}${character ? event.key.toLowerCase() : event.key}`;
}
