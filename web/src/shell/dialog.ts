import { h } from "./dom";

/**
 * Open a dialog over the page; Escape, its button and a press beside it close it, and the focus goes
 * back to where it was.
 *
 * @param closed Told when it is closed.
 */
export function dialog(title: string, content: HTMLElement, closed: () => void = () => {}): HTMLDialogElement {
  const back = document.activeElement;
  const close = h("button.close", { "aria-label": "Close", title: "Close (Esc)", onclick: () => element.close() }, "✕");
  const element: HTMLDialogElement = h("dialog.dialog", { "aria-label": title },
    h("header", {}, h("h2", {}, title), close), h("div.content", {}, content));
  element.addEventListener("click", (event) => {
    if (event.target === element) element.close();
  });
  element.addEventListener("close", () => {
    element.remove();
    closed();
    if (back instanceof HTMLElement) back.focus();
  });
  document.body.append(element);
  element.showModal();
  return element;
}
