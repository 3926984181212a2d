"""Lines: quantities against another, as curves, dashes or markers."""

from dataclasses import dataclass
from enum import StrEnum

from kinetarium.figure.axis import Axis
from kinetarium.spatial.arrays import Array, frozen


class Style(StrEnum):
    """How a series is drawn."""

    LINE = "line"
    DASHED = "dashed"
    DOTTED = "dotted"
    MARKERS = "markers"
    BOTH = "both"
    """A line with a marker at every sample."""


class Side(StrEnum):
    """The axis on which a value is read."""

    X = "x"
    Y = "y"


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """Samples in the order in which a line joins them.

    Attributes:
        name: What they are; one name has one colour on a whole page.
        x: Where they are along x, shape (n,).
        y: Their values, shape (n,); NaN leaves a gap.
        style: How they are drawn.
        low: Lower edge of a band around them, shape (n,), or None for no band.
        high: Upper edge of the band, shape (n,); given exactly where `low` is.
    """

    name: str
    x: Array
    y: Array
    style: Style = Style.LINE
    low: Array | None = None
    high: Array | None = None

    def __post_init__(self) -> None:
        """Freeze the arrays.

        Raises:
            ValueError: If their shapes differ, or a band has one edge.
        """
        if (self.low is None) != (self.high is None):
            raise ValueError(f"series '{self.name}': a band has two edges")
        for field in ("x", "y", "low", "high"):
            values = getattr(self, field)
            if values is not None:
                object.__setattr__(self, field, frozen(values))
                if getattr(self, field).shape != (len(self.x),):
                    raise ValueError(f"series '{self.name}': {field} and x differ in shape")


@dataclass(frozen=True, slots=True)
class Mark:
    """A straight line across the figure at one value, such as a limit.

    Attributes:
        value: The value.
        label: What it is; may be empty.
        side: The axis on which the value is read.
    """

    value: float
    label: str = ""
    side: Side = Side.Y


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Series over common axes.

    Attributes:
        title: What it shows.
        x: The horizontal axis.
        y: The vertical axis.
        series: The series, later ones drawn above earlier ones.
        caption: What to see in it; may be empty.
        equal: Whether a unit is as long along x as along y.
        marks: Values to compare with.
    """

    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    caption: str = ""
    equal: bool = False
    marks: tuple[Mark, ...] = ()
