/** Something that happens, and who wants to know. */
export class Event<T = void> {
  private listeners = new Set<(value: T) => void>();

  /** Listen; gives what ends it. */
  on(listener: (value: T) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  emit(value: T): void {
    for (const listener of [...this.listeners]) listener(value);
  }
}
