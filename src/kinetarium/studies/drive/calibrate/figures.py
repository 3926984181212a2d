"""Report of the calibrate study: the track multiplier over speeds and headings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from kinetarium.studies.drive.coulomb import (
    HARDWARE_MULTIPLIER,
    coulomb_multiplier,
    is_husky,
    multiplier_range,
)
from kinetarium.studies.drive.figures import vehicle_replay
from kinetarium.studies.drive.profiles import FRICTION
from kinetarium.studies.drive.tables import (
    failure_words,
    hardware_words,
    robot_label,
    settings_section,
)
from kinetarium.studies.drive.vehicle import opened, recorded_vehicle

_LEAD = (
    "A robot with fixed wheels on several axles can turn only by skidding, and turns less than its"
    " track width suggests; so the track width is multiplied by a factor: 1.875 for the Husky in"
    " Clearpath's software and in the paper. Here this factor is identified in every engine, in"
    " place and on arcs, from the travel of the wheels and the angle turned over whole quarter"
    " turns, and compared with Coulomb friction alone."
)
_IN_PLACE = 0.5
"""Yaw rate of the quoted turn in place [rad/s]."""
_COULOMB = "coulomb"
_SWINGS = 1.2
"""Ratio of the multipliers over headings from which on it is said [-]."""

_Multipliers = dict[tuple[float, float], float]
"""Track multipliers by forward speed [m/s] and yaw rate [rad/s]."""


def report(outcomes: Sequence[Outcome[CalibrateCase]]) -> Findings:
    """Return the multiplier over speeds and headings, beside Coulomb's."""
    results = Outcomes(outcomes)
    figures = {
        key: _figures(group) for key, group in results.by("profile", "robot", "engine").items()
    }
    groups = results.by("profile", "robot").values()
    ideals = {
        robot: ideal
        for (robot,), group in results.by("robot").items()
        if (ideal := _Ideal.of(group)) is not None
    }
    summary: dict[str, Any] = {}
    for (profile, robot, engine), values in figures.items():
        summary.setdefault(profile.value, {}).setdefault(robot, {})[engine] = values
    if ideals:
        summary[_COULOMB] = _summarised(next(iter(ideals.values())).multipliers)
        summary["ideal"] = {robot: ideal.summary for robot, ideal in ideals.items()}
    sections = [
        *(_heat_section(group, ideals) for group in groups),
        *(section for group in groups for section in _heading_section(group)),
        settings_section(outcomes),
    ]
    return Findings(
        _headline(figures, ideals),
        tuple(sections),
        summary,
        lead=" ".join(filter(None, (_LEAD, hardware_words(outcomes)))),
        conclusion=_conclusion(figures, ideals, outcomes),
    )


@dataclass(frozen=True, slots=True)
class _Ideal:
    """Multipliers of a robot by Coulomb friction alone, and their uncertainty."""

    multipliers: "_Multipliers"
    in_place: tuple[float, float]
    husky: bool

    @classmethod
    def of(cls, group: Outcomes[CalibrateCase]) -> "_Ideal | None":
        """Compute those of a robot; None if nothing slips or was never recorded."""
        recording = group.recording
        base = recorded_vehicle(recording.facts) if recording else None
        if base is None or not base.slips:
            return None
        speeds = sorted({(outcome.case.v, outcome.case.w) for outcome in group})
        found = {(v, w): coulomb_multiplier(base, v=v, w=w, friction=FRICTION) for v, w in speeds}
        spread = multiplier_range(base, v=0.0, w=_IN_PLACE, friction=FRICTION)
        return cls(found, spread, is_husky(base))

    @property
    def summary(self) -> dict[str, Any]:
        """What metrics.json has of it."""
        least, greatest = self.in_place
        hardware = {"hardware": HARDWARE_MULTIPLIER} if self.husky else {}
        spread = {"in_place_least": least, "in_place_greatest": greatest}
        return {**_summarised(self.multipliers), **spread, **hardware}


def _conclusion(
    figures: Mapping[tuple[Any, ...], dict[str, Any]],
    ideals: Mapping[str, _Ideal],
    outcomes: Sequence[Outcome[CalibrateCase]],
) -> str:
    """Return what came out, for the first two robots and profiles."""
    groups = list(dict.fromkeys(key[:2] for key in figures))[:2]
    told = [
        _robot_words(
            {key[2]: values for key, values in figures.items() if key[:2] == (profile, robot)},
            ideals.get(robot),
            who=f"{robot_label(robot)} ({profile.value})",
        )
        for profile, robot in groups
    ]
    return " ".join([*told, failure_words(outcomes)])


