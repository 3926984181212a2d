"""Report of the mission, and its replay."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kinetarium.batch.outcomes import case_labels, case_table, completion, flag_table
from kinetarium.batch.study import Findings, Outcome
from kinetarium.figure.charts import Axis, Lines, Mark, Series, Side
from kinetarium.figure.page import Section
from kinetarium.figure.replay import Arrow, Replay, Solid, pose_rows
from kinetarium.figure.scene_replay import scene_replay, shape_mesh
from kinetarium.model.robot import Box
from kinetarium.recording.recording import Recording, Row
from kinetarium.scene.docking import CIRCUMRADIUS, SATELLITE_LENGTH
from kinetarium.studies.dock.mission.arms import waiting_arms
from kinetarium.studies.dock.mission.config import MissionCase
from kinetarium.studies.dock.mission.run import NEAR, phases
from kinetarium.studies.dock.press.probe import SHAPE

_LEAD = (
    "A chaser comes along its bar, flies round to the docking axis of a tumbling target, closes in"
    " along that and is captured by a probe and a cone. Between thrusts both move by the closed"
    " form of Clohessy and Wiltshire. From 2 m on the two arms of the ground test hold the"
    " satellites as they are to each other in orbit, and the contact acts between what they hold."
    " The books compare momentum, angular momentum and energy with the impulses and the work of all"
    " forces."
)
_COLUMNS = (
    ("contact_time_s", "contact at", "s", 1.0),
    ("contact_speed_ms", "speed", "mm/s", 1e3),
    ("contact_offset_m", "offset", "mm", 1e3),
    ("contact_tilt_rad", "tilt", "mrad", 1e3),
    ("captured", "captured", "", 1),
    ("peak_n", "peak", "N", 1.0),
    ("delta_v_ms", "delta v", "m/s", 1.0),
    ("momentum_error", "momentum error", "", 1.0),
    ("spin_error", "angular momentum error", "", 1.0),
    ("energy_error", "energy error", "", 1.0),
    ("arm_error_m", "error of the arms", "mm", 1e3),
    ("arm_speed_share", "greatest joint speed over its limit", "", 1.0),
)
_TONES = ((0.85, 0.65, 0.25, 1.0), (0.45, 0.52, 0.62, 1.0))
_NEAR = 5.0
"""Time around the contact that is drawn [s]."""
_BESIDE = 4.0
"""Distance of the arms from the target, along the orbit's velocity, in the replay [m]."""


def report(outcomes: Sequence[Outcome[MissionCase]]) -> Findings:
    """Summarise the missions."""
    labels = case_labels([outcome.case for outcome in outcomes])
    named = [(label or "mission", o) for label, o in zip(labels, outcomes, strict=True)]
    sections = [
        mission_section(label, outcome.recorded, suffix=f", {label}" if len(named) > 1 else "")
        for label, outcome in named
        if outcome.recording
    ]
    rows = [outcome.rows[0] for _, outcome in named if outcome.rows]
    words = _conclusion(rows, len(named)) if rows else ""
    summary: dict[str, Any] = {label: dict(o.rows[0]) for label, o in named if o.rows}
    return Findings(
        case_table(named, _COLUMNS, first="mission"),
        (*sections, Section("Flags", (flag_table(named),))),
        summary,
        lead=_LEAD,
        conclusion=words + completion(outcomes),
    )


def _conclusion(rows: Sequence[Row], count: int) -> str:
    """Return how the missions end, in sentences."""
    captured = sum(row["captured"] for row in rows)
    said = f"{captured} of {count} missions end with a capture"
    if count == 1 and captured:
        (row,) = rows
        said = (
            f"The target is captured: contact after {row['contact_time_s']:.0f} s at"
            f" {1e3 * row['contact_speed_ms']:.0f} mm/s, {1e3 * row['contact_offset_m']:.1f} mm off"
            f" the axis, for {row['delta_v_ms']:.2f} m/s of delta v"
        )
    worst = max(max(row["momentum_error"], row["energy_error"]) for row in rows)
    fastest = max(row["arm_speed_share"] for row in rows)
    return (
        f"{said}; momentum and energy balance to {100 * worst:.1g} %. On the arms the last 2 m need"
        f" {100 * fastest:.2g} % of the speed of a joint at most. "
    )


