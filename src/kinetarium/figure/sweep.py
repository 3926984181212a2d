"""Sweeps: what was varied within engines, and figures of merit over it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isnan
from typing import NamedTuple, Protocol

import numpy as np

from kinetarium.figure.charts import Axis, Lines, Series, Style
from kinetarium.figure.text import Cell, Column
from kinetarium.metrics import pareto_front
from kinetarium.spatial.arrays import Array

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
    """Return the columns of a table that tell settings apart."""
    return tuple(_COLUMNS[name] for name in varied)


def setting_cells(case: SetCase, varied: Sequence[str]) -> tuple[Cell, ...]:
    """Return what is set in the engine of a case, for those columns."""
    cells: dict[str, Cell] = {
        "timestep": case.timestep * 1e3,
        "iterations": str(case.iterations) if case.iterations else "own",
        "friction": case.friction,
    }
    return tuple(cells[name] for name in varied)


def sweep_series(samples: Sequence[Sample]) -> tuple[Series, ...]:
    """Return a line with markers for each name, from left to right, with gaps where nothing is."""
    series = []
    for name in dict.fromkeys(sample.name for sample in samples):
        own = sorted((s.x, np.nan if s.y is None else s.y) for s in samples if s.name == name)
        x, y = np.array(own, dtype=np.float64).T
        if np.isfinite(y).any():
            series.append(Series(name, x, y, Style.BOTH))
    return tuple(series)


FRONT = "best of all"
_COST = Axis("CPU time per simulated second", "s/s", log=True)


@dataclass(frozen=True, slots=True)
class Trial:
    """One setting of an engine that was tried.

    Attributes:
        name: The engine.
        cost: CPU time per simulated second [s/s].
        error: What it leaves undone, positive.
    """

    name: str
    cost: float
    error: float


def speed_accuracy(title: str, trials: Sequence[Trial], *, error: Axis, caption: str = "") -> Lines:
    """Draw settings over their cost; each engine's Pareto front is joined by a line.

    Args:
        title: What it shows.
        trials: The settings; those of unknown cost are left out.
        error: What is left undone.
        caption: What to see in it.
    """
    trials = [trial for trial in trials if not isnan(trial.cost)]
    series = []
    for name in dict.fromkeys(trial.name for trial in trials):
        cost, left = _points([trial for trial in trials if trial.name == name])
        series.append(_front_and_rest(name, cost, left))
    if len(series) > 1:
        cost, left = _points(trials)
        best = pareto_front(cost, left)
        series.append(Series(FRONT, cost[best], left[best], Style.DOTTED))
    note = "Each marker is one setting; lines join those that nothing of the same engine beats."
    return Lines(title, _COST, error, tuple(series), caption=f"{caption} {note}".strip())


def _points(trials: Sequence[Trial]) -> tuple[Array, Array]:
    cost, error = np.array([(trial.cost, trial.error) for trial in trials]).T
    return cost, error


def _front_and_rest(name: str, cost: Array, error: Array) -> Series:
    """Join the front, and put the other points behind it, each after a gap."""
    front = pareto_front(cost, error)
    rest = np.setdiff1d(np.arange(len(cost)), front)
    lone = np.column_stack([np.full(len(rest), np.nan), error[rest]]).ravel()
    return Series(
        name,
        np.concatenate([cost[front], np.repeat(cost[rest], 2)]),
        np.concatenate([error[front], lone]),
        Style.BOTH,
    )
