// Draws the charts and scenes of a report, each when it comes into view, from the JSON beside it,
// and marks the tables that are wider than the page.
"use strict";
(() => {
  const config = {
    displaylogo: false,
    responsive: true,
    scrollZoom: false, // the wheel scrolls the page
    typesetMath: false, // names are no formulas
  };
  const buttons = {
    scene: [["zoom3d", "pan3d", "tableRotation", "resetCameraDefault3d", "toImage"]],
    chart: [["zoom2d", "pan2d", "resetScale2d", "toImage"]],
  };
  const touched = matchMedia("(pointer: coarse)").matches;
  const isScene = (figure) => figure.classList.contains("scene");

  const canDrawScenes = () => {
    const context = document.createElement("canvas").getContext("webgl");
    context?.getExtension("WEBGL_lose_context")?.loseContext();
    return context !== null;
  };

  // Colours are variables of the style sheet, such as var(--ink).
  const described = (figure) => {
    const style = getComputedStyle(document.documentElement);
    const resolved = (key, value) =>
      /color$/i.test(key) && String(value).startsWith("var(--")
        ? style.getPropertyValue(value.slice(4, -1)).trim()
        : value;
    return JSON.parse(document.getElementById(figure.dataset.json).textContent, resolved);
  };

  const draw = async (figure) => {
    if (figure.dataset.state) return;
    figure.dataset.state = "drawing";
    const { data, layout } = described(figure);
    if (figure.camera) layout.scene.camera = figure.camera;
    if (!isScene(figure) && touched) layout.dragmode = false; // a finger scrolls the page
    const modeBarButtons = buttons[isScene(figure) ? "scene" : "chart"];
    const displayModeBar = touched && !isScene(figure) ? false : "hover";
    const view = figure.querySelector(".view");
    await Plotly.newPlot(view, data, layout, { ...config, modeBarButtons, displayModeBar });
    figure.dataset.state = "drawn";
    if (figure.gone) drop(figure);
  };

  const drop = (figure) => {
    if (figure.dataset.state !== "drawn" || !isScene(figure)) return;
    const view = figure.querySelector(".view");
    figure.camera = view.layout.scene.camera;
    Plotly.purge(view);
    delete figure.dataset.state;
  };

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

  const charts = document.querySelectorAll("figure.chart");
  for (const chart of charts) {
    chart.classList.add("live");
    observer.observe(chart);
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const chart of charts) {
      if (chart.dataset.state !== "drawn") continue;
      const { data, layout } = described(chart);
      Plotly.react(chart.querySelector(".view"), data, layout);
    }
  });

  // A table that is wider than its box scrolls: a line above it tells so, and the verdict stays.
  const sizes = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const scrolls = target.scrollWidth > target.clientWidth + 1;
      target.classList.toggle("scrolls", scrolls);
      const width = (cell) => target.querySelector(cell)?.getBoundingClientRect().width ?? 0;
      target.style.setProperty("--first", `${width("th")}px`);
      // On a narrow screen the rest needs the room more than the verdict does.
      const room = target.clientWidth / 2;
      target.classList.toggle("pinned", scrolls && width("th") + width(".verdict") < room);
      target.previousElementSibling.hidden = !scrolls;
    }
  });
  for (const table of document.querySelectorAll(".table")) sizes.observe(table);

  const scenes = document.querySelectorAll("figure.scene");
  if (!scenes.length || !canDrawScenes()) return;
  for (const scene of scenes) {
    if (!touched) {
      observer.observe(scene);
      continue;
    }
    // A finger on a live scene would turn it instead of scrolling the page.
    const button = scene.querySelector("button");
    button.hidden = false;
    button.addEventListener("click", () => {
      button.hidden = true;
      draw(scene);
    });
  }
})();
