"""Scores of a mission, from its recording: was the object lifted and held, and if not, why."""

from enum import StrEnum
from typing import Any

import numpy as np

from kinetarium.engines.protocol import Status
from kinetarium.recording.recording import Recording, Row
from kinetarium.scene.tables import object_name
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose, pose, rotation_from_quaternion
from kinetarium.studies.pick.config import Case
from kinetarium.studies.pick.mission import HOLD
from kinetarium.studies.pick.planning import LIFT

LIFTED = 0.9
"""Least height of a lifted object over that of its lift [-]."""
MOST_SLIP = 10.0
"""Largest slip of an object that is held [mm]."""
_DRIVES = ("drive", "correct")
"""Phases in which the base drives."""
_PRESSED = 1.0
"""Force from which on a contact counts as touching [N]."""


class Cause(StrEnum):
    """Why an object was not picked."""

    NONE = ""
    NO_BASE = "no base"
    NO_PATH = "no path"
    OUT_OF_REACH = "out of reach"
    """From where the base had stopped, no motion of the arm was found."""
    FALLEN = "fallen"
    """The object did not stand on its table any more when the arm was to grasp it."""
    TOO_LATE = "too late"
    MISSED = "missed"
    """The fingers closed beside the object, or pushed it over."""
    SLIPPED = "slipped"
    DROPPED = "dropped"
    DIVERGED = "diverged"


Times = list[tuple[str, float, float]]
"""Names of phases, with their first and last time [s]."""


def score(case: Case, recording: Recording) -> list[Row]:
    """Judge a mission by its recording, one row for each object.

    Returns:
        object, table, stop: Its number, and those of its table and of the stop it was picked from,
            from 1 on.
        tries: Stops from which it was to be picked: 2 if it was out of reach from the first one.
        success: Whether the object was lifted over 0.9 of 0.15 m and held 2 s with less than
            10 mm of slip.
        cause, reason: Why not; and why there was no plan, if that is the cause.
        base_error_mm, base_error_deg: From the chosen base to where it stood.
        stop_error_mm, stop_error_deg: The same at the first stop, as localisation knows it: the
            error of driving alone.
        corrections: Correction drives.
        drive_s, way_m: Time of all drives to this stop, and the way of the root.
        tool_error_mm: Distance of the grip frame from the middle of the object, across the
            vertical, before the fingers close.
        grip_n: Least mean normal force of a finger while the object is held; None if missed.
        grip_law: Whether weight and its moment about the pads stay within Coulomb's limit at both
            fingers in all samples from the end of closing on (`grip_load` at most 1), so that the
            object neither slides nor turns. None if missed.
        grip_load: Greatest share of that limit [-] (`friction_load`).
        slip_mm: Largest motion of the object in the grip frame from the end of closing on;
            None if missed.
        creep_mm_s: How fast it moves in the grip frame while it is held, on average.
        lift_mm: Least height of the object over its place on the table while it is held.
        touches: How often the robot touched something on its way to this stop.
        limit_margin_rad: Least distance of a joint of the plan from its limits.
    """
    facts = recording.facts
    phases: Times = [(str(name), float(a), float(b)) for name, a, b in facts["phases"]]
    rows: list[Row] = []
    for attempt in facts["attempts"]:
        row: dict[str, Any] = dict.fromkeys(
            (
                "object", "table", "stop", "tries", "success", "cause", "reason", "base_error_mm",
                "base_error_deg", "stop_error_mm", "stop_error_deg", "corrections", "drive_s",
                "way_m", "tool_error_mm", "grip_n", "grip_law", "grip_load", "slip_mm",
                "creep_mm_s", "lift_mm", "touches", "limit_margin_rad",
            )
        )  # fmt: skip
        held = case.layout.objects[attempt["object"]]
        row |= {"object": attempt["object"] + 1, "table": held.table, "reason": attempt["reason"]}
        row["limit_margin_rad"] = attempt["limit_margin"]
        row["tries"] = sum(attempt["object"] in stop["objects"] for stop in facts["stops"])
        if attempt["stop"] is not None:
            stop = facts["stops"][attempt["stop"]]
            row |= {"stop": attempt["stop"] + 1, "corrections": stop["corrections"]}
            row |= _driving(recording, phases[slice(*stop["phases"])])
            for what in ("base_error", "stop_error"):
                row[f"{what}_mm"], row[f"{what}_deg"] = stop[what] or (None, None)
        name = object_name(attempt["object"])
        own = phases[slice(*attempt["phases"])]
        row |= _holding(recording, own, name)
        cause = _cause(recording, row, own, attempt)
        if cause is Cause.MISSED:  # what was never held has not slipped
            row |= dict.fromkeys(("slip_mm", "creep_mm_s", "grip_n", "grip_law", "grip_load"))
        rows.append({**row, "success": cause is Cause.NONE, "cause": str(cause)})
    return rows


