import { Event } from "../shell/events";

/** Whether the server answers, is gone, or no longer knows this page. */
export type Connection = "here" | "gone" | "refused";

const SOON = 500;
const LATE = 5000;

/** What the server tells by itself, over a WebSocket that comes back when it was lost. */
export class Live {
  readonly message = new Event<{ type: string }>();
  readonly changed = new Event<Connection>();
  connection: Connection = "here";
  private wait = SOON;

  open(): void {
    const socket = new WebSocket(`ws://${location.host}/live`);
    socket.addEventListener("open", () => {
      this.wait = SOON;
      this.set("here");
    });
    socket.addEventListener("message", (event) => {
      this.message.emit(JSON.parse(String(event.data)) as { type: string });
    });
    socket.addEventListener("close", () => void this.retry());
  }

  /** Ask for the page until the server is there, and then listen again. */
  private async retry(): Promise<void> {
    let answer: Response | null = null;
    while (!answer?.ok) {
      await new Promise((done) => setTimeout(done, this.wait));
      this.wait = Math.min(this.wait * 2, LATE);
      answer = await fetch("./", { method: "HEAD" }).catch(() => null);
      this.set(!answer ? "gone" : answer.ok ? "here" : "refused");
    }
    this.open();
  }

  private set(connection: Connection): void {
    if (connection === this.connection) return;
    this.connection = connection;
    this.changed.emit(connection);
  }
}
