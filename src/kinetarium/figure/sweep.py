"""Sweeps: settings varied within engines, and quantities over them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isnan
from statistics import median
from typing import NamedTuple, Protocol

import numpy as np

from kinetarium.figure.charts import Axis, Lines, Mark, Series, Style
from kinetarium.figure.text import Cell, Column
from kinetarium.metrics import pareto_front
from kinetarium.spatial.arrays import Array

_COLUMNS = {
    "timestep": Column("step", "ms"),
    "iterations": Column("iterations"),
    "friction": Column("friction"),
}
"""Settings that may be varied within an engine, as columns of a table."""


class SetCase(Protocol):
    """A case with the settings of its engine: time step [s], iterations, friction [-]."""

    @property
    def engine(self) -> str:
        """The engine."""

    @property
    def profile(self) -> str:
        """The name of the other settings."""

    @property
    def timestep(self) -> float:
        """Physics time step [s]."""

    @property
    def iterations(self) -> int:
        """Solver iterations [-]; 0 for the profile's."""

    @property
    def friction(self) -> float:
        """Coefficient of friction [-]."""


class Sample(NamedTuple):
    """A measured value of an engine.

    Attributes:
        name: The engine.
        x: The varied setting.
        y: The measured value, or None.
    """

    name: str
    x: float
    y: float | None


def varied_fields(cases: Iterable[SetCase]) -> tuple[str, ...]:
    """Return the fields of cases that take several values within one engine and profile."""
    found: dict[str, dict[tuple[str, str], set[float]]] = {name: {} for name in _COLUMNS}
    for case in cases:
        for name, values in found.items():
            values.setdefault((case.profile, case.engine), set()).add(getattr(case, name))
    return tuple(
        name for name, values in found.items() if any(len(each) > 1 for each in values.values())
    )


def setting_columns(varied: Sequence[str]) -> tuple[Column, ...]:
    """Return the columns of a table for the varied settings."""
    return tuple(_COLUMNS[name] for name in varied)


def setting_cells(case: SetCase, varied: Sequence[str]) -> tuple[Cell, ...]:
    """Return the varied settings of a case, for those columns."""
    cells: dict[str, Cell] = {
        "timestep": case.timestep * 1e3,
        "iterations": str(case.iterations) if case.iterations else "own",
        "friction": case.friction,
    }
    return tuple(cells[name] for name in varied)


def sweep_series(samples: Sequence[Sample]) -> tuple[Series, ...]:
    """Return a line with markers for each name, sorted by x, with gaps for missing values."""
    series = []
    for name in dict.fromkeys(sample.name for sample in samples):
        own = sorted((s.x, np.nan if s.y is None else s.y) for s in samples if s.name == name)
        x, y = np.array(own, dtype=np.float64).T
        if np.isfinite(y).any():
            series.append(Series(name, x, y, Style.BOTH))
    return tuple(series)


Measured = Sequence[tuple[SetCase, float | None]]
"""Cases, each with the measure of its runs, or None."""


def over_iterations(
    measured: Measured, *, title: str, y: Axis, caption: str, marks: tuple[Mark, ...] = ()
) -> list[Lines]:
    """Draw a measure over the iterations of iterative solvers, a figure for each time step."""
    figures = []
    for step in sorted({case.timestep for case, _ in measured}):
        samples = [
            Sample(case.engine, case.iterations, value)
            for case, value in measured
            if case.timestep == step and case.iterations
        ]
        figures.append(
            Lines(
                f"{title} over iterations, steps of {step * 1e3:g} ms",
                Axis("solver iterations", log=True),
                y,
                sweep_series(samples),
                caption=caption,
                marks=marks,
            )
        )
    return figures


def over_timestep(
    measured: Measured, *, title: str, y: Axis, caption: str, marks: tuple[Mark, ...] = ()
) -> list[Lines]:
    """Draw a measure over the time step, with the profile's iterations; empty without any."""
    own = [(case, value) for case, value in measured if not case.iterations]
    samples = [Sample(case.engine, case.timestep * 1e3, value) for case, value in own]
    axis = Axis("time step", "ms", log=True)
    name = f"{title} over the time step"
    lines = Lines(name, axis, y, sweep_series(samples), caption=caption, marks=marks)
    return [lines] if own else []


FRONT = "overall Pareto front"
_COST = Axis("CPU time per simulated second", "s/s", log=True)


@dataclass(frozen=True, slots=True)
class Trial:
    """One setting of an engine.

    Attributes:
        name: The engine.
        cost: CPU time per simulated second [s/s].
        error: Its error, positive.
    """

    name: str
    cost: float
    error: float


def setting_trials(measured: Iterable[tuple[SetCase, float, float | None]]) -> list[Trial]:
    """Return the median cost and the largest error of each setting of an engine over its cases.

    A setting of which an error is not known is left out.

    Args:
        measured: Cases, each with its cost [s/s] and its error.
    """
    settings: dict[tuple[str, float, int], list[tuple[float, float | None]]] = {}
    for case, cost, error in measured:
        key = (case.engine, case.timestep, case.iterations)
        settings.setdefault(key, []).append((cost, error))
    trials = []
    for (engine, *_), cells in settings.items():
        errors = [error for _, error in cells if error is not None]
        if len(errors) == len(cells):
            trials.append(Trial(engine, median(cost for cost, _ in cells), max(errors)))
    return trials


def speed_accuracy(title: str, trials: Sequence[Trial], *, error: Axis, caption: str = "") -> Lines:
    """Draw the error of settings over their cost, with each engine's Pareto front as a line.

    Args:
        trials: The settings; those of unknown cost are left out.
        error: The axis of the errors.
        caption: What the reader should notice.
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
    note = "Each marker is one setting; lines are the Pareto fronts of the engines."
    return Lines(title, _COST, error, tuple(series), caption=f"{caption} {note}".strip())


def _points(trials: Sequence[Trial]) -> tuple[Array, Array]:
    cost, error = np.array([(trial.cost, trial.error) for trial in trials]).T
    return cost, error


def _front_and_rest(name: str, cost: Array, error: Array) -> Series:
    """Return the front as a line, followed by the other points, each after a gap."""
    front = pareto_front(cost, error)
    rest = np.setdiff1d(np.arange(len(cost)), front)
    lone = np.column_stack([np.full(len(rest), np.nan), error[rest]]).ravel()
    return Series(
        name,
        np.concatenate([cost[front], np.repeat(cost[rest], 2)]),
        np.concatenate([error[front], lone]),
        Style.BOTH,
    )
