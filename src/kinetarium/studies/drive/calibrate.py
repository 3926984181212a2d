"""One steady turn, and the track multiplier that it shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import degrees, pi
from typing import Any

import numpy as np

from kinetarium.batch.study import Findings, Outcome
from kinetarium.control.vehicle.kinematics import DifferentialDrive
from kinetarium.control.vehicle.laws import FeedForward, PlanarPose
from kinetarium.control.vehicle.reference import SteadyReference
from kinetarium.control.vehicle.wheel_driver import WheelDriver
from kinetarium.engines.registry import open_engine
from kinetarium.figure.charts import Axis, Heatmap, Lines, Mark, Series
from kinetarium.figure.page import Figure, Section
from kinetarium.figure.text import Column, Prose, Table
from kinetarium.recording.recording import Recording, Row
from kinetarium.spatial.arrays import Array
from kinetarium.studies.drive.config import CalibrateCase, Profile, Robot
from kinetarium.studies.drive.coulomb import coulomb_multiplier
from kinetarium.studies.drive.profiles import CONTROL_RATE, FRICTION, settings
from kinetarium.studies.drive.run import SETTLE, drive
from kinetarium.studies.drive.tables import settings_section
from kinetarium.studies.drive.vehicle import SKID_MULTIPLIER, Track, vehicle

_ORIGIN = PlanarPose(0.0, 0.0, 0.0)
_STEADY = 1.0
"""Time after the reference begins until a turn is steady [s]."""
_EARLY = 4.0
"""What is often measured of a turn [s]; where friction is a pyramid it shows some headings only."""
_QUARTER = pi / 2
"""Friction pyramids look the same after a quarter turn [rad]; multipliers are over whole ones."""


def turn(case: CalibrateCase) -> Recording:
    """Let the robot turn at constant speeds: half a turn as commanded, a whole one in place."""
    engine = open_engine(case.engine)
    chosen = settings(engine, case.profile)
    robot = vehicle(case.robot)
    time = _STEADY + (pi if case.v else 2 * pi) / case.w
    driver = WheelDriver(
        SteadyReference(case.v, case.w, time),
        law=FeedForward(),
        drive=robot.drive(),
        left=robot.left,
        wait=SETTLE,
        rate=CONTROL_RATE,
    )
    return drive(
        engine,
        robot=case.robot,
        chosen=chosen,
        controller=driver,
        start=_ORIGIN,
        duration=SETTLE + time,
        seed=case.seed,
    )


def score_turn(case: CalibrateCase, recording: Recording) -> Row:
    """Identify the track multiplier of a steady turn.

    Returns:
        track_multiplier: What the track must be multiplied by for the wheels' travel to give
            the angle turned.
        residual: Root mean square of what yaw rates then are off by, relative to the yaw rates.
        lowest, highest: The multiplier over the headings in which it is least and greatest.
        over_first_4s: The multiplier over the first four steady seconds, whatever their headings,
            or over all there are if they are fewer.
        yaw_ratio: Yaw rate over that commanded with the multiplier in force.
        wheel_speed_error: What the wheels are off by, relative to their commands.
    """
    found = identify(steady_track(case, recording), vehicle(case.robot).drive(1.0))
    if found is None:
        names = ("track_multiplier", "residual", "lowest", "highest", "over_first_4s")
        return dict.fromkeys((*names, "yaw_ratio", "wheel_speed_error"))
    return {
        "track_multiplier": found.multiplier,
        "residual": found.residual,
        "lowest": float(found.by_heading.min()),
        "highest": float(found.by_heading.max()),
        "over_first_4s": found.early,
        "yaw_ratio": found.yaw_rate / case.w,
        "wheel_speed_error": found.wheel_speed_error,
    }


@dataclass(frozen=True, slots=True, eq=False)
class Identified:
    """What a steady turn shows.

    Attributes:
        multiplier: The track multiplier [-].
        early: The same over the first four seconds alone [-]; None if it did not turn then.
        residual: Relative root mean square error of yaw rates with it [-].
        yaw_rate: Mean yaw rate [rad/s].
        wheel_speed_error: Relative root mean square error of the wheels' speeds [-].
        headings: Middles of ranges of the heading [rad], shape (k,).
        by_heading: The multiplier within each of them [-], shape (k,).
    """

    multiplier: float
    early: float | None
    residual: float
    yaw_rate: float
    wheel_speed_error: float | None
    headings: Array
    by_heading: Array


def steady_track(case: CalibrateCase, recording: Recording) -> Track:
    """Return the part of a turn that is steady."""
    left = vehicle(case.robot).left
    return Track.of(recording, frame=_ORIGIN, begin=SETTLE + _STEADY, left=left)


def identify(track: Track, drive: DifferentialDrive) -> Identified | None:
    """Find the multiplier over whole quarter turns, or over all there is if it is less than one.

    Args:
        track: A steady turn to the left.
        drive: The kinematics, its multiplier 1.

    Returns:
        None if the robot did not turn.
    """
    if len(track.time) < 3:
        return None
    turned = track.heading - track.heading[0]
    whole = np.floor(turned.max() / _QUARTER) * _QUARTER
    last = int(np.argmax(turned >= whole)) if whole else len(turned) - 1
    if last < 2 or turned[last] <= 0:
        return None
    part = slice(0, last + 1)
    # With a multiplier of 1 the wheels' travel gives the angle that they would turn the robot by.
    ideal = drive.vehicle_speeds(*track.sides(track.rolled))[1]
    rate = drive.vehicle_speeds(*track.sides(track.wheels))[1]
    multiplier = float((ideal[last] - ideal[0]) / turned[last])
    off = track.yaw_rate[part] - rate[part] / multiplier
    yaw_squared = float(np.mean(track.yaw_rate[part] ** 2))
    headings, by_heading = _by_heading(turned[part], ideal[part])
    first = np.searchsorted(track.time - track.time[0], _EARLY, side="right") - 1
    return Identified(
        multiplier,
        float((ideal[first] - ideal[0]) / turned[first]) if turned[first] > 0 else None,
        float(np.sqrt(np.mean(off**2) / yaw_squared)),
        float(turned[last] / (track.time[last] - track.time[0])),
        track.wheel_speed_error,
        headings + float(track.heading[0]),
        by_heading,
    )


def _by_heading(turned: Array, ideal: Array) -> tuple[Array, Array]:
    """Return the multiplier over ranges of 15 degrees."""
    count = max(1, int(np.floor(turned[-1] / (pi / 12) + 1e-6)))
    edges = np.linspace(0.0, turned[-1], count + 1)
    # Headings that shake are not in order; the last time at which each was passed is.
    rising = np.maximum.accumulate(turned)
    rolled = np.interp(edges, rising + np.arange(len(rising)) * 1e-12, ideal)
    return (edges[1:] + edges[:-1]) / 2, np.diff(rolled) / np.diff(edges)


_LEAD = (
    "A robot on four fixed wheels can only turn by skidding, and then turns less than its track"
    " says; so the track is multiplied by a number, 1.875 in Clearpath's software and in the paper."
    " Here that number is identified in every engine, in place and on arcs: from the travel of the"
    " wheels and the angle turned over whole quarter turns, beside what Coulomb friction alone"
    " gives."
)
_IN_PLACE = 0.5
"""Yaw rate of the turn in place that is quoted [rad/s]."""
_COULOMB = "coulomb"

_Group = tuple[Profile, Robot, str]


def report(outcomes: Sequence[Outcome[CalibrateCase]]) -> Findings:
    """Show the multiplier over speeds and headings, beside Coulomb's."""
    groups: dict[_Group, list[Outcome[CalibrateCase]]] = {}
    for outcome in outcomes:
        key = (outcome.case.profile, outcome.case.robot, outcome.case.engine)
        groups.setdefault(key, []).append(outcome)
    figures: dict[_Group, dict[str, Any]] = {key: _figures(part) for key, part in groups.items()}
    speeds = [(outcome.case.v, outcome.case.w) for outcome in outcomes]
    theory = _theory(sorted(set(speeds)))
    summary: dict[str, Any] = {}
    for (profile, robot, engine), values in figures.items():
        summary.setdefault(profile.value, {}).setdefault(robot.value, {})[engine] = values
    if Robot.HUSKY4 in {robot for _, robot, _ in groups}:
        summary[_COULOMB] = _sum_up(theory)
    sections = [
        *_heat_sections(groups, theory),
        *_heading_sections(groups),
        settings_section([o.recording for o in outcomes], [o.case for o in outcomes]),
    ]
    return Findings(_headline(figures, theory), tuple(sections), summary, lead=_LEAD)