def _robot_words(figures: Mapping[str, dict[str, Any]], ideal: _Ideal | None, *, who: str) -> str:
    """Return the multipliers of a robot by engine, beside the ideal and that of hardware."""
    place = any(values["in_place"] is not None for values in figures.values())
    key, where = ("in_place", "in place") if place else ("fitted", "over all turns")
    found = {engine: values[key] for engine, values in figures.items() if values[key] is not None}
    told = ", ".join(f"{e} {m:.3f}" for e, m in sorted(found.items(), key=lambda item: item[1]))
    words = [f"{who} needs a track multiplier {where} of {told or 'unknown size'}"]
    if ideal is None:
        words.append("1 without slip")
    elif (known := ideal.summary[key]) is not None:
        least, greatest = ideal.in_place
        words.append(f"by Coulomb friction {known:.3f} ({least:.2f} to {greatest:.2f} in place with"
                     " the uncertainty of footprint and centre of mass)")  # fmt: skip
    if ideal is not None and ideal.husky:
        words.append(f"{HARDWARE_MULTIPLIER} on one real Husky")
    swings = [
        f"{engine} {values['lowest']:.2f} to {values['highest']:.2f}"
        for engine, values in figures.items()
        if values["lowest"] is not None and values["highest"] / values["lowest"] > _SWINGS
    ]
    turning = f", with the heading in {', '.join(swings)}" if swings else ""
    return f"{'; '.join(words)}{turning}."


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


def _headline(
    figures: Mapping[tuple[Any, ...], dict[str, Any]], ideals: Mapping[str, _Ideal]
) -> Table:
    columns = header(
        f"profile | robot | engine | in place, {_IN_PLACE:g} rad/s | on arcs | fitted"
        " | residual of the fit | least over headings | greatest over headings"
        " | residual within turns"
    )
    keys = ("in_place", "moving", "fitted", "fit_residual", "lowest", "highest", "mean_residual")
    rows = [
        (profile.value, robot_label(robot), engine, *(values.get(key) for key in keys))
        for (profile, robot, engine), values in figures.items()
    ]
    for robot, ideal in ideals.items():
        known = _summarised(ideal.multipliers)
        label, blank = robot_label(robot), [None] * (len(keys) - 1)
        rows.append(("no engine", label, "Coulomb", *(known.get(key) for key in keys)))
        for name, value in zip(("Coulomb, least", "Coulomb, greatest"), ideal.in_place,
                               strict=True):  # fmt: skip
            rows.append(("no engine", label, name, value, *blank))
        if ideal.husky:
            rows.append(("no engine", label, "one real Husky", HARDWARE_MULTIPLIER, *blank))
    return Table("Track multiplier", columns, tuple(rows))


def _heat_section(group: Outcomes[CalibrateCase], ideals: Mapping[str, _Ideal]) -> Section:
    case = next(iter(group)).case
    found = {engine: _found(turns) for (engine,), turns in group.by("engine").items()}
    maps: list[Figure] = [
        _heatmap(f"Track multiplier in {engine}", values)
        for engine, values in found.items()
        if values
    ]
    ideal = ideals.get(case.robot)
    if ideal is not None:
        least, greatest = ideal.in_place
        maps.append(_heatmap("Track multiplier by Coulomb friction alone", ideal.multipliers))
        maps.append(Prose(
            f"Coulomb: each wheel has two contact points, friction {FRICTION:g},"
            " static loads, the centre of mass kept on its circle. Faster arcs need a larger"
            " multiplier because part of the friction provides the centripetal force. If wheels"
            " touch the ground along a line or at a point, and the centre of mass is up to 1.2 % of"
            f" the wheelbase ahead or behind, it is {least:.3f} to {greatest:.3f} in place."
        ))  # fmt: skip
    return Section(f"Over speeds: {robot_label(case.robot)}, {case.profile.value}", tuple(maps))


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
        marks=tuple(Mark(o.recording.facts["multiplier"], "as commanded")
                    for o in list(group)[:1] if o.recording),
    )  # fmt: skip
    label = robot_label(case.robot)
    return [Section(f"Over headings: {label}, {case.profile.value}", (lines,))]


def _by_heading_of(engine: str, outcomes: Outcomes[CalibrateCase]) -> list[Series]:
    for outcome in outcomes:
        case = outcome.case
        if outcome.recording is not None and (case.v, case.w) == (0.0, _IN_PLACE):
            base = recorded_vehicle(outcome.recording.facts)
            found = identify(steady_track(outcome.recording), base.drive(1.0))
            if found is not None:
                return [
                    Series(engine, np.array([degrees(h) for h in found.headings]), found.by_heading)
                ]
    return []


def replay(case: CalibrateCase, recording: Recording) -> Replay:
    """Return the turn as a replay."""
    return vehicle_replay(opened(case.reading, case.robot, case.sha256), recording)
