/** What an exported page holds. */
export type Part = "replay" | "walks" | "volume" | "view";

/** Take what the page itself holds out of it. */
export function embedded(part: Part): Uint8Array<ArrayBuffer>[] {
  const elements = document.querySelectorAll(`script[type="application/x-kinetarium-${part}"]`);
  return [...elements].map((element) => {
    const text = atob(element.textContent!.trim());
    element.remove();
    return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  });
}