def _figures(outcomes: Sequence[Outcome[CalibrateCase]]) -> dict[str, Any]:
    """Sum up the turns of one engine."""
    found = _found(outcomes)
    rows = [row for o in outcomes for row in o.rows if row["track_multiplier"] is not None]
    spread = {
        "lowest": min((row["lowest"] for row in rows), default=None),
        "highest": max((row["highest"] for row in rows), default=None),
        "mean_residual": float(np.mean([row["residual"] for row in rows])) if rows else None,
    }
    return {**_sum_up(found), **spread}


def _found(outcomes: Sequence[Outcome[CalibrateCase]]) -> dict[tuple[float, float], float]:
    """Return the multiplier of every turn that has one, by its speeds."""
    return {
        (outcome.case.v, outcome.case.w): row["track_multiplier"]
        for outcome in outcomes
        for row in outcome.rows
        if row["track_multiplier"] is not None
    }


def _sum_up(found: dict[tuple[float, float], float]) -> dict[str, Any]:
    """Return the multiplier in place, on arcs, and the one that fits all turns best."""
    moving = [value for (v, _), value in found.items() if v > 0]
    values = np.array(list(found.values()))
    # With m_i of turn i the yaw rate is predicted m_i / m - 1 too high; least squares over 1 / m.
    fitted = float((values**2).sum() / values.sum()) if values.size else None
    return {
        "in_place": found.get((0.0, _IN_PLACE)),
        "moving": float(np.mean(moving)) if moving else None,
        "fitted": fitted,
        "fit_residual": float(np.sqrt(np.mean((values / fitted - 1) ** 2))) if fitted else None,
    }


