"""The measures of a walk."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetarium.legs import LegKind
from kinetarium.legs.quadruped import MotorDrive
from kinetarium.recording.recording import Recording, Row
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.gravity import GRAVITY
from kinetarium.studies.walk.config import HOLD, NO_ENGINE, SETTLE, Case, Drives

TIPPED = 10.0
"""Tilt from its plan above which a robot has tipped over [deg]."""
OFF_COURSE = 0.1
"""Allowed final errors of position over the length of the path and of heading over its turn [-]."""
DRIFT = 0.2
"""Heading error that any path allows [rad]: a steady drift that ends there leaves a straight path
by a tenth of its length."""


def score(case: Case, recording: Recording) -> Row:
    """Measure a walk.

    Returns:
        min_margin_units, mean_margin_units: The planned static margin.
        min_dynamic_margin_units: The planned dynamic margin, of the zero-moment point; None for a
            periodic gait, which does not rest on its feet.
        measured_margin_units: That of the simulated robot, until it tips over.
        speed_m_per_s: In physics, distance covered along the path over time, unless it diverged.
        sway_units, step_time_s: Sway and duration of a leg step, as chosen by --stable.
        max_slip_units: Maximum motion of a foot in stance.
        joint_travel: Travel of the drives h_x, lateral and v_z of all legs [unit, rad].
        drive_work: Work of all drives [J], per metre in drive_work_j_per_m; without an engine
            that of a slow walk with friction in the slides.
        walking_volume_units3: Reachable volume of a foot.
        order, table1_row: The order of the legs, and its row in Table 1, 0 if none.
        limit_violations: Number of leg steps that exceed the joint limits.
        interference_max_units: How deep a link is at most in the body or in another leg.
        foot_gap_min_units: Minimum distance between two feet.
        warnings: Up to ten warnings, as sentences.
        verdict: planned, walked, tipped over, off course or diverged.
        drive_load, drive_rms_load, drive_speed_load: With motors, the greatest force of a drive
            over its limit, the root mean square of the most loaded one over its force for any
            time, and the greatest speed over that without load.
        energy_j_per_m, cost_of_transport: With motors, electrical energy over distance, and over
            weight times distance [-].
        tilt_max_deg, end_error_m, heading_error_deg, loop_gap_m: In physics, maximum tilt of the
            body from its plan, final errors of position and heading, and maximum gap of the
            closed loops.
    """
    plan = recording.facts["plan"]
    way = plan["way"] * case.unit_m
    work = _work(case, recording)
    return {
        "min_margin_units": _clean(plan["min_margin"]),
        "mean_margin_units": _clean(plan["mean_margin"]),
        "min_dynamic_margin_units": _clean(plan["min_dynamic_margin"]) if case.rests else None,
        "sway_units": plan["sway"],
        "step_time_s": plan["step_time"],
        "max_slip_units": slip(recording["feet"], recording["support"] > 0) / case.unit_m,
        "joint_travel": plan["joint_travel"]
        if case.linkage
        else dict(zip(("h_x", "lateral", "v_z"), plan["joint_travel"], strict=True)),
        "drive_work": work,
        "drive_work_j_per_m": work / way if way and work is not None else None,
        "walking_volume_units3": plan["walking_volume"],
        "order": plan["order"],
        "table1_row": plan["table1_row"],
        "stride_units": plan["stride"],
        "limit_violations": plan["limit_violations"],
        "interference_max_units": plan.get("interference"),  # linkages are not checked
        "foot_gap_min_units": plan["foot_gap"],
        "warnings": plan["warnings"],
        **_physics(case, recording),
        **(_motors(case, recording) if case.drives is Drives.MOTOR else {}),
    }


def _motors(case: Case, recording: Recording) -> dict[str, Any]:
    """Return how the motors are used. A turning drive is judged as the slide that it stands for."""
    motor, kind = MotorDrive(), case.machine.kind
    arm = (case.machine.l1 + case.machine.l2) * case.unit_m
    lever = np.tile([1.0, arm if kind is LegKind.TTR else 1.0, 1.0], 4)
    force, speed = recording["drive_force"] / lever, recording["drive_rate"] * lever
    energy = float(np.trapezoid(motor.power(force, speed).sum(axis=1), recording["time"]))
    way = recording.facts["plan"]["way"] * case.unit_m
    rms = float(np.sqrt((force**2).mean(axis=0)).max())
    return {
        "drive_load": float(np.abs(force).max()) / motor.greatest_force,
        "drive_rms_load": rms / motor.nominal_force,
        "drive_speed_load": float(np.abs(speed).max()) / motor.greatest_speed,
        "energy_j_per_m": energy / way if way else None,
        "cost_of_transport": energy / (case.mass * GRAVITY * way) if way else None,
    }


def slip(feet: Array, support: NDArray[np.bool_]) -> float:
    """Return the maximum motion of a foot since the start of its stance [m].

    Args:
        feet: The feet [m], shape (n, 4, 3).
        support: Which of them are in stance, shape (n, 4).
    """
    farthest = 0.0
    for leg in range(feet.shape[1]):
        stands = support[:, leg]
        begins = stands & ~np.concatenate([[False], stands[:-1]])
        origin = np.maximum.accumulate(np.where(begins, np.arange(len(stands)), 0))
        moved = np.linalg.norm(feet[:, leg] - feet[origin, leg], axis=1)
        farthest = max(farthest, float(moved[stands].max(initial=0.0)))
    return farthest


def body_normals(poses: Array) -> Array:
    """Return the z axes of poses in the world, shape (n, 3).

    Args:
        poses: Positions and quaternions wxyz, shape (n, 7).
    """
    w, x, y, z = poses[:, 3:].T
    return np.stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)], axis=1)


def headings(poses: Array) -> Array:
    """Return the headings of poses, continued over whole turns [rad], shape (n,).

    Args:
        poses: Positions and quaternions wxyz, shape (n, 7).
    """
    return np.unwrap(2 * np.arctan2(poses[:, 6], poses[:, 3]))


def tilt(recording: Recording) -> Array:
    """Return the angle between the body's z axis and the planned one [deg], shape (n,).

    Planned is the vertical, unless the body tilts with the ground.
    """
    normals = body_normals(np.asarray(recording["body"]))
    planned = np.array([0.0, 0.0, 1.0])
    if "planned_normal" in recording.channels:
        planned = recording["planned_normal"]
    return np.asarray(np.degrees(np.arccos(np.clip(np.vecdot(normals, planned), -1.0, 1.0))))


def _physics(case: Case, recording: Recording) -> dict[str, Any]:
    if case.engine == NO_ENGINE:
        return {
            "verdict": "planned",
            "measured_margin_units": None,
            "speed_m_per_s": None,
            "tilt_max_deg": None,
            "end_error_m": None,
            "heading_error_deg": None,
            "loop_gap_m": None,
        }
    tilts = tilt(recording)
    leaning = float(tilts.max())
    standing = int(np.argmax(tilts > TIPPED)) if leaning > TIPPED else len(tilts)
    measured = None
    if case.rests:
        measured = float(recording["measured_margin"][: max(standing, 1)].min()) / case.unit_m
    plan = recording.facts["plan"]
    goal = np.array(plan["goal"]) * case.unit_m
    end_error = float(np.hypot(*(recording["body"][-1, :2] - goal)))
    first, *_, last = headings(recording["body"])
    heading_error = abs(float(last - first) - plan["turn"])
    allowed = max(OFF_COURSE * abs(plan["turn"]), DRIFT if plan["way"] else 0.0)
    if recording.status == "diverged":
        verdict = "diverged"
    elif leaning > TIPPED:
        verdict = "tipped over"
    elif end_error > OFF_COURSE * max(plan["way"], plan["stride"]) * case.unit_m:
        verdict = "off course"
    elif heading_error > allowed:
        verdict = "off course"
    else:
        verdict = "walked"
    return {
        "verdict": verdict,
        "measured_margin_units": measured,
        "speed_m_per_s": _speed(case, recording),
        "tilt_max_deg": leaning,
        "end_error_m": end_error,
        "heading_error_deg": float(np.degrees(heading_error)),
        "loop_gap_m": float(recording["loop_gap"].max()),
    }


def _speed(case: Case, recording: Recording) -> float | None:
    """Return the distance that the body covers along its path over the time of the walk [m/s]."""
    path = np.array(recording.facts["plan"]["path"]) * case.unit_m
    walking = float(recording["time"][-1]) - SETTLE - HOLD
    if recording.status == "diverged" or walking <= 0.0:
        return None
    return distance_along(recording["body"][:, :2], path) / walking


def distance_along(places: Array, path: Array) -> float:
    """Return how far along a path a body ends, beyond the ends of the path straight on [m].

    The nearest point of the path is followed from place to place, within a tenth of the path, since
    paths may return to where they have been.

    Args:
        places: The body over time, from the beginning of the path on [m], shape (n, 2).
        path: Points of the path [m], shape (m, 2).
    """
    edges = np.diff(path, axis=0)
    lengths = np.hypot(*edges.T)
    real = lengths > 0
    if not real.any():
        return 0.0
    starts, edges, lengths = path[:-1][real], edges[real], lengths[real]
    axes, ways = edges / lengths[:, np.newaxis], np.cumsum(lengths) - lengths
    low, high = np.zeros(len(edges)), lengths.copy()
    low[0], high[-1] = -np.inf, np.inf
    reach = OFF_COURSE * float(lengths.sum())
    done = 0.0
    for place in places:
        first, last = np.searchsorted(ways, (done - reach, done + reach))
        near = slice(max(int(first) - 1, 0), max(int(last), 1))
        away = place - starts[near]
        along = np.clip(np.vecdot(away, axes[near]), low[near], high[near])
        gaps = np.linalg.norm(away - along[:, np.newaxis] * axes[near], axis=1)
        best = int(gaps.argmin())
        done = float(ways[near][best] + along[best])
    return done


def _work(case: Case, recording: Recording) -> float | None:
    if case.engine == NO_ENGINE and case.linkage is not None:
        return None
    if case.engine == NO_ENGINE:
        return float(recording.facts["plan"]["drive_work"] * case.mass * GRAVITY * case.unit_m)
    power = np.abs(recording["drive_force"] * recording["drive_rate"]).sum(axis=1)
    return float(np.trapezoid(power, recording["time"]))


def _clean(value: float) -> float:
    """Remove rounding: a margin of -1e-14 is zero."""
    return round(float(value), 9) + 0.0