def mission_section(label: str, recording: Recording, *, suffix: str) -> Section:
    """Return the figures of a mission; the suffix tells their titles apart."""
    time, state = recording["time"], recording["state"]
    p = (
        recording["chaser"].reshape(-1, 4, 4)[:, :3, 3]
        - recording["target"].reshape(-1, 4, 4)[:, :3, 3]
    )
    names = ("radial", "along the velocity", "across")
    touching = np.flatnonzero(state[:, 1] > 0)
    begins = phases(recording)
    figures = [
        Lines(
            f"Position of the chaser in the orbit's frame{suffix}",
            Axis("time", "s"),
            Axis("position", "m"),
            tuple(Series(name, time, p[:, i]) for i, name in enumerate(names)),
            caption="Phases: "
            + ", ".join(f"{name} from {begin:.4g} s" for name, begin in begins.items())
            + ".",
            marks=tuple(
                Mark(begin, name, Side.X)
                for name, begin in begins.items()
                if begin and name != "captured"  # too near to the contact, in whose figure it is
            ),
        )
    ]
    if touching.size:
        start = float(time[touching[0]])
        near = np.abs(time - start) < _NEAR
        figures.append(
            Lines(
                f"Contact force{suffix}",
                Axis("time after contact", "s"),
                Axis("force", "N"),
                (Series("force", time[near] - start, state[near, 1]),),
                marks=tuple(
                    Mark(begins[name] - start, name, Side.X)
                    for name in ("captured",)
                    if name in begins
                ),
            )
        )
    on = time >= begins["on the arms"]
    turned = np.degrees(recording["q"][on] - recording["q"][on][0])
    joints = recording.channels["q"].columns
    figures.append(
        Lines(
            f"Joints of the arms in the last metres{suffix}",
            Axis("time", "s"),
            Axis("angle since the start", "deg"),
            tuple(
                Series(name, time[on], angle)
                for name, angle in zip(joints, turned.T, strict=True)
                if np.ptp(angle) > _TURNED
            ),
            caption=f"Those that turn by more than {_TURNED:g} degree. The arms share the way: but"
            " for the roll their joints coincide.",
        )
    )
    return Section(label.capitalize(), tuple(figures))


_TURNED = 1.0
"""Least angle of a joint that is drawn [deg]."""


def replay(case: MissionCase, recording: Recording) -> Replay:
    """Return the whole mission as one replay: in orbit, and beside it the arms, at their place."""
    size = (SATELLITE_LENGTH, 2 * CIRCUMRADIUS, 2 * CIRCUMRADIUS)
    poses = {name: recording[name].reshape(-1, 4, 4) for name in ("chaser", "target")}
    solids = [
        Solid(name, "", (shape_mesh(Box(size), tone),), pose_rows(X))
        for (name, X), tone in zip(poses.items(), _TONES, strict=True)
    ]
    X = poses["chaser"]
    tips = X[:, :3, 3] + (SATELLITE_LENGTH / 2 + SHAPE.length) * X[:, :3, 0]
    force = -recording["state"][:, 1:2] * X[:, :3, 0]
    tips[recording["state"][:, 1] == 0] = np.nan
    arms = waiting_arms(NEAR)
    stage = scene_replay(arms.scene, recording)
    middle = arms.target.X_WA[:3, 3] / 2
    moved = np.array([*(-middle[:2] + (0.0, _BESIDE)), -_HEIGHT, 0.0, 0.0, 0.0, 0.0])
    solids += [replace(solid, poses=solid.poses + moved) for solid in stage.solids]
    return Replay(
        recording["time"],
        tuple(solids),
        arrows=(Arrow("contact", "N", tips, force),),
        trails=("chaser",),
        markers=stage.markers,
    )


_HEIGHT = 1.1
"""Height of the satellites above the floor of the arms [m]."""
