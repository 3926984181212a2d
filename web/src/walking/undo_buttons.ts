import type { App } from "../app";
import { h } from "../shell/dom";
import type { Planner } from "./planner";

/** Undo and redo of changes to the plan, as buttons and keys. */
export class UndoButtons {
  readonly element: HTMLElement;
  private readonly stop: (() => void)[];

  constructor(app: App, planner: Planner) {
    const undo = () => void app.guarded(() => planner.undo());
    const redo = () => void app.guarded(() => planner.redo());
    const back = h("button", { title: "Undo (Ctrl+Z)", "data-undo": "", onclick: undo }, "↶ undo");
    const forth = h("button", { title: "Redo (Ctrl+Shift+Z)", "data-redo": "", onclick: redo }, "↷ redo");
    const show = () => {
      back.disabled = !planner.history.canUndo;
      forth.disabled = !planner.history.canRedo;
    };
    this.stop = [
      planner.history.changed.on(show),
      app.keys.add("Ctrl+z", "undo", undo),
      app.keys.add("Ctrl+Shift+z", "redo", redo),
      app.keys.add("Ctrl+y", "redo", redo),
    ];
    show();
    this.element = h("div.buttons.undo", {}, back, forth);
  }

  dispose(): void {
    for (const stop of this.stop) stop();
  }
}
