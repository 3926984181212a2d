"""The statements of Lee et al. 2023, checked with the outcomes of a drive study."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from math import inf, isfinite
from statistics import median

import numpy as np

from kinetarium.batch.outcomes import Outcomes
from kinetarium.engines.conformance.model_checks import coriolis_size
from kinetarium.figure.text import Table, header
from kinetarium.recording.recording import RunStatus
from kinetarium.studies.drive.config import DriveCase, PathControl, PathName, Profile
from kinetarium.studies.drive.score import track_of

_Outcomes = Outcomes[DriveCase]
_ROUND = 0.01
"""Distance from the best circle, over the radius of 2 m, below which a path is round [-]."""
_GOOD = 0.03
"""Distance from the drive without slip up to which two wheels follow well [m]: 0.24 % of a lap."""
_LESS = 2.0
"""Significant difference of angles [deg]."""
_FOUR, _TWO = "husky4", "husky2"
"""The robots of the statements."""
_PAPER = ("mujoco", "bullet", "ode", "physx")
"""The engines of the paper that are here; statements on all are statements on these."""
_IGNORED = 0.5
"""Share of the Coriolis accelerations from which on they are missing [-]."""


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


def statement_table(results: _Outcomes, profile: Profile) -> Table:
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
    columns = header("the paper says | here | decided by")
    return Table(f"Statements of the paper, profile {profile.value}", columns, tuple(rows))


def _part(results: _Outcomes, robot: str, control: PathControl, path: PathName) -> _Outcomes:
    return results.of(robot=robot, control=control, path=path)


def _medians(part: _Outcomes, key: str, *engines: str) -> dict[str, float]:
    """Return medians by engine, failed runs as infinite; the named engines must have runs."""
    found = {}
    for (engine,), group in part.by("engine").items():
        rows = [o.rows[0] if o.status is RunStatus.COMPLETED and o.rows else {} for o in group]
        values = [None if row.get("toppled") else row.get(key) for row in rows]
        found[engine] = median(inf if value is None else value for value in values)
    for engine in engines:
        if engine not in found:
            raise _MissingError(f"nothing of it was driven in {engine}")
    if len(found) < 2:
        raise _MissingError("fewer than two engines drove it")
    return found


def _told(what: str, values: dict[str, float], digits: int = 3) -> str:
    listed = ", ".join(
        f"{name} {f'{value:.{digits}g}' if isfinite(value) else 'fails'}"
        for name, value in values.items()
    )
    return f"{what}: {listed}"


def _worst(found: dict[str, float]) -> float:
    """Return the largest value of the paper's engines."""
    return max(value for engine, value in found.items() if engine in _PAPER)


def _verdict(holds: bool, why: str) -> _Finding:
    return _Finding(Verdict.HOLDS if holds else Verdict.FAILS, why)


def _smooth_mujoco(results: _Outcomes) -> _Finding:
    part = _part(results, _FOUR, PathControl.OPEN, PathName.EIGHT)
    found = _medians(part, "curvature_tv", "mujoco", "ode", "bullet")
    holds = found["mujoco"] < min(found["ode"], found["bullet"])
    return _verdict(holds, _told("variation of curvature [1/m]", found))


def _round_circle(results: _Outcomes) -> _Finding:
    part = _part(results, _FOUR, PathControl.OPEN, PathName.CIRCLE)
    found = _medians(part, "out_of_round_m", "physx")
    return _verdict(found["physx"] > 2 * _ROUND, _told("out of round [m]", found))


def _slow_recovery(results: _Outcomes) -> _Finding:
    part = _part(results, _FOUR, PathControl.CLOSED, PathName.SQUARE)
    found = _medians(part, "recovery_s", "physx")
    holds = found["physx"] == _worst(found)
    return _verdict(holds, _told("within 5 cm again after [s]", found))


