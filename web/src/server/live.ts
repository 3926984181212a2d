import { Event } from "../shell/events";

/** What the server tells by itself, over a WebSocket that comes back when it was lost. */
export class Live {
  readonly message = new Event<{ type: string }>();
  readonly connected = new Event<boolean>();
  private wait = 500;

  open(): void {
    const socket = new WebSocket(`ws://${location.host}/live`);
    socket.addEventListener("open", () => {
      this.wait = 500;
      this.connected.emit(true);
    });
    socket.addEventListener("message", (event) => {
      this.message.emit(JSON.parse(String(event.data)) as { type: string });
    });
    socket.addEventListener("close", () => {
      this.connected.emit(false);
      setTimeout(() => this.open(), this.wait);
      this.wait = Math.min(this.wait * 2, 10_000);
    });
  }
}
