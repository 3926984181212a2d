"""What is drawn of a series: fewer samples than it has, but every peak and gap."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetarium.figure.axis import Axis
from kinetarium.figure.line import Series
from kinetarium.spatial.arrays import Array

_BUCKETS = 500
"""Stretches of a series, of which each keeps its extremes: half a thousand is a pixel or two."""

_FARTHEST = 1e100
"""Values beyond belong to a simulation that fell apart; no axis could be divided over them."""


class Samples(NamedTuple):
    """Samples to draw, each of shape (n,); those with a NaN are gaps."""

    x: Array
    y: Array
    low: Array | None
    high: Array | None


def drawable(values: Array, axis: Axis) -> Array:
    """Give values with NaN for all that has no place on an axis."""
    lowest = 1 / _FARTHEST if axis.log else -_FARTHEST
    inside = (values >= lowest) & (values <= _FARTHEST)
    drawn: Array = np.where(inside, values, np.nan)
    return drawn


def drawn_samples(series: Series, *, x: Axis, y: Axis) -> Samples:
    """Thin a series for display.

    Of each of some hundred stretches the samples with the lowest and the
    highest value are kept, those at the edges of its band too, and one in a
    gap; of a curve that turns back, the leftmost and rightmost as well.

    Args:
        series: The series.
        x: The horizontal axis.
        y: The vertical axis.
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
