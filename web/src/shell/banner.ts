import type { App } from "../app";
import type { Connection } from "../server/live";
import { h } from "./dom";

const WORDS: Record<Connection, string> = {
  here: "",
  gone: "The server does not answer. Start kinetarium studio again; the page goes on by itself then.",
  refused: "The studio was started again with another token: open the address that it has printed.",
};

/** A banner while the server is gone; runs that are new are listed when it is back. */
export function connectionBanner(app: App): void {
  const banner = h("div.banner", { role: "alert", hidden: true });
  document.body.prepend(banner);
  app.live.changed.on((connection) => {
    banner.textContent = WORDS[connection];
    banner.hidden = connection === "here";
    if (connection === "here") app.live.message.emit({ type: "runs" });
  });
}
