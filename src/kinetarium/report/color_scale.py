"""The colour scale of a heatmap: what its colours run over, and the numbers beside them."""

from dataclasses import dataclass
from math import ceil, floor, log10

import numpy as np

from kinetarium.figure.cell import cell_text
from kinetarium.figure.heatmap import Heatmap
from kinetarium.figure.palette import DIVERGING, SEQUENTIAL
from kinetarium.report.drawn_samples import drawable
from kinetarium.spatial.arrays import Array


@dataclass(frozen=True, slots=True, eq=False)
class ColorScale:
    """Colours for values.

    Attributes:
        levels: The values as the scale is divided, their decimal logarithm on a logarithmic
            one, shape (rows, columns); NaN where a cell is empty.
        low: Level of the first colour.
        high: Level of the last colour.
        colors: The colours at even distances.
        ticks: Levels to write beside the scale, with their texts; none to leave it to others.
    """

    levels: Array
    low: float
    high: float
    colors: tuple[str, ...]
    ticks: tuple[tuple[float, str], ...]


def color_scale(heatmap: Heatmap) -> ColorScale:
    """Lay the scale over all values; a diverging one as far to both sides."""
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
    """Give powers of ten between two exponents, with their doubles and halves if they are few."""
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
