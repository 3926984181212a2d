"""A single value in a figure, and how it is written for people."""

from math import isfinite, isnan
from typing import Any

Cell = str | int | float | None


def as_cell(value: Any) -> Cell:
    """Give a value itself if it is a single one, else as text."""
    return value if isinstance(value, str | int | float | None) else str(value)


def cell_text(value: Cell) -> str:
    """Write a value: four significant digits, no needless exponents, nothing for None."""
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    if isnan(value):
        return "not a number"
    if not isfinite(value):
        return "∞" if value > 0 else "-∞"
    if 1e4 <= abs(value) < 1e9:
        return f"{value:.0f}"
    return f"{value:.4g}"
