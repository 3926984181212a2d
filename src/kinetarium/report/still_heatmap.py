"""A Heatmap drawn by Matplotlib."""

from typing import Any

import numpy as np

from kinetarium.figure.axis import Axis
from kinetarium.figure.heatmap import Heatmap, Steps, are_names, cell_edges
from kinetarium.report.color_scale import color_scale
from kinetarium.report.plain_text import label
from kinetarium.report.still_lines import scale

_VALUES_WIDTH = 290.0
"""Width that the cells of a heatmap have together at least [points]."""

_DIGIT_WIDTH = 0.65
"""Width of a digit and its share of the space beside a number, as a share of the size."""

_DARKEST_FOR_INK = 0.45
"""Brightness of a cell, 0..1, above which dark letters are read more easily than white ones."""


def draw_heatmap(axes: Any, heatmap: Heatmap) -> None:
    """Draw a heatmap into empty axes."""
    from matplotlib.colors import LinearSegmentedColormap

    axes.set_facecolor("#e8eaed")
    if not heatmap.values.size:  # no case came to an end
        scale(axes.xaxis, heatmap.x)
        scale(axes.yaxis, heatmap.y)
        return
    colors = color_scale(heatmap)
    cells = axes.pcolormesh(
        cell_edges(heatmap.columns, heatmap.x),
        cell_edges(heatmap.rows, heatmap.y),
        np.ma.masked_invalid(colors.levels),
        cmap=LinearSegmentedColormap.from_list("kinetarium", colors.colors),
        vmin=colors.low,
        vmax=colors.high,
        edgecolors="#ffffff" if heatmap.annotate else "face",
        linewidth=0.8 if heatmap.annotate else 0.0,
        rasterized=heatmap.values.size > 2000,
    )
    _divide(axes.xaxis, heatmap.x, heatmap.columns)
    _divide(axes.yaxis, heatmap.y, heatmap.rows)
    if are_names(heatmap.rows):
        axes.invert_yaxis()
    if heatmap.equal:
        axes.set_aspect("equal", anchor="N")
    bar = axes.figure.colorbar(cells, ax=axes, fraction=0.05, pad=0.02, aspect=30)
    bar.set_label(label(heatmap.value.heading, most=60))
    bar.outline.set_visible(False)
    if colors.ticks:
        bar.set_ticks([level for level, _ in colors.ticks], labels=[t for _, t in colors.ticks])
        bar.minorticks_off()
    if heatmap.annotate:
        _write_values(axes, heatmap, cells)
    for spot in heatmap.shown_marks:
        axes.plot(
            spot.x, spot.y, marker="*", markersize=11, color="#ffffff", markeredgecolor="#1c2127"
        )
        if spot.label:
            axes.annotate(
                label(spot.label),
                (spot.x, spot.y),
                xytext=(0, 9),
                textcoords="offset points",
                horizontalalignment="center",
                size=8,
                bbox={"facecolor": "#ffffff", "alpha": 0.85, "linewidth": 0, "pad": 1.5},
            )


def _divide(side: Any, axis: Axis, steps: Steps) -> None:
    if not are_names(steps):
        scale(side, axis)
        return
    scale(side, Axis(axis.label, axis.unit))
    side.set_ticks(range(len(steps)), labels=[label(str(step), most=24) for step in steps])
    crowded = side.axis_name == "x" and sum(len(str(step)) + 2 for step in steps) > 70
    if crowded:
        for text in side.get_ticklabels():
            text.set(rotation=35, horizontalalignment="right", rotation_mode="anchor")


def _write_values(axes: Any, heatmap: Heatmap, cells: Any) -> None:
    shades = cells.to_rgba(cells.get_array()).reshape(*heatmap.values.shape, 4)
    brightness = shades[..., :3] @ (0.30, 0.59, 0.11)
    x, y = (_middles(steps) for steps in (heatmap.columns, heatmap.rows))
    places = np.argwhere(np.isfinite(heatmap.values))
    texts = [f"{heatmap.values[row, column]:.3g}" for row, column in places]
    longest = max(map(len, texts), default=1)
    size = min(8.0, _VALUES_WIDTH / (len(x) * longest * _DIGIT_WIDTH))
    for (row, column), text in zip(places, texts, strict=True):
        axes.text(
            x[column],
            y[row],
            text,
            horizontalalignment="center",
            verticalalignment="center",
            color="#1c2127" if brightness[row, column] > _DARKEST_FOR_INK else "#ffffff",
            size=size,
        )


def _middles(steps: Steps) -> list[float]:
    if are_names(steps):
        return [float(number) for number in range(len(steps))]
    return [float(step) for step in steps]
