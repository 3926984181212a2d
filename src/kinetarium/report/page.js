// Draws the scenes of a report: each while it is in view, from the JSON beside it.
"use strict";
(() => {
  const config = {
    displaylogo: false,
    responsive: true,
    scrollZoom: false, // the wheel scrolls the page
    modeBarButtons: [["zoom3d", "pan3d", "tableRotation", "resetCameraDefault3d", "toImage"]],
  };

  const canDraw = () => {
    const context = document.createElement("canvas").getContext("webgl");
    context?.getExtension("WEBGL_lose_context")?.loseContext();
    return context !== null;
  };

  const draw = async (figure) => {
    if (figure.dataset.state) return;
    figure.dataset.state = "drawing";
    const { data, layout } = JSON.parse(document.getElementById(figure.dataset.json).textContent);
    if (figure.camera) layout.scene.camera = figure.camera;
    await Plotly.newPlot(figure.querySelector(".view"), data, layout, config);
    figure.dataset.state = "drawn";
    if (figure.gone) drop(figure);
  };

  const drop = (figure) => {
    if (figure.dataset.state !== "drawn") return;
    const view = figure.querySelector(".view");
    figure.camera = view.layout.scene.camera;
    Plotly.purge(view);
    delete figure.dataset.state;
  };

  if (!canDraw()) return;
  const figures = document.querySelectorAll("figure.scene");
  if (matchMedia("(pointer: coarse)").matches) {
    // A finger on a live scene would turn it instead of scrolling the page.
    for (const figure of figures) {
      const button = figure.querySelector("button");
      button.hidden = false;
      button.addEventListener("click", () => {
        button.hidden = true;
        draw(figure);
      });
    }
    return;
  }
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        target.gone = !isIntersecting;
        if (isIntersecting) draw(target);
        else drop(target);
      }
    },
    { rootMargin: "50% 0px" },
  );
  for (const figure of figures) observer.observe(figure);
})();
