"""Standings: what the sides of a league have shown, and which differences are beyond noise."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import comb, exp, log
from statistics import median
from typing import NamedTuple, Self

from kinetarium.batch.study import Outcome
from kinetarium.recording.recording import Row, RunStatus
from kinetarium.studies.league.config import Case, Part
from kinetarium.studies.league.problems import BY_NAME, Problem

_LEAST_CHANGE = 1.05
"""Ratio of CPU times below which a difference is not worth a word [-]."""
LEAST_ROUNDS = 4
"""Rounds below which a difference in speed may well be chance: 10 % at three [-]."""
_LEAST_DRIFT = 0.05
"""Relative change of a problem's error that counts as another result [-]."""
_ZERO = 1e-12
"""Errors below it are rounding [m or rad]."""
_COMMON_STEP = 1e-3
"""Time step at which versions are compared, part of the short form too [s]."""
_PREFIX = re.compile(r"^\w+Error: ")
"""What the message of a failed case begins with."""

Side = tuple[str, str]
"""An engine and its version."""


def label(side: Side) -> str:
    """Return a side as a reader sees it."""
    return " ".join(side)


class Cost(NamedTuple):
    """The median and the range of CPU times [us/s], and of how many rounds they are."""

    median: float
    min: float
    max: float
    rounds: int

    @classmethod
    def of(cls, times: Sequence[float]) -> Self | None:
        """Return the cost of some rounds; None without any."""
        return cls(median(times), min(times), max(times), len(times)) if times else None


@dataclass(frozen=True, slots=True)
class Change:
    """What differs between two versions of an engine.

    Attributes:
        old: The older version.
        new: The newer one.
        broken: Checks that only the older passes.
        repaired: Checks that only the newer passes.
        moved: Checks whose figure differs by more than the tolerance: name, old and new figure.
        same: Number of figures that are equal in all digits.
        compared: Number of checks that both have a figure of.
        errors: Problems whose error differs: name, time step, old and new error.
        speeds: Problems whose CPU time at 1 ms differs beyond noise: name, ratio new to old.
        alike: Problems whose CPU time does not.
    """

    old: Side
    new: Side
    broken: tuple[str, ...]
    repaired: tuple[str, ...]
    moved: tuple[tuple[str, float, float], ...]
    same: int
    compared: int
    errors: tuple[tuple[str, float, float, float], ...]
    speeds: tuple[tuple[str, float], ...]
    alike: tuple[str, ...]


