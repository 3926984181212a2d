"""Charts as data: lines, bars, heatmaps and parallel coordinates, and their axes."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import nan

import numpy as np

from kinetarium.spatial.arrays import Array, frozen


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of a chart.

    Attributes:
        label: What is measured.
        unit: Its unit, or empty.
        log: Whether it is logarithmic; then only positive values are drawn.
    """

    label: str
    unit: str = ""
    log: bool = False

    @property
    def heading(self) -> str:
        """The label with the unit in brackets."""
        return f"{self.label} [{self.unit}]" if self.unit else self.label


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
        caption: What the reader should notice; may be empty.
        equal: Whether x and y have the same scale.
        marks: Reference values, drawn as straight lines.
    """

    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    caption: str = ""
    equal: bool = False
    marks: tuple[Mark, ...] = ()


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

    @classmethod
    def of_spreads(
        cls,
        name: str,
        spreads: Sequence[tuple[float, float, float] | None],
        *,
        factor: float = 1.0,
    ) -> "BarSeries":
        """Return bars with error bars; no bar where there is no spread.

        Args:
            spreads: Value, low and high end of each bar, or None.
            factor: What they are multiplied by.
        """
        rows = [(nan,) * 3 if spread is None else spread for spread in spreads]
        return cls(name, *(factor * np.array(rows, dtype=np.float64).T))


@dataclass(frozen=True, slots=True, eq=False)
class Bars:
    """Grouped bars.

    Attributes:
        title: What it shows.
        categories: Names of the groups.
        series: The bars, one of each in every group.
        value: The axis of the values; may be logarithmic.
        caption: What the reader should notice; may be empty.
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


Steps = tuple[str, ...] | tuple[float, ...]
"""Names, or numbers in rising order, one for each row or column."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A marked place on a heatmap.

    Attributes:
        x: Position along x; with named columns their index, from 0.
        y: Position along y; with named rows their index, from 0.
        label: What is there; may be empty.
    """

    x: float
    y: float
    label: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Heatmap:
    """Values in cells.

    Named rows are listed from the top, numbers rise from the bottom.

    Attributes:
        title: What it shows.
        x: The horizontal axis.
        y: The vertical axis.
        columns: Middle of each column on x, or its name.
        rows: Middle of each row on y, or its name.
        values: The values, shape (rows, columns); NaN leaves a cell empty.
        value: The axis of the values; may be logarithmic.
        annotate: Whether the value is written into every cell.
        diverging: Whether the colours diverge at 0, or at 1 on a logarithmic scale.
        marks: Marked places; those outside the cells are not shown.
        caption: What the reader should notice; may be empty.
        equal: Whether x and y have the same scale.
    """

    title: str
    x: Axis
    y: Axis
    columns: Steps
    rows: Steps
    values: Array
    value: Axis
    annotate: bool = False
    diverging: bool = False
    marks: tuple[Spot, ...] = ()
    caption: str = ""
    equal: bool = False

    def __post_init__(self) -> None:
        """Freeze the values.

        Raises:
            ValueError: If their shape is not (rows, columns), or rows or columns in numbers
                do not rise, or are not positive along a logarithmic axis.
        """
        object.__setattr__(self, "values", frozen(self.values))
        if self.values.shape != (len(self.rows), len(self.columns)):
            raise ValueError(
                f"heatmap '{self.title}': values of shape {self.values.shape},"
                f" not ({len(self.rows)}, {len(self.columns)})"
            )
        for steps, axis in ((self.rows, self.y), (self.columns, self.x)):
            if are_names(steps):
                continue
            middles = frozen(steps)
            if not (np.diff(middles) > 0).all() or (axis.log and not (middles > 0).all()):
                raise ValueError(f"heatmap '{self.title}': '{axis.label}' does not rise")

    @property
    def shown_marks(self) -> tuple[Spot, ...]:
        """The marks that are on a cell."""
        if not self.values.size:
            return ()
        x, y = cell_edges(self.columns, self.x), cell_edges(self.rows, self.y)
        return tuple(
            spot for spot in self.marks if x[0] <= spot.x <= x[-1] and y[0] <= spot.y <= y[-1]
        )


def are_names(steps: Steps) -> bool:
    """Return whether rows or columns are named rather than numeric."""
    return any(isinstance(step, str) for step in steps)


def cell_edges(steps: Steps, axis: Axis) -> Array:
    """Return the edges of the cells along an axis.

    Returns:
        The edges, shape (n + 1,): half-way between neighbours, on the scale of the
        axis; named cells are 1 wide around 0, 1, 2 ...
    """
    if are_names(steps):
        return frozen(np.arange(len(steps) + 1) - 0.5)
    middles = frozen(steps)
    if axis.log:
        middles = np.log10(middles)
    inner = (middles[1:] + middles[:-1]) / 2
    half = np.diff(middles) / 2 if len(middles) > 1 else np.full(len(middles), 0.5)
    edges = np.concatenate([middles[:1] - half[:1], inner, middles[-1:] + half[-1:]])
    return frozen(10.0**edges if axis.log else edges)


@dataclass(frozen=True, slots=True)
class Scale:
    """One of several parallel axes.

    Attributes:
        label: What it shows.
        ticks: Places along it, from 0 at the bottom to 1 at the top, and their texts.
    """

    label: str
    ticks: tuple[tuple[float, str], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Parallel:
    """Parallel coordinates: each case is a line across several axes (Inselberg, 1985).

    Attributes:
        title: What it shows.
        scales: The axes from left to right.
        series: Cases of one colour: x is the number of the axis, y the place along it, with a
            NaN after each case.
        caption: What the reader should notice; may be empty.
    """

    title: str
    scales: tuple[Scale, ...]
    series: tuple[Series, ...]
    caption: str = ""

    def __post_init__(self) -> None:
        """Check that every case is on the axes.

        Raises:
            ValueError: If a place is outside them.
        """
        for series in self.series:
            x, y = (values[np.isfinite(values)] for values in (series.x, series.y))
            if not (np.isin(x, range(len(self.scales))).all() and ((y >= 0) & (y <= 1)).all()):
                raise ValueError(f"parallel axes '{self.title}': a case is outside of them")
