"""Outcomes: the outcomes of a drive study, asked by what their cases have in common."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isnan, nan
from statistics import median
from typing import Any

from kinetarium.batch.study import Outcome
from kinetarium.metrics import cost_per_second
from kinetarium.studies.drive.config import DriveCase, PathControl, PathName, Profile, Robot


class Outcomes:
    """Outcomes of cases."""

    def __init__(self, outcomes: Sequence[Outcome[DriveCase]]) -> None:
        """Keep the outcomes in their order."""
        self.outcomes = outcomes

    def distinct(self, field: str) -> tuple[Any, ...]:
        """Return the values of a field of the cases, each once, in order."""
        return tuple(dict.fromkeys(getattr(outcome.case, field) for outcome in self.outcomes))

    def of(self, **fields: Any) -> "Outcomes":
        """Return the outcomes whose cases have these values."""
        return Outcomes(
            [o for o in self.outcomes
             if all(getattr(o.case, name) == value for name, value in fields.items())]
        )  # fmt: skip

    def groups(self) -> Iterator[tuple[Profile, Robot, PathControl, "Outcomes"]]:
        """Yield the outcomes by profile, robot and control, which are never mixed."""
        seen = dict.fromkeys((o.case.profile, o.case.robot, o.case.control) for o in self.outcomes)
        for profile, robot, control in seen:
            yield profile, robot, control, self.of(profile=profile, robot=robot, control=control)

    def cells(self) -> Iterator[tuple[DriveCase, "Outcomes"]]:
        """Yield the outcomes by everything but the start, each with its case of start 0."""
        found: dict[DriveCase, list[Outcome[DriveCase]]] = {}
        for outcome in self.outcomes:
            found.setdefault(replace(outcome.case, start=0), []).append(outcome)
        for case, same in found.items():
            yield case, Outcomes(same)

    def values(self, key: str) -> list[Any]:
        """Return a figure of merit of all outcomes that have it."""
        rows = [row for outcome in self.outcomes for row in outcome.rows]
        return [row[key] for row in rows if row[key] is not None]

    def median(self, key: str) -> float | None:
        """Return the median of a figure of merit over the outcomes that have it."""
        values = self.values(key)
        return median(values) if values else None

    def medians(self, key: str) -> dict[str, float]:
        """Return the median of a figure of merit for each engine that has it."""
        found = {engine: self.of(engine=engine).median(key) for engine in self.distinct("engine")}
        return {engine: value for engine, value in found.items() if value is not None}

    def first_starts(self, path: PathName) -> list[Outcome[DriveCase]]:
        """Return the recorded outcomes on a path that were not displaced, one for each engine."""
        return [
            o for o in self.outcomes
            if o.case.path is path and o.case.start == 0 and o.recording is not None
        ]  # fmt: skip

    @property
    def cost(self) -> float:
        """CPU time per simulated second [s/s], of the outcome that took least; NaN if unknown."""
        costs = [cost_per_second(outcome.timing, outcome.recording) for outcome in self.outcomes]
        return min((cost for cost in costs if not isnan(cost)), default=nan)
