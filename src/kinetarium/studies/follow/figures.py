"""Report of the follow study: errors of the tool by speed and sensing, paths, limits."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kinetarium.batch.outcomes import Outcomes, case_labels, robot_name
from kinetarium.batch.study import Findings, Outcome
from kinetarium.engines.protocol import FrictionRule
from kinetarium.figure.charts import Axis, Lines, Series
from kinetarium.figure.page import Section
from kinetarium.figure.replay import Guide, Replay
from kinetarium.figure.scene_replay import scene_replay
from kinetarium.figure.text import Table, header
from kinetarium.recording.recording import Recording
from kinetarium.spatial.rotation import pose, rotation_from_quaternion
from kinetarium.studies.follow.config import Case, Sensing
from kinetarium.studies.follow.run import scene

_LEAD = (
    "The base drives along a planned path with its wheels, and the arm holds the tool on the line"
    " by computed torque on the moving base. What is known of the pose of the base is varied:"
    " exact; 50 times a second and 20 ms late, held or extrapolated by the twist; with noise of"
    " 2 mm and 0.1 degrees, filtered or not; from the wheels alone."
)
_KNOWN = {
    Sensing.TRUE: "the true pose",
    Sensing.LATE: "poses 20 ms late",
    Sensing.PREDICTED: "late poses extrapolated by the twist",
    Sensing.NOISY: "filtered noisy poses",
    Sensing.RAW: "noisy poses",
    Sensing.ODOMETRY: "wheel odometry",
}
_KEYS = (
    "tool_max_mm",
    "tool_rms_mm",
    "joint_speed_use",
    "torque_use",
    "base_speed_use",
    "base_error_mm",
)
_MOST_SHOWN = 8
"""Runs whose errors are drawn."""


def report(outcomes: Sequence[Outcome[Case]]) -> Findings:
    """Compare what is known of the base."""
    labels = case_labels([outcome.case for outcome in outcomes])
    named = list(zip(labels, outcomes, strict=True))
    done = [(label, each) for label, each in named if each.recording and each.rows]
    rows = []
    for label, outcome in named:
        row = outcome.rows[0] if outcome.rows else {}
        cause = row.get("cause", outcome.message or "did not complete")
        verdict = "yes" if row.get("success") else "no"
        rows.append((label, verdict, cause, *(row.get(key) for key in _KEYS)))
    columns = header(
        "case | followed | cause | tool error, max [mm] | tool error, RMS [mm]"
        " | joint speed [of limit] | torque [of limit] | base speed [of limit]"
        " | base off its path [mm]"
    )
    summary = {
        engine: {"cases": len(group), **group.spreads(_KEYS)}
        for (engine,), group in Outcomes(outcomes).by("engine").items()
    }
    sections = (
        (
            Section("Tool error along the line", _errors(done)),
            Section("Path of the base", _paths(done)),
        )
        if done
        else ()
    )
    return Findings(
        Table("", columns, tuple(rows)),
        sections,
        summary,
        lead=_LEAD,
        conclusion=_conclusion(outcomes),
    )


def _conclusion(outcomes: Sequence[Outcome[Case]]) -> str:
    """Return the greatest errors by engine and sensing in words, failed runs counted."""
    robot = robot_name(outcomes[0].case.robot)
    sentences = []
    for engine in dict.fromkeys(outcome.case.engine for outcome in outcomes):
        parts, never, torques = [], [], list[float]()
        for sensing in dict.fromkeys(outcome.case.sensing for outcome in outcomes):
            runs = [o for o in outcomes if (o.case.engine, o.case.sensing) == (engine, sensing)]
            good = [o.rows[0] for o in runs if o.rows and o.rows[0]["success"]]
            if not good:
                never.append(f"with {_KNOWN[sensing]}")
                continue
            lost = len(runs) - len(good)
            words = f"{max(row['tool_max_mm'] for row in good):.2g} mm"
            torques += [row["torque_use"] for row in good]
            if lost:
                words += f" ({lost} of {len(runs)} runs failed)"
            parts.append(f"{words} with {_KNOWN[sensing]}")
        found = [f"keeps its tool on the line within {'; '.join(parts)}"] if parts else []
        found += [f"does not follow the line {' and '.join(never)}"] if never else []
        sentences.append(f"In {engine} {robot} {', and '.join(found)}")
        if parts:
            sentences[-1] += f"; its joints use at most {100 * max(torques):.0f} % of their torque"
    return ". ".join(sentences) + "."


def _errors(done: Sequence[tuple[str, Outcome[Case]]]) -> tuple[Lines, ...]:
    series = []
    for label, outcome in done[:_MOST_SHOWN]:
        recording = outcome.recorded
        t = recording["time"] - recording.facts["settle_s"]
        on = (t >= 0.0) & (t <= recording.facts["line_s"])
        off = np.linalg.norm(recording["tool"] - recording["line"], axis=1)
        series.append(Series(label, t[on], 1e3 * off[on]))
    return (
        Lines(
            "Distance of the tool from the line's moving point",
            Axis("time", "s"),
            Axis("tool error", "mm"),
            tuple(series),
            caption="" if len(done) <= _MOST_SHOWN else f"The first {_MOST_SHOWN} runs.",
        ),
    )


def _paths(done: Sequence[tuple[str, Outcome[Case]]]) -> tuple[Lines, ...]:
    [(label, outcome), *_] = done
    recording = outcome.recorded
    line, way, root = recording["line"], recording["plan_vehicle"], recording["poses"][:, 0]
    return (
        Lines(
            f"Line, planned path of the vehicle and its base link, from above ({label})",
            Axis("x", "m"),
            Axis("y", "m"),
            (
                Series("line", line[:, 0], line[:, 1]),
                Series("planned vehicle", way[:, 0], way[:, 1]),
                Series("base link", root[:, 0], root[:, 1]),
            ),
            equal=True,
        ),
    )


def replay(case: Case, recording: Recording) -> Replay:
    """Return the run as a replay, with the line."""
    robot = case.reading.open(case.robot, sha256=case.sha256)
    p, quaternion = recording["poses"][0, 0, :3], recording["poses"][0, 0, 3:]
    arm = dict(zip(recording.facts["joints"], recording["plan_joints"][0].tolist(), strict=True))
    start = scene(
        robot,
        case,
        rule=FrictionRule.MAXIMUM,
        X_WB=pose(p, rotation_from_quaternion(quaternion)),
        positions=arm,
    )
    guides = (Guide("line", recording["line"]),)
    return replace(scene_replay(start, recording), guides=guides)
