"""Decimation of series for display, which keeps every peak and gap; colour scales."""

import re
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetarium.figure.charts import Axis, Bars, Heatmap, Lines, Series, cell_edges
from kinetarium.figure.page import DIVERGING, SEQUENTIAL
from kinetarium.figure.text import cell_text
from kinetarium.spatial.arrays import Array

_BUCKETS = 500
"""Intervals of a series, each of which keeps its extremes: one is a pixel or two wide."""

_FARTHEST = 1e100
"""Larger values come from diverged simulations; an axis could not show them."""


class Samples(NamedTuple):
    """Samples to draw, each of shape (n,); those with a NaN are gaps."""

    x: Array
    y: Array
    low: Array | None
    high: Array | None


def drawable(values: Array, axis: Axis) -> Array:
    """Return values with NaN for all that an axis cannot show."""
    lowest = 1 / _FARTHEST if axis.log else -_FARTHEST
    inside = (values >= lowest) & (values <= _FARTHEST)
    drawn: Array = np.where(inside, values, np.nan)
    return drawn


def drawn_samples(series: Series, *, x: Axis, y: Axis) -> Samples:
    """Decimate a series for display.

    Each of some hundred intervals keeps the samples with the lowest and the
    highest value, those at the edges of its band, and one in a gap; a curve
    that turns back also keeps the leftmost and rightmost.
    """
    places, values = drawable(series.x, x), drawable(series.y, y)
    curves = [values]
    low = high = None
    if series.low is not None and series.high is not None:
        low, high = drawable(series.low, y), drawable(series.high, y)
        curves += [low, high]
    if not (np.diff(series.x) >= 0).all():
        curves.append(places)
    kept = _kept(curves, np.isnan(places) | np.isnan(values))
    return Samples(
        places[kept],
        values[kept],
        None if low is None else low[kept],
        None if high is None else high[kept],
    )


def _kept(curves: list[Array], gaps: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Choose the samples to keep."""
    count = len(gaps)
    width = -(-count // _BUCKETS)
    if width <= 2:
        return np.arange(count)
    starts = np.arange(0, count, width)
    missing = len(starts) * width - count
    in_gap = np.pad(gaps, (0, missing)).reshape(-1, width)
    chosen = [starts[in_gap.any(axis=1)] + in_gap.argmax(axis=1)[in_gap.any(axis=1)]]
    for curve in curves:
        for sign in (1.0, -1.0):
            depth = np.where(np.isnan(curve), np.inf, sign * curve)
            buckets = np.pad(depth, (0, missing), constant_values=np.inf).reshape(-1, width)
            chosen.append(starts + buckets.argmin(axis=1))
    return np.unique(np.concatenate([[0, count - 1], *chosen]))


def bar_span(bars: Bars) -> tuple[float, float]:
    """Return powers of ten around all values and ranges, so that each bar is visible."""
    ends = [
        drawable(part, bars.value)
        for series in bars.series
        for part in (series.values, series.low, series.high)
        if part is not None
    ]
    values = np.concatenate([[], *ends])
    values = values[values > 0]
    if not values.size:
        return 0.1, 10.0
    low, high = floor(log10(0.8 * values.min())), ceil(log10(1.05 * values.max()))
    return 10.0**low, 10.0**high


@dataclass(frozen=True, slots=True, eq=False)
class ColorScale:
    """Colours for values.

    Attributes:
        levels: The values, or their decimal logarithms on a logarithmic scale, shape (rows,
            columns); NaN where a cell is empty.
        low: Level of the first colour.
        high: Level of the last colour.
        colors: The colours at even distances.
        ticks: Levels of the ticks, with their texts; empty for automatic ticks.
    """

    levels: Array
    low: float
    high: float
    colors: tuple[str, ...]
    ticks: tuple[tuple[float, str], ...]


def color_scale(heatmap: Heatmap) -> ColorScale:
    """Return a scale that covers all values; a diverging one is symmetric."""
    levels = drawable(heatmap.values, heatmap.value)
    if heatmap.value.log:
        levels = np.log10(levels)
    finite = levels[np.isfinite(levels)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if heatmap.diverging:
        high = max(abs(low), abs(high))
        low = -high
    if low == high:
        margin = abs(low) / 2 or 0.5
        low, high = low - margin, high + margin
    colors = DIVERGING if heatmap.diverging else SEQUENTIAL
    ticks = _decades(low, high) if heatmap.value.log else ()
    return ColorScale(levels, low, high, colors, ticks)


def _decades(low: float, high: float) -> tuple[tuple[float, str], ...]:
    """Return powers of ten between two exponents, with their doubles and halves if few."""
    apart = max(1, ceil((high - low) / 6))
    digits = (1, 2, 5) if high - low < 3 else (1,)
    levels = [
        power + log10(digit)
        for power in range(floor(low), ceil(high) + 1, apart)
        for digit in digits
    ]
    return tuple(
        (level, cell_text(float(f"{10.0**level:.1g}"))) for level in levels if low <= level <= high
    )


_NARROWEST, _WIDEST = 0.6, 3.0


def aspect(chart: Lines | Heatmap) -> float:
    """Return width over height of the drawn data, within what a page can show."""
    if isinstance(chart, Heatmap):
        x, y = cell_edges(chart.columns, chart.x), cell_edges(chart.rows, chart.y)
    else:
        x = drawable(np.concatenate([[], *(series.x for series in chart.series)]), chart.x)
        y = drawable(np.concatenate([[], *(series.y for series in chart.series)]), chart.y)
    x, y = x[np.isfinite(x)], y[np.isfinite(y)]
    if not x.size or not y.size or not np.ptp(y):
        return _WIDEST
    return float(np.clip(np.ptp(x) / np.ptp(y), _NARROWEST, _WIDEST))


_UNFIT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def readable(text: str) -> str:
    """Replace characters that a page must not contain by U+FFFD.

    These are control characters and lone surrogates, which XML forbids or no
    file can hold, and bidirectional controls, with which a name could pose as
    another.
    """
    return _UNFIT.sub("\ufffd", text)


def label(text: str, *, most: int = 40) -> str:
    """Return a text for a label: on one line, truncated if it is long."""
    line = " ".join(readable(text).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
