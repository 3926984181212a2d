/** Elements without markup: texts from files become text nodes, never HTML. */

type Child = Node | string | number | null | undefined | false;

interface Attributes {
  [name: string]: unknown;
}

/**
 * Make an element.
 *
 * @param tag Its tag, with classes after dots: "button.primary".
 * @param attributes Attributes; "on..." are listeners, booleans come and go, but "aria-..." say true or false.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K | `${K}.${string}`,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const [name, ...classes] = tag.split(".") as [K, ...string[]];
  const element = document.createElement(name);
  if (classes.length) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value as EventListener);
    else if (key.startsWith("aria-")) element.setAttribute(key, String(value));
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== undefined) element.setAttribute(key, String(value));
  }
  element.append(...children.filter((c) => c !== null && c !== undefined && c !== false).map(node));
  return element;
}

function node(child: Child): Node {
  return child instanceof Node ? child : document.createTextNode(String(child));
}

/** Write a number with few digits. */
export function short(value: number, digits = 4): string {
  if (!Number.isFinite(value)) return "–";
  if (value !== 0 && (Math.abs(value) >= 1e5 || Math.abs(value) < 1e-3)) return value.toExponential(2);
  return String(Number(value.toPrecision(digits)));
}
