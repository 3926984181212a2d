/** How a thing is found again after its list was made anew. */
interface Trace {
  /** The ancestors at the time, from the nearest to the body. */
  ancestors: Element[];
  /** Where it was below each of them, by the numbers of the children. */
  path: number[];
  key: string | null;
  name: string;
}

/**
 * Keep the focus when a list is made anew: it goes to what is in place of the element that had it,
 * by its data-key, by its name, or by its place.
 */
export function keepFocus(): void {
  let trace: Trace | null = null;
  let last: Element | null = null;
  document.addEventListener("focusin", (event) => {
    last = event.target as Element;
    trace = traceOf(last);
  });
  document.addEventListener("focusout", (event) => {
    const left = event.target as Element;
    // One who leaves does not want to be brought back; what is taken away has not left.
    queueMicrotask(() => {
      if (left.isConnected && last === left) last = trace = null;
    });
  });
  new MutationObserver(() => {
    if (!last || !trace || last.isConnected || (document.activeElement && document.activeElement !== document.body)) return;
    const found = find(trace);
    last = null;
    found?.focus({ preventScroll: true });
  }).observe(document.body, { childList: true, subtree: true });
}

function traceOf(element: Element): Trace {
  const ancestors: Element[] = [];
  const path: number[] = [];
  for (let at = element; at.parentElement; at = at.parentElement) {
    path.push([...at.parentElement.children].indexOf(at));
    ancestors.push(at.parentElement);
  }
  return { ancestors, path, key: element.getAttribute("data-key"), name: nameOf(element) };
}

function find({ ancestors, path, key, name }: Trace): HTMLElement | null {
  const depth = ancestors.findIndex((ancestor) => ancestor.isConnected);
  const host = ancestors[depth];
  if (!host || host === document.body) return null;
  const all = [...host.querySelectorAll<HTMLElement>("button, input, select, textarea, summary, a[href], [tabindex]")];
  const there = path.slice(0, depth + 1).reduceRight<Element | undefined>((at, number) => at?.children[number], host);
  const same = all.filter((one) => nameOf(one) === name);
  return (
    (key !== null && all.find((one) => one.getAttribute("data-key") === key)) ||
    same.find((one) => one === there) ||
    same[0] ||
    (there instanceof HTMLElement ? there : null)
  );
}

function nameOf(element: Element): string {
  return `${element.tagName} ${element.getAttribute("aria-label") ?? element.getAttribute("title") ?? element.textContent}`;
}
