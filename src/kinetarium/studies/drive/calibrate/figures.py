"""Report of the calibrate study: the track multiplier over speeds and headings."""

from collections.abc import Mapping, Sequence
from math import degrees
from typing import Any

import numpy as np

from kinetarium.batch.outcomes import Outcomes
from kinetarium.batch.study import Findings, Outcome
from kinetarium.figure.charts import Axis, Heatmap, Lines, Mark, Series
from kinetarium.figure.page import Figure, Section
from kinetarium.figure.replay import Replay
from kinetarium.figure.text import Prose, Table, header
from kinetarium.recording.recording import Recording
from kinetarium.studies.drive.calibrate.config import CalibrateCase
from kinetarium.studies.drive.calibrate.score import identify, steady_track
from kinetarium.studies.drive.config import Robot
from kinetarium.studies.drive.coulomb import coulomb_multiplier
from kinetarium.studies.drive.figures import vehicle_replay
from kinetarium.studies.drive.profiles import FRICTION
from kinetarium.studies.drive.tables import settings_section
from kinetarium.studies.drive.vehicle import SKID_MULTIPLIER, vehicle

_LEAD = (
    "A robot with four fixed wheels can turn only by skidding, and turns less than its track width"
    " suggests; so the track width is multiplied by a factor, 1.875 in Clearpath's software and in"
    " the paper. Here this factor is identified in every engine, in place and on arcs, from the"
    " travel of the wheels and the angle turned over whole quarter turns, and compared with Coulomb"
    " friction alone."
)
_IN_PLACE = 0.5
"""Yaw rate of the quoted turn in place [rad/s]."""
_COULOMB = "coulomb"

_Multipliers = dict[tuple[float, float], float]
"""Track multipliers by forward speed [m/s] and yaw rate [rad/s]."""


def report(outcomes: Sequence[Outcome[CalibrateCase]]) -> Findings:
    """Return the multiplier over speeds and headings, beside Coulomb's."""
    results = Outcomes(outcomes)
    figures = {
        key: _figures(group) for key, group in results.by("profile", "robot", "engine").items()
    }
    groups = results.by("profile", "robot").values()
    speeds = [(outcome.case.v, outcome.case.w) for outcome in outcomes]
    theory = _theory(sorted(set(speeds)))
    summary: dict[str, Any] = {}
    for (profile, robot, engine), values in figures.items():
        summary.setdefault(profile.value, {}).setdefault(robot.value, {})[engine] = values
    if Robot.HUSKY4 in results.distinct("robot"):
        summary[_COULOMB] = _summarised(theory)
    sections = [
        *(_heat_section(group, theory) for group in groups),
        *(section for group in groups for section in _heading_section(group)),
        settings_section(outcomes),
    ]
    return Findings(_headline(figures, theory), tuple(sections), summary, lead=_LEAD)


def _figures(outcomes: Outcomes[CalibrateCase]) -> dict[str, Any]:
    """Summarise the turns of one engine."""
    found = _found(outcomes)
    residuals = outcomes.values("residual")
    spread = {
        "lowest": min(outcomes.values("lowest"), default=None),
        "highest": max(outcomes.values("highest"), default=None),
        "mean_residual": float(np.mean(residuals)) if residuals else None,
    }
    return {**_summarised(found), **spread}


def _found(outcomes: Outcomes[CalibrateCase]) -> _Multipliers:
    """Return the multiplier of every turn that has one, by its speeds."""
    return {
        (outcome.case.v, outcome.case.w): row["track_multiplier"]
        for outcome in outcomes
        for row in outcome.rows
        if row["track_multiplier"] is not None
    }


def _summarised(found: _Multipliers) -> dict[str, Any]:
    """Return the multiplier in place, on arcs, and the one that fits all turns best."""
    moving = [value for (v, _), value in found.items() if v > 0]
    values = np.array(list(found.values()))
    # With m_i of turn i the predicted yaw rate is m_i / m - 1 too high: least squares over 1 / m.
    fitted = float((values**2).sum() / values.sum()) if values.size else None
    return {
        "in_place": found.get((0.0, _IN_PLACE)),
        "moving": float(np.mean(moving)) if moving else None,
        "fitted": fitted,
        "fit_residual": float(np.sqrt(np.mean((values / fitted - 1) ** 2))) if fitted else None,
    }


