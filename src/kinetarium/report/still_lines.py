"""Lines drawn by Matplotlib."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kinetarium.figure.axis import Axis
from kinetarium.figure.cell import cell_text
from kinetarium.figure.line import Lines, Mark, Side, Style
from kinetarium.figure.palette import LIGHT
from kinetarium.report.drawn_samples import drawable, drawn_samples
from kinetarium.report.plain_text import label

_MARKERS = ("o", "s", "D", "^", "v", "X", "P")
_DASHES = {Style.DASHED: "--", Style.DOTTED: ":", Style.MARKERS: "none"}

_LEGEND_WIDTH = 96
"""Characters that stand side by side in a legend."""


def draw_lines(axes: Any, lines: Lines, tones: Mapping[str, int]) -> None:
    """Draw lines into empty axes.

    Args:
        axes: The axes.
        lines: The lines.
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
            linestyle=_DASHES.get(series.style, "-"),
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
    """Give a side of the axes its heading and division."""
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
    """Give a name for the legend, where Matplotlib leaves out those that begin with a stroke."""
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
