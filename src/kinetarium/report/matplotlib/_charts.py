"""Lines, bars, heatmaps and parallel axes drawn by Matplotlib."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kinetarium.figure.charts import (
    Axis,
    Bars,
    Heatmap,
    Lines,
    Mark,
    Parallel,
    Side,
    Steps,
    Style,
    are_names,
    cell_edges,
)
from kinetarium.figure.page import LIGHT, tone_round
from kinetarium.figure.text import cell_text
from kinetarium.report.drawing import bar_span, color_scale, drawable, drawn_samples, label

_MARKERS = ("o", "s", "D", "^", "v", "X", "P")
_DASHES = {Style.DASHED: "--", Style.DOTTED: ":", Style.MARKERS: "none"}
_ROUNDS = ("-", (0, (5, 1.5)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))
"""Dashes of lines whose colours are used up, by how often."""
_HATCHES = ("", "///", "xxx", "...")

_LEGEND_WIDTH = 96
"""Characters per row of a legend."""


def draw_lines(axes: Any, lines: Lines, tones: Mapping[str, int]) -> None:
    """Draw lines into empty axes.

    Args:
        tones: Numbers of all names of series on the page.
    """
    scale(axes.xaxis, lines.x)
    scale(axes.yaxis, lines.y)
    curves = []
    for series in lines.series:
        tone = tones[series.name]
        samples = drawn_samples(series, x=lines.x, y=lines.y)
        color = LIGHT[tone % len(LIGHT)]
        if samples.low is not None:
            axes.fill_between(
                samples.x, samples.low, samples.high, color=color, alpha=0.2, linewidth=0
            )
        marked = series.style in (Style.MARKERS, Style.BOTH)
        curves += axes.plot(
            samples.x,
            samples.y,
            color=color,
            linewidth=1.4,
            linestyle=_DASHES.get(series.style, _ROUNDS[tone_round(tone) % len(_ROUNDS)]),
            marker=_MARKERS[tone % len(_MARKERS)] if marked else None,
            markersize=4,
        )
    for mark in lines.marks:
        _draw_mark(axes, mark, lines)
    axes.grid(True)
    if lines.equal:
        axes.set_aspect("equal", adjustable="datalim", anchor="N")
    legend(axes, curves, [series.name for series in lines.series])


def scale(side: Any, axis: Axis) -> None:
    """Set the heading and division of a side of the axes."""
    from matplotlib.ticker import FuncFormatter

    side.set_label_text(label(axis.heading, most=60))
    if axis.log:
        side.axes.set(**{f"{side.axis_name}scale": "log"})
        side.set_major_formatter(FuncFormatter(lambda value, _: cell_text(float(f"{value:.3g}"))))


def legend(axes: Any, artists: Sequence[Any], names: Sequence[str]) -> None:
    """Name the series below the axes, unless they have no names."""
    if any(names):
        axes.figure.legend(
            artists,
            [_legend_text(name) for name in names],
            loc="outside lower left",
            ncols=_legend_columns(names),
        )


def legend_rows(names: Sequence[str]) -> int:
    """Count the lines of a legend."""
    return -(-len(names) // _legend_columns(names)) if any(names) else 0


def _legend_columns(names: Sequence[str]) -> int:
    longest = max(len(_legend_text(name)) for name in names)
    return max(1, min(len(names), _LEGEND_WIDTH // (longest + 7)))


def _legend_text(name: str) -> str:
    """Return a name for the legend; Matplotlib omits names that begin with an underscore."""
    text = label(name)
    return f" {text}" if text.startswith("_") else text


def _draw_mark(axes: Any, mark: Mark, lines: Lines) -> None:
    upright = mark.side is Side.X
    if np.isnan(drawable(np.array([mark.value]), lines.x if upright else lines.y)).any():
        return
    draw = axes.axvline if upright else axes.axhline
    draw(mark.value, color="#5b6570", linewidth=1.0, linestyle="-.")
    axes.annotate(
        label(mark.label),
        (mark.value, 1.0) if upright else (1.0, mark.value),
        xycoords=axes.get_xaxis_transform() if upright else axes.get_yaxis_transform(),
        xytext=(-3, -3) if upright else (-3, 3),
        textcoords="offset points",
        horizontalalignment="right",
        verticalalignment="top" if upright else "bottom",
        rotation=90 if upright else 0,
        color="#5b6570",
        size=8,
    )


_GROUP = 0.76
"""Total width of the bars of a category; categories are 1 apart."""


def draw_bars(axes: Any, bars: Bars, tones: Mapping[str, int]) -> None:
    """Draw bars into empty axes.

    Args:
        tones: Numbers of all names of series on the page.
    """
    scale(axes.yaxis, bars.value)
    width = _GROUP / max(1, len(bars.series))
    artists = []
    for place, series in enumerate(bars.series):
        values = drawable(series.values, bars.value)
        x = np.arange(len(values)) + (place + 0.5) * width - _GROUP / 2
        tone = tones[series.name]
        color, hatch = LIGHT[tone % len(LIGHT)], _HATCHES[tone_round(tone) % len(_HATCHES)]
        style = {"color": color, "hatch": hatch, "edgecolor": "#ffffff", "linewidth": 0.0}
        artists.append(axes.bar(x, values, width=0.92 * width, **style))
        if series.low is not None and series.high is not None:
            low, high = drawable(series.low, bars.value), drawable(series.high, bars.value)
            reach = np.maximum([values - low, high - values], 0.0)
            axes.errorbar(x, values, yerr=reach, fmt="none", ecolor="#1c2127", elinewidth=1.0,
                          capsize=2)  # fmt: skip
    axes.set_xlim(-0.5, max(1, len(bars.categories)) - 0.5)
    crowded = sum(len(name) + 2 for name in bars.categories) > 90
    axes.set_xticks(
        range(len(bars.categories)),
        [label(name, most=24) for name in bars.categories],
        rotation=30 if crowded else 0,
        ha="right" if crowded else "center",
    )
    if bars.value.log:
        axes.set_ylim(*bar_span(bars))
    axes.grid(True, axis="y")
    legend(axes, artists, [series.name for series in bars.series])


_VALUES_WIDTH = 290.0
"""Minimum total width of the cells of a heatmap [points]."""

_DIGIT_WIDTH = 0.65
"""Width of a digit, with its share of the space beside a number, over the font size."""

_DARKEST_FOR_INK = 0.45
"""Brightness of a cell, 0..1, above which dark text is more legible than white text."""


def draw_heatmap(axes: Any, heatmap: Heatmap) -> None:
    """Draw a heatmap into empty axes."""
    from matplotlib.colors import LinearSegmentedColormap

    axes.set_facecolor("#e8eaed")
    if not heatmap.values.size:  # no case completed
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


def draw_parallel(axes: Any, parallel: Parallel, tones: Mapping[str, int]) -> None:
    """Draw parallel coordinates into empty axes.

    Args:
        tones: Numbers of all names of series on the page.
    """
    curves = []
    for series in parallel.series:
        color = LIGHT[tones[series.name] % len(LIGHT)]
        curves += axes.plot(series.x, series.y, color=color, linewidth=0.7, alpha=0.6)
    for place, scale_ in enumerate(parallel.scales):
        axes.axvline(place, color="#5b6570", linewidth=1.0)
        for height, text in scale_.ticks:
            axes.annotate(
                label(text, most=16),
                (place, height),
                xytext=(3, 0),
                textcoords="offset points",
                verticalalignment="center",
                size=7,
                bbox={"facecolor": "#ffffff", "alpha": 0.8, "linewidth": 0, "pad": 0.8},
            )
    names = [label(scale_.label, most=24) for scale_ in parallel.scales]
    crowded = sum(len(name) + 2 for name in names) > 90
    axes.set_xticks(
        range(len(names)), names, rotation=30 if crowded else 0, ha="right" if crowded else "center"
    )
    axes.set_xlim(-0.2, max(1, len(names)) - 0.6)
    axes.set_ylim(-0.05, 1.05)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    legend(axes, curves, [series.name for series in parallel.series])