def _worst_closed(results: _Outcomes) -> _Finding:
    texts, holds = [], True
    for path in PathName:
        part = _part(results, _FOUR, PathControl.CLOSED, path)
        found = _medians(part, "cross_track_rmse_m", "physx")
        holds &= found["physx"] == _worst(found)
        texts.append(_told(f"{path.value} [m]", found))
    return _verdict(holds, "; ".join(texts))


def _good_two_wheels(results: _Outcomes) -> _Finding:
    part = _part(results, _TWO, PathControl.OPEN, PathName.CIRCLE)
    found = _medians(part, "off_ideal_m")
    failed = sum(outcome.status is not RunStatus.COMPLETED for outcome in part)
    lost = f"; {failed} of {len(part)} runs failed" if failed else ""
    told = _told("distance from the drive without slip [m]", found)
    return _verdict(not failed and max(found.values()) <= _GOOD, told + lost)


def _first_corner(results: _Outcomes) -> _Finding:
    part = _part(results, _FOUR, PathControl.OPEN, PathName.SQUARE)
    corners = part.of(engine="ode").values("corners_deg")
    if not corners or None in corners[0]:
        raise _MissingError("nothing of it was driven to the end in ode")
    first, second, third = np.median(np.array(corners, dtype=np.float64), axis=0)
    why = f"median turns of ODE: {first:.1f}, {second:.1f}, {third:.1f} deg"
    return _verdict(first < min(second, third) - _LESS, why)


def _alike(results: _Outcomes) -> _Finding:
    part = results.of(robot=_FOUR, control=PathControl.OPEN)
    apart: dict[str, list[float]] = {}
    for path in PathName:
        tracks = {o.case.engine: track_of(o.case, o.recording).position
                  for o in part.of(path=path, start=0) if o.recording}  # fmt: skip
        for one, other in combinations(sorted(tracks), 2):
            count = min(len(tracks[one]), len(tracks[other]))
            away = np.linalg.norm(tracks[one][:count] - tracks[other][:count], axis=1)
            apart.setdefault(f"{one}-{other}", []).append(float(np.sqrt(np.mean(away**2))))
    found = {pair: float(np.mean(values)) for pair, values in apart.items()}
    if "bullet-ode" not in found or len(found) < 2:
        raise _MissingError("fewer than three engines with ode and bullet among them")
    ours = {pair: away for pair, away in found.items() if set(pair.split("-")) <= set(_PAPER)}
    holds = found["bullet-ode"] == min(ours.values())
    return _verdict(holds, _told("mean distance of paths at equal times [m]", found))


def _coriolis(results: _Outcomes) -> _Finding:
    runs = results.of(engine="physx")
    errors = [o.recording.facts["one_step_rad_s2"] for o in runs if o.recording]
    if not errors:
        raise _MissingError("nothing was driven in physx")
    size = coriolis_size()
    return _verdict(
        max(errors) > _IGNORED * size,
        f"one step of an arm in motion: accelerations off by {max(errors):.1e} rad/s²,"
        f" where Coriolis forces make up to {size:.2g}",
    )


_CLAIMS: dict[str, Callable[[_Outcomes], _Finding]] = {
    "open loop, eight: MuJoCo is smoother than ODE and Bullet": _smooth_mujoco,
    "open loop, circle: PhysX does not drive a round one": _round_circle,
    "open loop, square: ODE turns less in the first corner than in the others": _first_corner,
    "closed loop: PhysX follows worst on all paths": _worst_closed,
    "closed loop: PhysX recovers slowest after corners": _slow_recovery,
    "two wheels, open loop: good in every engine": _good_two_wheels,
    "ODE and Bullet resemble each other": _alike,
    "PhysX ignores Coriolis forces": _coriolis,
}

_ELSEWHERE = {
    "Newton drives with a jumping curvature and recovers second slowest": (
        "Newton Dynamics, the engine of CoppeliaSim, is in no package registry"
    ),
}
