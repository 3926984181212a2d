"""Heatmap: a value over two quantities or names, as colours."""

from dataclasses import dataclass

import numpy as np

from kinetarium.figure.axis import Axis
from kinetarium.spatial.arrays import Array, frozen

Steps = tuple[str, ...] | tuple[float, ...]
"""Names, or numbers in rising order, one for each row or column."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A place on a heatmap that is pointed out.

    Attributes:
        x: Where it is along x; on named columns their number, from 0.
        y: Where it is along y; on named rows their number, from 0.
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
        value: What the values are; on a logarithmic scale if it says so.
        annotate: Whether the value is written into every cell.
        diverging: Whether colours part at 0, or at 1 on a logarithmic scale.
        marks: Places to point out; those beyond the cells are not shown.
        caption: What to see in it; may be empty.
        equal: Whether a unit is as long along x as along y.
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
        """The marks that lie on a cell."""
        if not self.values.size:
            return ()
        x, y = cell_edges(self.columns, self.x), cell_edges(self.rows, self.y)
        return tuple(
            spot for spot in self.marks if x[0] <= spot.x <= x[-1] and y[0] <= spot.y <= y[-1]
        )


def are_names(steps: Steps) -> bool:
    """Say whether rows or columns are named rather than measured."""
    return any(isinstance(step, str) for step in steps)


def cell_edges(steps: Steps, axis: Axis) -> Array:
    """Give where cells begin and end along an axis.

    Args:
        steps: The rows or columns.
        axis: Their axis.

    Returns:
        The edges, shape (n + 1,): half-way between neighbours as the axis is
        divided; named cells are 1 wide around 0, 1, 2 ...
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
