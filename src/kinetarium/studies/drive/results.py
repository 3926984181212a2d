"""Outcomes of a drive study, and the statements of Lee et al. 2023 checked with them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations
from math import isnan, nan
from statistics import median
from typing import Any

import numpy as np

from kinetarium.batch.study import Outcome
from kinetarium.figure.text import Column, Table
from kinetarium.metrics import cost_per_second
from kinetarium.studies.drive.config import DriveCase, PathControl, PathName, Profile, Robot
from kinetarium.studies.drive.score import track_of


class Outcomes:
    """Outcomes of cases."""

    def __init__(self, outcomes: Sequence[Outcome[DriveCase]]) -> None:
        """Keep the outcomes in their order."""
        self.outcomes = outcomes

    def distinct(self, field: str) -> tuple[Any, ...]:
        """Return the distinct values of a field of the cases, in order."""
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
        """Return a measure of all outcomes that have it."""
        rows = [row for outcome in self.outcomes for row in outcome.rows]
        return [row[key] for row in rows if row[key] is not None]

    def median(self, key: str) -> float | None:
        """Return the median of a measure over the outcomes that have it."""
        values = self.values(key)
        return median(values) if values else None

    def medians(self, key: str) -> dict[str, float]:
        """Return the median of a measure for each engine that has it."""
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
        """CPU time per simulated second [s/s], of the fastest outcome; NaN if unknown."""
        costs = [cost_per_second(outcome.timing, outcome.recording) for outcome in self.outcomes]
        return min((cost for cost in costs if not isnan(cost)), default=nan)


_ROUND = 0.01
"""Distance from the best circle, over the radius of 2 m, below which a path is round [-]."""
_GOOD = 0.03
"""Cross-track error up to which two wheels follow well [m]; the ramps alone cause 0.022."""
_LESS = 2.0
"""Significant difference of angles [deg]."""


class Verdict(StrEnum):
    """Whether a statement holds."""

    HOLDS = "holds"
    FAILS = "does not hold here"
    UNTESTED = "not testable"


@dataclass(frozen=True, slots=True)
class _Finding:
    """A verdict and the numbers it is based on."""

    verdict: Verdict
    why: str


class _MissingError(Exception):
    """The cases of a statement were not run."""


def statement_table(results: Outcomes, profile: Profile) -> Table:
    """Check every statement of the paper with the outcomes of one profile."""
    chosen = results.of(profile=profile)
    rows = []
    for claim, check in _CLAIMS.items():
        try:
            finding = check(chosen)
        except _MissingError as missing:
            finding = _Finding(Verdict.UNTESTED, str(missing))
        rows.append((claim, str(finding.verdict), finding.why))
    rows.extend((claim, str(Verdict.UNTESTED), why) for claim, why in _ELSEWHERE.items())
    columns = (Column("the paper says"), Column("here"), Column("decided by"))
    return Table(f"Statements of the paper, profile {profile.value}", columns, tuple(rows))


def _part(results: Outcomes, robot: Robot, control: PathControl, path: PathName) -> Outcomes:
    return results.of(robot=robot, control=control, path=path)


def _medians(part: Outcomes, key: str, *engines: str) -> dict[str, float]:
    """Return medians by engine; all of the named engines must have one."""
    found = part.medians(key)
    for engine in engines:
        if engine not in found:
            raise _MissingError(f"nothing of it was driven to the end in {engine}")
    if len(found) < 2:
        raise _MissingError("fewer than two engines drove it to the end")
    return found


def _told(what: str, values: dict[str, float], digits: int = 3) -> str:
    listed = ", ".join(f"{name} {value:.{digits}g}" for name, value in values.items())
    return f"{what}: {listed}"


def _verdict(holds: bool, why: str) -> _Finding:
    return _Finding(Verdict.HOLDS if holds else Verdict.FAILS, why)


def _smooth_mujoco(results: Outcomes) -> _Finding:
    part = _part(results, Robot.HUSKY4, PathControl.OPEN, PathName.EIGHT)
    found = _medians(part, "curvature_tv", "mujoco", "ode", "bullet")
    holds = found["mujoco"] < min(found["ode"], found["bullet"])
    return _verdict(holds, _told("variation of curvature [1/m]", found))


def _round_circle(results: Outcomes) -> _Finding:
    part = _part(results, Robot.HUSKY4, PathControl.OPEN, PathName.CIRCLE)
    found = _medians(part, "out_of_round_m", "physx")
    return _verdict(found["physx"] > 2 * _ROUND, _told("out of round [m]", found))


def _slow_recovery(results: Outcomes) -> _Finding:
    part = _part(results, Robot.HUSKY4, PathControl.CLOSED, PathName.SQUARE)
    found = _medians(part, "recovery_s", "physx")
    holds = found["physx"] == max(found.values())
    return _verdict(holds, _told("within 5 cm again after [s]", found))


def _worst_closed(results: Outcomes) -> _Finding:
    texts, holds = [], True
    for path in PathName:
        part = _part(results, Robot.HUSKY4, PathControl.CLOSED, path)
        found = _medians(part, "cross_track_rmse_m", "physx")
        holds &= found["physx"] == max(found.values())
        texts.append(_told(f"{path.value} [m]", found))
    return _verdict(holds, "; ".join(texts))


def _good_two_wheels(results: Outcomes) -> _Finding:
    part = _part(results, Robot.HUSKY2, PathControl.OPEN, PathName.CIRCLE)
    found = _medians(part, "cross_track_rmse_m")
    return _verdict(max(found.values()) <= _GOOD, _told("cross-track error [m]", found))


def _first_corner(results: Outcomes) -> _Finding:
    part = _part(results, Robot.HUSKY4, PathControl.OPEN, PathName.SQUARE)
    corners = part.of(engine="ode").values("corners_deg")
    if not corners or None in corners[0]:
        raise _MissingError("nothing of it was driven to the end in ode")
    first, second, third = np.median(np.array(corners, dtype=np.float64), axis=0)
    why = f"median turns of ODE: {first:.1f}, {second:.1f}, {third:.1f} deg"
    return _verdict(first < min(second, third) - _LESS, why)


def _alike(results: Outcomes) -> _Finding:
    part = results.of(robot=Robot.HUSKY4, control=PathControl.OPEN)
    apart: dict[str, list[float]] = {}
    for path in PathName:
        tracks = {o.case.engine: track_of(o.case, o.recording).position
                  for o in part.first_starts(path) if o.recording}  # fmt: skip
        for one, other in combinations(sorted(tracks), 2):
            count = min(len(tracks[one]), len(tracks[other]))
            away = np.linalg.norm(tracks[one][:count] - tracks[other][:count], axis=1)
            apart.setdefault(f"{one}-{other}", []).append(float(np.sqrt(np.mean(away**2))))
    found = {pair: float(np.mean(values)) for pair, values in apart.items()}
    if "bullet-ode" not in found or len(found) < 2:
        raise _MissingError("fewer than three engines with ode and bullet among them")
    holds = found["bullet-ode"] == min(found.values())
    return _verdict(holds, _told("mean distance of paths at equal times [m]", found))


def _true_cone(results: Outcomes) -> _Finding:
    runs = results.of(engine="mujoco").outcomes
    cones = {o.recording.facts["options"]["cone"] for o in runs if o.recording}
    if not cones:
        raise _MissingError("nothing was driven in mujoco")
    return _verdict(cones == {"elliptic"}, f"cone in force: {', '.join(sorted(cones))}")


_CLAIMS: dict[str, Callable[[Outcomes], _Finding]] = {
    "open loop, eight: MuJoCo is smoother than ODE and Bullet": _smooth_mujoco,
    "open loop, circle: PhysX does not drive a round one": _round_circle,
    "open loop, square: ODE turns less in the first corner than in the others": _first_corner,
    "closed loop: PhysX follows worst on all paths": _worst_closed,
    "closed loop: PhysX recovers slowest after corners": _slow_recovery,
    "two wheels, open loop: good in every engine": _good_two_wheels,
    "ODE and Bullet resemble each other": _alike,
    "MuJoCo does not approximate the friction cone": _true_cone,
}

_ELSEWHERE = {
    "Newton drives with a jumping curvature and recovers second slowest": (
        "Newton Dynamics, the engine of CoppeliaSim, is in no package registry"
    ),
    "ODE penetrates most, with abnormal force; MuJoCo's contacts suffer from longer steps": (
        "a matter of grasping: see the study grasp"
    ),
    "PhysX ignores Coriolis forces": "needs an arm in free motion: see the study dynamics",
}
