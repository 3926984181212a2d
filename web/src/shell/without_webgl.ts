import { h } from "./dom";

/** Tell whether this browser can draw the stage. */
export function canDraw(): boolean {
  try {
    const gl = document.createElement("canvas").getContext("webgl2");
    gl?.getExtension("WEBGL_lose_context")?.loseContext();
    return gl !== null;
  } catch {
    return false;
  }
}

/** Say in words why there is nothing to see, and what helps. */
export function explainWebGl(): void {
  document.documentElement.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  document.body.append(
    h("main.words", {},
      h("h1", {}, "This browser cannot draw in 3-D"),
      h("p", {}, "The studio of Kinetarium draws with WebGL 2, which this browser does not offer: it is switched off, or the graphics driver is not trusted."),
      h("ul", {},
        h("li", {}, "Open the same address in a current Firefox, Chrome, Edge or Safari."),
        h("li", {}, "Chrome and Edge: switch on “Use graphics acceleration when available” in the settings under System; chrome://gpu says what is missing. On a machine without a graphics card start it with ", h("code", {}, "--enable-unsafe-swiftshader"), "."),
        h("li", {}, "Firefox: set ", h("code", {}, "webgl.force-enabled"), " in about:config."),
      ),
      h("p", {}, "The numbers do not need it: every result folder has its report, ", h("code", {}, "report.html"), ", and its ", h("code", {}, "metrics.json"), "."),
    ),
  );
}