def _theory(speeds: Sequence[tuple[float, float]]) -> _Multipliers:
    robot = vehicle(Robot.HUSKY4)
    return {(v, w): coulomb_multiplier(robot, v=v, w=w, friction=FRICTION) for v, w in speeds}


def _headline(figures: Mapping[tuple[Any, ...], dict[str, Any]], theory: _Multipliers) -> Table:
    columns = header(
        f"profile | robot | engine | in place, {_IN_PLACE:g} rad/s | on arcs | fitted"
        " | residual of the fit | least over headings | greatest over headings"
        " | residual within turns"
    )
    keys = ("in_place", "moving", "fitted", "fit_residual", "lowest", "highest", "mean_residual")
    rows = [
        (profile.value, robot.value, engine, *(values.get(key) for key in keys))
        for (profile, robot, engine), values in figures.items()
    ]
    if Robot.HUSKY4 in {robot for _, robot, _ in figures}:
        ideal = _summarised(theory)
        rows.append(("no engine", "husky4", "Coulomb", *(ideal.get(key) for key in keys)))
    return Table("Track multiplier", columns, tuple(rows))


def _heat_section(group: Outcomes[CalibrateCase], theory: _Multipliers) -> Section:
    case = next(iter(group)).case
    found = {engine: _found(turns) for (engine,), turns in group.by("engine").items()}
    maps: list[Figure] = [
        _heatmap(f"Track multiplier in {engine}", values)
        for engine, values in found.items()
        if values
    ]
    if case.robot is Robot.HUSKY4:
        maps.append(_heatmap("Track multiplier by Coulomb friction alone", theory))
        maps.append(Prose(
            f"Coulomb: each wheel has two contact points, friction {FRICTION:g},"
            " static loads, the centre of mass kept on its circle. Faster arcs need a larger"
            " multiplier because part of the friction provides the centripetal force."
        ))  # fmt: skip
    return Section(f"Over speeds: {case.robot.value}, {case.profile.value}", tuple(maps))


def _heatmap(title: str, found: _Multipliers) -> Heatmap:
    vs, ws = sorted({v for v, _ in found}), sorted({w for _, w in found})
    values = [[found.get((v, w), np.nan) for w in ws] for v in vs]
    return Heatmap(
        title,
        Axis("yaw rate", "rad/s"),
        Axis("forward speed", "m/s"),
        tuple(f"{w:g}" for w in ws),
        tuple(f"{v:g}" for v in vs),
        np.array(values),
        Axis("track multiplier"),
        annotate=True,
    )


def _heading_section(group: Outcomes[CalibrateCase]) -> list[Section]:
    case = next(iter(group)).case
    turns = group.by("engine").items()
    series = [line for (engine,), part in turns for line in _by_heading_of(engine, part)]
    if not series:
        return []
    lines = Lines(
        "In place, over the heading",
        Axis("heading", "deg"),
        Axis("track multiplier"),
        tuple(series),
        caption="Friction along two directions fixed in the world, a pyramid instead of a"
        " cone, makes the multiplier vary four times per turn: the same command turns the"
        " robot by different angles at different headings.",
        marks=(Mark(SKID_MULTIPLIER, "as commanded"),) if case.robot is Robot.HUSKY4 else (),
    )
    return [Section(f"Over headings: {case.robot.value}, {case.profile.value}", (lines,))]


def _by_heading_of(engine: str, outcomes: Outcomes[CalibrateCase]) -> list[Series]:
    for outcome in outcomes:
        case = outcome.case
        if outcome.recording is not None and (case.v, case.w) == (0.0, _IN_PLACE):
            found = identify(steady_track(case, outcome.recording), vehicle(case.robot).drive(1.0))
            if found is not None:
                return [
                    Series(engine, np.array([degrees(h) for h in found.headings]), found.by_heading)
                ]
    return []


def replay(case: CalibrateCase, recording: Recording) -> Replay:
    """Return the turn as a replay."""
    return vehicle_replay(case.robot, recording)
