"""How much of a logarithmic axis bars need, where they have no zero to stand on."""

from math import ceil, floor, log10

import numpy as np

from kinetarium.figure.bars import Bars
from kinetarium.report.drawn_samples import drawable


def bar_span(bars: Bars) -> tuple[float, float]:
    """Give whole powers of ten around all values and ranges, so that each bar can be seen."""
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
