"""Bars in the words of Plotly."""

from collections.abc import Mapping
from math import log10
from typing import Any

import numpy as np

from kinetarium.figure.axis import Axis
from kinetarium.figure.bars import Bars, BarSeries
from kinetarium.figure.cell import cell_text
from kinetarium.report.bar_span import bar_span
from kinetarium.report.drawn_samples import drawable
from kinetarium.report.plotly_layout import (
    named_ticks,
    plotly_axis,
    plotly_layout,
    plotly_text,
    tone_color,
)


def plotly_bars(bars: Bars, tones: Mapping[str, int]) -> dict[str, Any]:
    """Give the traces and the layout that draw bars.

    Args:
        bars: The bars.
        tones: Numbers of all names of series on the page.
    """
    x = plotly_axis(Axis(""), np.empty(0)) | named_ticks(bars.categories)
    span = bar_span(bars)
    y = plotly_axis(bars.value, np.array(span))
    if bars.value.log:
        y["range"] = [log10(end) for end in span]
    else:
        y |= {"zeroline": True, "zerolinecolor": "var(--soft)"}
    layout = plotly_layout(x, y, legend=any(series.name for series in bars.series))
    layout |= {"barmode": "group", "bargap": 0.25, "bargroupgap": 0.08}
    traces = [_trace(series, bars, tone=tones[series.name]) for series in bars.series]
    return {"data": traces, "layout": layout}


def _trace(series: BarSeries, bars: Bars, *, tone: int) -> dict[str, Any]:
    values = drawable(series.values, bars.value)
    trace = {
        "type": "bar",
        "name": plotly_text(series.name),
        "legendgroup": str(tone),
        "x": list(range(len(values))),
        "y": values.tolist(),
        "marker": {"color": tone_color(tone)},
        "hovertext": _hints(series, bars),
        "hoverinfo": "text+name",
    }
    if series.low is not None and series.high is not None:
        trace["error_y"] = {
            "type": "data",
            "symmetric": False,
            "array": np.maximum(drawable(series.high, bars.value) - values, 0.0).tolist(),
            "arrayminus": np.maximum(values - drawable(series.low, bars.value), 0.0).tolist(),
            "color": "var(--ink)",
            "thickness": 1.5,
            "width": 4,
        }
    return trace


def _hints(series: BarSeries, bars: Bars) -> list[str]:
    """Say of each bar what the pointer shows."""
    unit = plotly_text(bars.value.unit)
    texts = [
        f"{plotly_text(category)}<br>{cell_text(value)} {unit}"
        for category, value in zip(bars.categories, series.values.tolist(), strict=True)
    ]
    if series.low is None or series.high is None:
        return texts
    ranges = zip(texts, series.low.tolist(), series.high.tolist(), strict=True)
    return [f"{text}<br>{cell_text(low)} to {cell_text(high)}" for text, low, high in ranges]
