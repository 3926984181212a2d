"""Groups: the starts of one case together, with the median and the range of what they gave."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from statistics import median
from typing import Any

from kinetarium.batch.study import Outcome
from kinetarium.metrics.cost import cost_per_second
from kinetarium.recording.recording import Recording
from kinetarium.studies.grasp.config import Case, Profile, ToolPath

FIGURES = (
    "held_s",
    "slip_m",
    "penetration_m",
    "force_mean_n",
    "force_ft_mean_n",
    "zero_contact_samples",
    "moving_variance_n2",
    "moving_variance_disjoint_n2",
    "waiting_variance_n2",
    "ideal_variance_n2",
    "common_mode_variance_n2",
    "sliding_grip_n",
    "tilt_deg",
    "tracking_rmse_m",
    "ideal_rmse_m",
    "one_step_rad_s2",
)
"""What is summed up, in the order in which it is judged."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Values of several starts.

    Attributes:
        median: The middle one.
        low: The least.
        high: The greatest.
    """

    median: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """All starts of one engine, path, profile and setting.

    Attributes:
        case: The first of the cases.
        outcomes: One for each start.
    """

    case: Case
    outcomes: tuple[Outcome[Case], ...]

    def spread(self, figure: str) -> Spread | None:
        """Give the median and the range of a figure; None if no start gave it."""
        rows = [row for outcome in self.outcomes for row in outcome.rows]
        values = [float(row[figure]) for row in rows if row.get(figure) is not None]
        return Spread(median(values), min(values), max(values)) if values else None

    def median(self, figure: str) -> float | None:
        """Give the median of a figure; None if no start gave it."""
        spread = self.spread(figure)
        return spread.median if spread else None

    def greatest(self, figure: str) -> float | None:
        """Give the greatest of a figure; None if no start gave it."""
        spread = self.spread(figure)
        return spread.high if spread else None

    @property
    def held(self) -> int:
        """How many starts were held to the end."""
        return sum(bool(row["held"]) for outcome in self.outcomes for row in outcome.rows)

    @property
    def ratio(self) -> float | None:
        """The median variance by that of the rigid grasp [-]."""
        variance, least = self.median("moving_variance_n2"), self.median("ideal_variance_n2")
        return variance / least if variance is not None and least else None

    @property
    def whole(self) -> bool:
        """Whether every start was held to the end."""
        return self.held == len(self.outcomes)

    @property
    def cost(self) -> float:
        """CPU time per simulated second [s/s], of the start that took least; NaN if unknown."""
        costs = [cost_per_second(outcome.timing, outcome.recording) for outcome in self.outcomes]
        return min((cost for cost in costs if not isnan(cost)), default=nan)

    @property
    def recording(self) -> Recording | None:
        """The recording of the first start that has one."""
        return next((o.recording for o in self.outcomes if o.recording is not None), None)


def grouped(outcomes: Sequence[Outcome[Case]]) -> tuple[Group, ...]:
    """Put the starts of the same engine, path, profile and setting together."""
    found: dict[Case, list[Outcome[Case]]] = {}
    for outcome in outcomes:
        found.setdefault(replace(outcome.case, start=0), []).append(outcome)
    return tuple(Group(same[0].case, tuple(same)) for same in found.values())


def summary(groups: Sequence[Group]) -> dict[str, Any]:
    """Give the median and the range of every figure of every group."""
    entries = []
    for group in groups:
        case = group.case
        entry: dict[str, Any] = {
            "engine": case.engine,
            "path": str(case.path),
            "profile": str(case.profile),
            "timestep_s": case.timestep,
            "iterations": case.iterations,
            "friction": case.friction,
            "starts": len(group.outcomes),
            "held": group.held,
        }
        for figure in FIGURES:
            if spread := group.spread(figure):
                values = {"median": spread.median, "min": spread.low, "max": spread.high}
                entry[figure] = values
        entries.append(entry)
    return {"groups": entries}


def profiles_of(groups: Sequence[Group]) -> tuple[Profile, ...]:
    """Give the profiles of groups, in their order."""
    return tuple(dict.fromkeys(group.case.profile for group in groups))


def paths_of(groups: Sequence[Group]) -> tuple[ToolPath, ...]:
    """Give the paths of groups that are carried along, in their order."""
    paths = dict.fromkeys(group.case.path for group in groups)
    return tuple(path for path in paths if path is not ToolPath.RELEASE)