class Standings:
    """All outcomes of a league by side."""

    def __init__(self, outcomes: Sequence[Outcome[Case]]) -> None:
        """Sort the outcomes."""
        self._outcomes = outcomes
        self.sides = tuple(dict.fromkeys(_side(outcome) for outcome in outcomes))
        self.rounds = len({o.case.round for o in outcomes if o.case.part is Part.CURVES})

    @cached_property
    def checks(self) -> dict[Side, dict[str, Row]]:
        """The rows of the conformance kit by side and check."""
        found: dict[Side, dict[str, Row]] = {side: {} for side in self.sides}
        for outcome in self._outcomes:
            if outcome.case.part is Part.CHECKS:
                found[_side(outcome)] |= {row["name"]: row for row in outcome.rows}
        return found

    @cached_property
    def errors(self) -> dict[tuple[Side, str], dict[float, float]]:
        """The worst errors of all rounds by side and problem, then time step, coarsest first."""
        found: dict[tuple[Side, str], dict[float, float]] = {}
        for outcome in self._outcomes:
            for row in outcome.rows if outcome.case.part is Part.CURVES else ():
                if row["error"] is not None:
                    steps = found.setdefault((_side(outcome), row["name"]), {})
                    step = row["timestep"]
                    steps[step] = max(row["error"], steps.get(step, 0.0))
        return found

    def costs(self, side: Side, problem: Problem) -> dict[float, dict[int, float]]:
        """Return CPU time per simulated second by time step and round [us/s]."""
        found: dict[float, dict[int, float]] = {}
        for outcome in self._outcomes:
            if _side(outcome) == side and outcome.case.part is Part.CURVES:
                for item, cpu in outcome.timing.items():
                    name, _, step = item.partition("@")
                    if name == problem.name and step and cpu > 0:
                        rounds = found.setdefault(float(step), {})
                        rounds[outcome.case.round] = 1e6 * cpu / problem.duration
        return found

    def cost_at(self, side: Side, problem: Problem, *, timestep: float) -> Cost | None:
        """Return CPU time at a time step [us/s] over all rounds; None if there is none."""
        return Cost.of([*self.costs(side, problem).get(timestep, {}).values()])

    def equal_error(self, side: Side, problem: Problem) -> Cost | None:
        """Return the CPU time at which a side reaches a problem's target error [us/s].

        It is interpolated between the first time step that reaches the target and the one
        before it, both on logarithmic scales. None if no time step reaches it, or nothing was
        measured.
        """
        errors = self.errors.get((side, problem.name), {})
        costs = self.costs(side, problem)
        steps = [step for step in errors if step in costs]
        for place, step in enumerate(steps):
            if errors[step] <= problem.target:
                before = steps[place - 1] if place else step
                share = _share(errors[before], errors[step], problem.target) if place else 1.0
                pairs = [(a, costs[step].get(n)) for n, a in costs[before].items()]
                return Cost.of(
                    [exp((1 - share) * log(a) + share * log(b)) for a, b in pairs if b is not None]
                )
        return None

    def ranking(self, problem: Problem) -> list[tuple[Side, Cost, bool]]:
        """Return the sides that reach the target, fastest first, and whether each ties with it.

        A side that lost a round has no place: the rounds that crash might be the slow ones.
        """
        costs = [(side, self.equal_error(side, problem)) for side in self.sides]
        found = [(side, cost) for side, cost in costs if cost and cost.rounds == self.rounds]
        found.sort(key=lambda pair: pair[1].median)
        return [(side, cost, not self.faster(found[0][1], cost)) for side, cost in found]

    def faster(self, one: Cost, other: Cost) -> bool:
        """Return whether one is faster in every pair of rounds, enough of them, by over 5 %."""
        separate = one.max < other.min and other.median > _LEAST_CHANGE * one.median
        return separate and min(one.rounds, other.rounds) == self.rounds >= LEAST_ROUNDS

    def failures(self, side: Side) -> list[str]:
        """Return the reason of every process, run and check that has no figure."""
        found = []
        for outcome in self._outcomes:
            if _side(outcome) == side:
                if outcome.status is not RunStatus.COMPLETED:
                    found.append(outcome.message)
                found += [_where(row) for row in outcome.rows if row["failure"]]
        return found

    def refusal(self, side: Side) -> str:
        """Return why nothing was measured of a side; empty if something was."""
        own = [outcome for outcome in self._outcomes if _side(outcome) == side]
        return _PREFIX.sub("", own[0].message, count=1) if not any(o.rows for o in own) else ""

    def changes(self) -> Iterator[Change]:
        """Yield what differs between each version of an engine and the next."""
        for engine in dict.fromkeys(engine for engine, _ in self.sides):
            versions = [s for s in self.sides if s[0] == engine and not self.refusal(s)]
            for old, new in pairwise(sorted(versions, key=_age)):
                yield self._change(old, new)

    def _change(self, old: Side, new: Side) -> Change:
        before, after = self.checks[old], self.checks[new]
        both = [name for name in before if name in after]
        figures = [
            (name, before[name]["value"], after[name]["value"])
            for name in both
            if before[name]["value"] is not None and after[name]["value"] is not None
        ]
        speeds, alike = [], []
        for problem in BY_NAME.values():
            first = self.cost_at(old, problem, timestep=_COMMON_STEP)
            second = self.cost_at(new, problem, timestep=_COMMON_STEP)
            if first and second and first.rounds == second.rounds == self.rounds:
                if self.faster(first, second) or self.faster(second, first):
                    speeds.append((problem.name, second.median / first.median))
                else:
                    alike.append(problem.name)
        return Change(
            old,
            new,
            broken=tuple(n for n in both if before[n]["passed"] and not after[n]["passed"]),
            repaired=tuple(n for n in both if after[n]["passed"] and not before[n]["passed"]),
            moved=tuple(
                (name, a, b) for name, a, b in figures if abs(b - a) > before[name]["tolerance"]
            ),
            same=sum(a == b for _, a, b in figures),
            compared=len(figures),
            errors=tuple(self._drifts(old, new)),
            speeds=tuple(speeds),
            alike=tuple(alike),
        )

    def _drifts(self, old: Side, new: Side) -> Iterator[tuple[str, float, float, float]]:
        """Yield the problems whose error differs, each at the time step where it does most."""
        for name in BY_NAME:
            before, after = self.errors.get((old, name), {}), self.errors.get((new, name), {})
            shared = [(step, before[step], after[step]) for step in before if step in after]
            drifts = [
                (abs(b - a) / max(a, b, _ZERO), step, a, b)
                for step, a, b in shared
                if abs(b - a) > _ZERO
            ]
            if drifts and max(drifts)[0] > _LEAST_DRIFT:
                yield (name, *max(drifts)[1:])


def chance(rounds: int) -> float:
    """Return the probability that equal sides differ in every pair of rounds by chance [-].

    As their order is drawn again each round, all orders of their 2 n times are equally likely, and
    two of them separate the sides (the exact two-sided rank test of Wilcoxon).
    """
    return 2 / comb(2 * rounds, rounds)


def _side(outcome: Outcome[Case]) -> Side:
    return outcome.case.engine, outcome.case.version


def _age(side: Side) -> list[int]:
    """Return the numbers in a version, which order 3.9 before 3.15."""
    return [int(number) for number in re.findall(r"\d+", side[1])]


def _share(coarse: float, fine: float, target: float) -> float:
    """Return how far the target is from the coarse error to the fine one, on a log scale [-]."""
    a, b, t = (log(max(value, _ZERO)) for value in (coarse, fine, target))
    return (a - t) / (a - b) if a > b else 1.0


def _where(row: Row) -> str:
    step = f" at {1e3 * row['timestep']:g} ms" if row["timestep"] else ""
    return f"{row['name']}{step}: {row['failure']}"