def _theory(speeds: Sequence[tuple[float, float]]) -> dict[tuple[float, float], float]:
    robot = vehicle(Robot.HUSKY4)
    return {(v, w): coulomb_multiplier(robot, v=v, w=w, friction=FRICTION) for v, w in speeds}


def _headline(
    figures: dict[_Group, dict[str, Any]], theory: dict[tuple[float, float], float]
) -> Table:
    columns = (
        Column("profile"), Column("robot"), Column("engine"),
        Column(f"in place, {_IN_PLACE:g} rad/s"), Column("on arcs"), Column("fitted"),
        Column("residual of the fit"), Column("least over headings"),
        Column("greatest over headings"), Column("residual within turns"),
    )  # fmt: skip
    keys = ("in_place", "moving", "fitted", "fit_residual", "lowest", "highest", "mean_residual")
    rows = [
        (profile.value, robot.value, engine, *(values.get(key) for key in keys))
        for (profile, robot, engine), values in figures.items()
    ]
    if Robot.HUSKY4 in {robot for _, robot, _ in figures}:
        ideal = _sum_up(theory)
        rows.append(("no engine", "husky4", "Coulomb", *(ideal.get(key) for key in keys)))
    return Table("Track multiplier", columns, tuple(rows))


def _heat_sections(
    groups: dict[_Group, list[Outcome[CalibrateCase]]], theory: dict[tuple[float, float], float]
) -> list[Section]:
    sections = []
    for profile, robot in dict.fromkeys((profile, robot) for profile, robot, _ in groups):
        maps: list[Figure] = []
        for (its_profile, its_robot, engine), outcomes in groups.items():
            if (its_profile, its_robot) == (profile, robot):
                found = _found(outcomes)
                if found:
                    maps.append(_heatmap(f"Track multiplier in {engine}", found))
        if robot is Robot.HUSKY4:
            maps.append(_heatmap("Track multiplier by Coulomb friction alone", theory))
            maps.append(Prose(
                f"Coulomb: each wheel touches at the two ends of its width, friction {FRICTION:g},"
                " loads as at rest, the centre of mass held on its circle. Faster arcs need a"
                " larger multiplier because part of the friction bends the path."
            ))  # fmt: skip
        sections.append(Section(f"Over speeds: {robot.value}, {profile.value}", tuple(maps)))
    return sections


def _heatmap(title: str, found: Mapping[tuple[float, float], float]) -> Heatmap:
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


def _heading_sections(groups: dict[_Group, list[Outcome[CalibrateCase]]]) -> list[Section]:
    sections = []
    for profile, robot in dict.fromkeys((profile, robot) for profile, robot, _ in groups):
        series = []
        for (its_profile, its_robot, engine), outcomes in groups.items():
            if (its_profile, its_robot) == (profile, robot):
                series.extend(_by_heading_of(engine, outcomes))
        if series:
            lines = Lines(
                "In place, over the heading",
                Axis("heading", "deg"),
                Axis("track multiplier"),
                tuple(series),
                caption="Friction along two directions fixed in the world, a pyramid instead of a"
                " cone, makes the multiplier rise and fall four times a turn: the same command"
                " turns a robot by different angles in different directions.",
                marks=(Mark(SKID_MULTIPLIER, "as commanded"),) if robot is Robot.HUSKY4 else (),
            )
            sections.append(Section(f"Over headings: {robot.value}, {profile.value}", (lines,)))
    return sections


def _by_heading_of(engine: str, outcomes: Sequence[Outcome[CalibrateCase]]) -> list[Series]:
    for outcome in outcomes:
        case = outcome.case
        if outcome.recording is not None and (case.v, case.w) == (0.0, _IN_PLACE):
            found = identify(steady_track(case, outcome.recording), vehicle(case.robot).drive(1.0))
            if found is not None:
                return [
                    Series(engine, np.array([degrees(h) for h in found.headings]), found.by_heading)
                ]
    return []
