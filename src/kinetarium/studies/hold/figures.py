"""Report of the hold study: verdict and measures of each engine, torques, motion."""

from collections.abc import Sequence

import numpy as np

from kinetarium.batch.outcomes import Outcomes, and_list, case_labels, robot_name, verdict_of
from kinetarium.batch.study import Findings, Outcome
from kinetarium.figure.charts import Axis, Bars, BarSeries, Lines, Mark, Series
from kinetarium.figure.page import Section
from kinetarium.figure.replay import Replay
from kinetarium.figure.scene_replay import scene_replay
from kinetarium.figure.text import Cell, Column, Prose, Table
from kinetarium.recording.recording import Recording
from kinetarium.spatial.gravity import GRAVITY
from kinetarium.studies.hold.config import Case
from kinetarium.studies.hold.run import scene
from kinetarium.studies.hold.score import LIMITS, Verdict

_LEAD = (
    "The robot is held by position servos at its home pose. Each servo swings what it moves at 10"
    " Hz, critically damped, and gives way by no more than 0.02 rad under its load. A fixed robot"
    " should rest where the servos balance gravity, K (q0 - q) = g(q), computed with Pinocchio; a"
    " free one should stand on the ground, which carries its weight."
)

_FIXED = (
    ("position_error", "position error", "mrad or mm", 1e3),
    ("torque_error", "torque error", "%", 1e2),
    ("sag", "distance from home", "mrad or mm", 1e3),
    ("joint_speed", "joint speed", "mrad/s or mm/s", 1e3),
)
_FREE = (
    ("force_error", "ground force error", "% of weight", 1e2),
    ("force_noise", "force noise", "% of weight", 1e2),
    ("airborne", "without contact", "%", 1e2),
    ("tilt_deg", "tilt", "deg", 1.0),
    ("height_loss", "height loss", "%", 1e2),
    ("drift_m_s", "drift", "mm/s", 1e3),
    ("sag", "distance from home", "mrad or mm", 1e3),
)
_GOOD = (Verdict.HOLDS, Verdict.STANDS)

_MOST_JOINTS = 16
"""Joints with a bar each: those with the greatest torque."""

Named = Sequence[tuple[str, Outcome[Case]]]


def report(outcomes: Sequence[Outcome[Case]]) -> Findings:
    """Compare all engines with the static equilibrium."""
    labels = case_labels([outcome.case for outcome in outcomes])
    named = list(zip(labels, outcomes, strict=True))
    held = [(label, each) for label, each in named if each.recording and each.rows]
    columns = _columns(held)
    keys = [key for key, *_ in columns]
    summary = {
        engine: {
            "cases": len(group),
            "verdicts": [verdict_of(outcome)[0] for outcome in group],
            **group.spreads(keys),
        }
        for (engine,), group in Outcomes(outcomes).by("engine").items()
    }
    return Findings(
        _table(named, columns),
        (*_sections(held), _limits(keys)),
        summary,
        lead=_LEAD,
        conclusion=" ".join(_robot_words(group) for group in _by_robot(named)),
    )


def replay(case: Case, recording: Recording) -> Replay:
    """Return the run as a replay."""
    return scene_replay(scene(case.reading.open(case.robot, sha256=case.sha256)), recording)


def _columns(held: Named) -> tuple[tuple[str, str, str, float], ...]:
    free = [_is_free(outcome) for _, outcome in held]
    shown = [*(_FREE if any(free) else ()), *(_FIXED if not all(free) or not free else ())]
    return tuple(dict.fromkeys(shown))


def _is_free(outcome: Outcome[Case]) -> bool:
    return "mass" in outcome.recorded.facts["expected"]


def _table(named: Named, columns: Sequence[tuple[str, str, str, float]]) -> Table:
    rows = []
    for label, outcome in named:
        row = outcome.rows[0] if outcome.rows else {}
        cells: list[Cell] = [
            None if row.get(key) is None else row[key] * factor for key, _, _, factor in columns
        ]
        rows.append((label, *verdict_of(outcome), *cells))
    headings = (Column(heading, unit) for _, heading, unit, _ in columns)
    return Table("", (Column("case"), Column("verdict"), Column("cause"), *headings), tuple(rows))


def _by_robot(named: Named) -> list[Named]:
    groups: dict[str, list[tuple[str, Outcome[Case]]]] = {}
    for label, outcome in named:
        groups.setdefault(outcome.case.robot, []).append((label, outcome))
    return list(groups.values())


