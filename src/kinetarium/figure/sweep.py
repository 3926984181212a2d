"""Sweeps: what was varied within engines, and figures of merit over it."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from kinetarium.figure.cell import Cell
from kinetarium.figure.line import Series, Style
from kinetarium.figure.table import Column

_COLUMNS = {
    "timestep": Column("step", "ms"),
    "iterations": Column("iterations"),
    "friction": Column("friction"),
}
"""What may be varied within an engine, as a column of a table."""


class SetCase(Protocol):
    """A case that says what is set in its engine: time step [s], iterations, friction [-]."""

    @property
    def engine(self) -> str:
        """The engine."""

    @property
    def profile(self) -> str:
        """What else is set in it."""

    @property
    def timestep(self) -> float:
        """Physics step [s]."""

    @property
    def iterations(self) -> int:
        """Iterations of the solver [-]; 0 for the profile's own."""

    @property
    def friction(self) -> float:
        """Coefficient of friction [-]."""


class Sample(NamedTuple):
    """A value of an engine.

    Attributes:
        name: The engine.
        x: Where it was measured.
        y: What was measured; None if there was nothing to measure.
    """

    name: str
    x: float
    y: float | None


def varied_fields(cases: Iterable[SetCase]) -> tuple[str, ...]:
    """Name the fields of cases that take several values within one engine and profile."""
    found: dict[str, dict[tuple[str, str], set[float]]] = {name: {} for name in _COLUMNS}
    for case in cases:
        for name, values in found.items():
            values.setdefault((case.profile, case.engine), set()).add(getattr(case, name))
    return tuple(
        name for name, values in found.items() if any(len(each) > 1 for each in values.values())
    )


def setting_columns(varied: Sequence[str]) -> tuple[Column, ...]:
    """Give the columns of a table that tell settings apart."""
    return tuple(_COLUMNS[name] for name in varied)


def setting_cells(case: SetCase, varied: Sequence[str]) -> tuple[Cell, ...]:
    """Give what is set in the engine of a case, for those columns."""
    cells: dict[str, Cell] = {
        "timestep": case.timestep * 1e3,
        "iterations": str(case.iterations) if case.iterations else "own",
        "friction": case.friction,
    }
    return tuple(cells[name] for name in varied)


def sweep_series(samples: Sequence[Sample]) -> tuple[Series, ...]:
    """Give a line with markers for each name, from left to right, with gaps where nothing is."""
    series = []
    for name in dict.fromkeys(sample.name for sample in samples):
        own = sorted((s.x, np.nan if s.y is None else s.y) for s in samples if s.name == name)
        x, y = np.array(own, dtype=np.float64).T
        if np.isfinite(y).any():
            series.append(Series(name, x, y, Style.BOTH))
    return tuple(series)
