"""Lines in the words of Plotly."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from kinetarium.figure.line import Lines, Mark, Side, Style
from kinetarium.report.drawn_samples import Samples, drawable, drawn_samples
from kinetarium.report.packed import packed_values
from kinetarium.report.plotly_layout import (
    plotly_axis,
    plotly_layout,
    plotly_text,
    tone_color,
    tone_symbol,
)
from kinetarium.spatial.arrays import Array

_MODES = {Style.MARKERS: "markers", Style.BOTH: "lines+markers"}
_DASHES = {Style.DASHED: "dash", Style.DOTTED: "dot"}

_MOST_AT_ONCE = 8
"""Series whose values are listed together under the pointer."""


def plotly_lines(lines: Lines, tones: Mapping[str, int]) -> dict[str, Any]:
    """Give the traces and the layout that draw lines.

    Args:
        lines: The lines.
        tones: Numbers of all names of series on the page.
    """
    x = plotly_axis(lines.x, np.concatenate([[], *(series.x for series in lines.series)]))
    y = plotly_axis(lines.y, np.concatenate([[], *(series.y for series in lines.series)]))
    if lines.equal:
        y |= {"scaleanchor": "x", "scaleratio": 1}
    layout = plotly_layout(x, y, legend=any(series.name for series in lines.series))
    together = len(lines.series) <= _MOST_AT_ONCE and not lines.equal
    layout["hovermode"] = "x unified" if together else "closest"
    layout["shapes"] = [
        _shape(mark) for mark in lines.marks if np.isfinite(_place(lines, mark)).all()
    ]
    return {"data": list(_traces(lines, tones)), "layout": layout}


def _traces(lines: Lines, tones: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    for series in lines.series:
        tone = tones[series.name]
        samples = drawn_samples(series, x=lines.x, y=lines.y)
        shared = {"type": "scatter", "legendgroup": str(tone)}
        if samples.low is not None and samples.high is not None:
            yield shared | _band(samples.x, samples.low, samples.high, tone=tone)
        yield shared | _curve(samples, series.style, tone=tone) | {"name": plotly_text(series.name)}


def _curve(samples: Samples, style: Style, *, tone: int) -> dict[str, Any]:
    return {
        "mode": _MODES.get(style, "lines"),
        "x": packed_values(samples.x),
        "y": packed_values(samples.y),
        "line": {"color": tone_color(tone), "width": 2, "dash": _DASHES.get(style, "solid")},
        "marker": {"color": tone_color(tone), "size": 7, "symbol": tone_symbol(tone)},
    }


def _band(x: Array, low: Array, high: Array, *, tone: int) -> dict[str, Any]:
    """Draw a band as one closed outline for each stretch without a gap."""
    whole = np.isfinite(x) & np.isfinite(low) & np.isfinite(high)
    outline_x, outline_y = [], []
    for stretch in np.split(np.arange(len(x)), np.flatnonzero(np.diff(whole)) + 1):
        if whole[stretch].any():
            outline_x += [x[stretch], x[stretch][::-1], [np.nan]]
            outline_y += [low[stretch], high[stretch][::-1], [np.nan]]
    return {
        "mode": "lines",
        "x": packed_values(np.concatenate([[], *outline_x])),
        "y": packed_values(np.concatenate([[], *outline_y])),
        "fill": "toself",
        "fillcolor": tone_color(tone),
        "line": {"width": 0},
        "opacity": 0.2,
        "showlegend": False,
        "hoverinfo": "skip",
    }


def _place(lines: Lines, mark: Mark) -> Array:
    axis = lines.x if mark.side is Side.X else lines.y
    return drawable(np.array([mark.value]), axis)


def _shape(mark: Mark) -> dict[str, Any]:
    own, other = ("x", "y") if mark.side is Side.X else ("y", "x")
    return {
        "type": "line",
        f"{own}0": mark.value,
        f"{own}1": mark.value,
        f"{other}ref": "paper",
        f"{other}0": 0,
        f"{other}1": 1,
        "line": {"color": "var(--soft)", "width": 1.5, "dash": "dashdot"},
        "label": {
            "text": plotly_text(mark.label),
            "textposition": "end",
            "xanchor": "right",
            "yanchor": "top" if mark.side is Side.X else "bottom",
            "font": {"size": 12, "color": "var(--soft)"},
        },
    }