def _driving(recording: Recording, phases: Times) -> dict[str, Any]:
    if not phases:
        return {}
    time = recording["time"]
    on_the_way = (time >= phases[0][1]) & (time <= phases[-1][2])
    way = np.diff(recording["poses"][on_the_way, 0, :2], axis=0)
    touched = recording["contacts"][on_the_way, 0] > _PRESSED
    begun = np.diff(touched.astype(np.int64), prepend=0) > 0
    return {
        "drive_s": sum(end - begin for name, begin, end in phases if name in _DRIVES),
        "way_m": float(np.linalg.norm(way, axis=1).sum()),
        "touches": int(begun.sum()),
    }


def _holding(recording: Recording, phases: Times, name: str) -> dict[str, Any]:
    times = {phase: (begin, end) for phase, begin, end in phases}
    if "close" not in times:
        return {}
    time = recording["time"]
    X_WO, X_WG = _poses(recording, name), _rows(recording["grip"])
    before = min(int(np.searchsorted(time, times["close"][0] - 1e-9)), len(time) - 1)
    row: dict[str, Any] = {
        "tool_error_mm": 1e3 * float(np.hypot(*(X_WG[before, :2, 3] - X_WO[before, :2, 3])))
    }
    if "hold" not in times:
        return row
    held = (time >= times["hold"][0] - 1e-9) & (time <= times["hold"][1] + 1e-9)
    gripped = (time >= times["close"][1] - 1e-9) & (time <= times["hold"][1] + 1e-9)
    p_GO = (inverse_pose(X_WG[gripped]) @ X_WO[gripped])[:, :3, 3]
    row["slip_mm"] = 1e3 * float(np.linalg.norm(p_GO - p_GO[0], axis=1).max())
    row["lift_mm"] = 1e3 * float((X_WO[held, 2, 3] - X_WO[0, 2, 3]).min())
    pressed = recording["contacts"][:, 2:4]
    row["grip_n"] = float(pressed[held].mean(axis=0).min())
    row["grip_load"] = float(recording["contacts"][gripped, 4].max())
    row["grip_law"] = bool(pressed[gripped].min() > 0) and row["grip_load"] <= 1
    still = (inverse_pose(X_WG[held]) @ X_WO[held])[:, :3, 3]
    moved = float(np.linalg.norm(still[-1] - still[0]))
    row["creep_mm_s"] = 1e3 * moved / max(float(np.ptp(time[held])), 1e-9)
    return row


def _cause(
    recording: Recording, row: dict[str, Any], phases: Times, attempt: dict[str, Any]
) -> Cause:
    if attempt["failed"]:
        return Cause(attempt["failed"])
    hold = sum(end - begin for name, begin, end in phases if name == "hold")
    if row["lift_mm"] is None or hold < HOLD - 0.01:
        return Cause.DIVERGED if recording.status == Status.DIVERGED else Cause.TOO_LATE
    if row["lift_mm"] >= LIFTED * 1e3 * LIFT:
        return Cause.NONE if row["slip_mm"] < MOST_SLIP else Cause.SLIPPED
    height = _poses(recording, object_name(attempt["object"]))[:, 2, 3]
    return Cause.DROPPED if height.max() - height[0] > LIFT / 3 else Cause.MISSED


def _poses(recording: Recording, name: str) -> Array:
    index = recording.channels["poses"].columns.index(name)
    return _rows(recording["poses"][:, index])


def _rows(rows: Array) -> Array:
    return np.array([pose(row[:3], rotation_from_quaternion(row[3:])) for row in rows])
