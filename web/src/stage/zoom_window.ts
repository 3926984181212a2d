import type { App } from "../app";
import { h } from "../shell/dom";

/** Look closer at a rectangle that is drawn with the mouse. */
export function zoomWindow(app: App): void {
  const { stage, layout } = app;
  const button = h("button", { title: "Zoom to a window (Z)", "aria-pressed": false }, "window");
  layout.camera.prepend(button);
  const canvas = stage.renderer.domElement;
  const frame = h("div.zoom");
  let from: [number, number] | null = null;

  const arm = (armed: boolean) => {
    button.setAttribute("aria-pressed", String(armed));
    stage.viewpoint.controls.enabled = !armed;
    canvas.style.cursor = armed ? "crosshair" : "";
    from = null;
    frame.remove();
  };
  const armed = () => button.getAttribute("aria-pressed") === "true";
  button.addEventListener("click", () => arm(!armed()));
  app.keys.add("z", "zoom to a window", () => arm(!armed()));

  // Before anything else that listens to the mouse on the stage.
  canvas.addEventListener("pointerdown", (event) => {
    if (!armed()) return;
    event.stopImmediatePropagation();
    canvas.setPointerCapture(event.pointerId);
    from = [event.clientX, event.clientY];
    layout.stage.append(frame);
  }, { capture: true });
  canvas.addEventListener("pointermove", (event) => {
    if (!from) return;
    event.stopImmediatePropagation();
    const box = canvas.getBoundingClientRect();
    const [x, y] = from;
    frame.style.left = `${Math.min(x, event.clientX) - box.left}px`;
    frame.style.top = `${Math.min(y, event.clientY) - box.top}px`;
    frame.style.width = `${Math.abs(event.clientX - x)}px`;
    frame.style.height = `${Math.abs(event.clientY - y)}px`;
  }, { capture: true });
  canvas.addEventListener("pointerup", (event) => {
    if (!from) return;
    event.stopImmediatePropagation();
    const [x, y] = from;
    arm(false);
    const { clientX, clientY } = event;
    const [width, height] = [Math.abs(clientX - x), Math.abs(clientY - y)];
    stage.lookCloser((x + clientX) / 2, (y + clientY) / 2, width, height);
  }, { capture: true });
}
