"""Bars drawn by Matplotlib."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from kinetarium.figure.bars import Bars
from kinetarium.figure.palette import LIGHT
from kinetarium.report.bar_span import bar_span
from kinetarium.report.drawn_samples import drawable
from kinetarium.report.plain_text import label
from kinetarium.report.still_lines import legend, scale

_GROUP = 0.76
"""Width of all bars of a category; categories are 1 apart."""


def draw_bars(axes: Any, bars: Bars, tones: Mapping[str, int]) -> None:
    """Draw bars into empty axes.

    Args:
        axes: The axes.
        bars: The bars.
        tones: Numbers of all names of series on the page.
    """
    scale(axes.yaxis, bars.value)
    width = _GROUP / max(1, len(bars.series))
    artists = []
    for place, series in enumerate(bars.series):
        values = drawable(series.values, bars.value)
        x = np.arange(len(values)) + (place + 0.5) * width - _GROUP / 2
        color = LIGHT[tones[series.name] % len(LIGHT)]
        artists.append(axes.bar(x, values, width=0.92 * width, color=color))
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
