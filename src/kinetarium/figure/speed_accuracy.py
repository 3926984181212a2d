"""Speed and accuracy: what settings cost against what they leave undone, and the best of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

import numpy as np

from kinetarium.figure.axis import Axis
from kinetarium.figure.line import Lines, Series, Style
from kinetarium.metrics.pareto import pareto_front
from kinetarium.spatial.arrays import Array

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
