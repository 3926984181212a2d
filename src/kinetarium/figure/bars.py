"""Bars: values of several series side by side over named categories."""

from dataclasses import dataclass

from kinetarium.figure.axis import Axis
from kinetarium.spatial.arrays import Array, frozen


@dataclass(frozen=True, slots=True, eq=False)
class BarSeries:
    """One bar in every category.

    Attributes:
        name: What they are; one name has one colour on a whole page.
        values: Their lengths, shape (categories,); NaN leaves one out.
        low: Lower end of a range about each value, shape (categories,), or None for no range.
        high: Upper end of the range, shape (categories,); given exactly where `low` is.
    """

    name: str
    values: Array
    low: Array | None = None
    high: Array | None = None

    def __post_init__(self) -> None:
        """Freeze the arrays.

        Raises:
            ValueError: If their shapes differ, or a range has one end.
        """
        if (self.low is None) != (self.high is None):
            raise ValueError(f"bars '{self.name}': a range has two ends")
        for field in ("values", "low", "high"):
            values = getattr(self, field)
            if values is not None:
                object.__setattr__(self, field, frozen(values))
                if getattr(self, field).shape != (len(self.values),):
                    raise ValueError(f"bars '{self.name}': {field} and values differ in shape")


@dataclass(frozen=True, slots=True, eq=False)
class Bars:
    """Grouped bars.

    Attributes:
        title: What it shows.
        categories: Names of the groups.
        series: The bars, one of each in every group.
        value: What their lengths are; on a logarithmic scale if it says so.
        caption: What to see in it; may be empty.
    """

    title: str
    categories: tuple[str, ...]
    series: tuple[BarSeries, ...]
    value: Axis
    caption: str = ""

    def __post_init__(self) -> None:
        """Check that there is a value for every category.

        Raises:
            ValueError: If a series has too few or too many.
        """
        for series in self.series:
            if len(series.values) != len(self.categories):
                raise ValueError(
                    f"bars '{series.name}': {len(series.values)} values"
                    f" for {len(self.categories)} categories"
                )