def _robot_words(named: Named) -> str:
    """Return the verdicts on one robot in words."""
    found: dict[str, list[str]] = {}
    causes: dict[str, str] = {}
    for label, outcome in named:
        verdict, cause = verdict_of(outcome)
        found.setdefault(verdict, []).append(label)
        causes.setdefault(verdict, cause)
    robot = robot_name(named[0][1].case.robot)
    parts = []
    for verdict, labels in found.items():
        who = "all engines" if len(found) == 1 and len(labels) > 1 else and_list(labels)
        why = f" ({causes[verdict]})" if verdict not in _GOOD and causes[verdict] else ""
        parts.append(f"{verdict} in {who}{why}{_worst(named, verdict)}")
    return f"{robot} {'; '.join(parts)}."


def _worst(named: Named, verdict: str) -> str:
    """Say how close the engines are in which it holds."""
    if verdict not in _GOOD:
        return ""
    rows = [o.rows[0] for _, o in named if o.rows and verdict_of(o)[0] == verdict]
    if verdict == Verdict.STANDS:
        worst = max(abs(row["force_error"]) for row in rows)
        return f", ground forces within {worst:.1%} of the weight"
    errors = [row["position_error"] for row in rows if row["position_error"] is not None]
    return f", within {max(errors) * 1e3:.2g} mrad or mm of its equilibrium" if errors else ""


def _limits(keys: Sequence[str]) -> Section:
    rows = tuple((name, limit, why) for name, (limit, why) in LIMITS.items() if name in keys)
    table = Table("", (Column("measure"), Column("limit"), Column("why")), rows)
    words = "The worst of the measures beyond its limit gives the verdict."
    return Section("Limits", (Prose(words), table))


def _sections(held: Named) -> tuple[Section, ...]:
    sections = []
    seconds = Axis("time", "s")
    distance = Lines(
        "Largest distance of a joint from home",
        seconds,
        Axis("distance", "mrad or mm"),
        tuple(_distance(label, outcome) for label, outcome in held),
        caption="A position servo without integral action gives way under its load.",
    )
    if any(len(outcome.recorded["q"][0]) for _, outcome in held):
        sections.append(Section("Motion", (distance,)))
    free = [(label, outcome) for label, outcome in held if _is_free(outcome)]
    if free:
        force = Lines(
            "Ground force over weight",
            seconds,
            Axis("force over weight", "-"),
            tuple(_force(label, outcome) for label, outcome in free),
            marks=(Mark(1.0, "weight"),),
        )
        height = Lines(
            "Height of the root",
            seconds,
            Axis("height", "m"),
            tuple(
                Series(label, o.recorded["time"], o.recorded["poses"][:, 0, 2]) for label, o in free
            ),
        )
        sections.append(Section("On the ground", (force, height)))
    fixed = [(label, outcome) for label, outcome in held if not _is_free(outcome)]
    for group in _by_robot(fixed):
        if group[0][1].recorded.facts["expected"]["joints"]:
            sections.append(Section("Torques", (_torques(group),)))
    return tuple(sections)


def _distance(label: str, outcome: Outcome[Case]) -> Series:
    q = outcome.recorded["q"]
    away = np.abs(q - q[0]).max(axis=1, initial=0.0)
    return Series(label, outcome.recorded["time"], 1e3 * away)


def _force(label: str, outcome: Outcome[Case]) -> Series:
    weight = outcome.recorded.facts["expected"]["mass"] * GRAVITY
    return Series(label, outcome.recorded["time"], outcome.recorded["ground"][:, 2] / weight)


def _torques(named: Named) -> Bars:
    """Return the servos' efforts at the end beside those that balance gravity in the home pose."""
    expected = named[0][1].recorded.facts["expected"]
    gravity = np.array(expected["gravity"])
    order = np.argsort(-np.abs(gravity), kind="stable")[:_MOST_JOINTS]
    series = [BarSeries("gravity compensation", gravity[order])]
    for label, outcome in named:
        columns = outcome.recorded.channels["q"].columns
        own = [columns.index(f"robot/{expected['joints'][i]}") for i in order]
        home, stiffness = (np.array(expected[name])[order] for name in ("home", "stiffness"))
        series.append(BarSeries(label, stiffness * (home - outcome.recorded["q"][-1, own])))
    return Bars(
        "Efforts of the servos",
        tuple(expected["joints"][i] for i in order),
        tuple(series),
        Axis("effort", "N m or N"),
        caption="Gravity compensation is that of the home pose; the robot rests a little lower.",
    )
