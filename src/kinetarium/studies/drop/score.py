"""Measures of a fall."""

from math import degrees

import numpy as np

from kinetarium.recording.recording import Recording, Row
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import rotation_from_quaternion
from kinetarium.studies.drop.cases import GRAVITY, fall_time, fallen, impact_speed
from kinetarium.studies.drop.config import Case

_REST_SPEED = 1e-3
"""Speed below which the box is considered at rest [m/s]."""


def score(case: Case, recording: Recording) -> Row:
    """Compare a fall with the closed form, and measure how the box rests.

    Returns:
        fall_error_m: Largest difference from the closed form before the impact.
        first_order_m: Expected error of semi-implicit Euler, g t dt / 2.
        impact_speed_error: Relative error of the greatest speed.
        bounce_m: Height of the lower face above the ground after the first contact.
        settle_s: Time from the impact of the closed form to rest, 0 for a box that stops where
            it lands; None if never.
        rest_depth_m: Penetration depth at the end.
        rest_tilt_deg, drift_m: Tilt and horizontal displacement at the end.
    """
    time, height = recording["time"], lower_face(case, recording)
    impact = fall_time(case.height)
    falling = time < impact - case.timestep
    error = np.abs(height - (case.height - fallen(time)))[falling]
    speed = np.linalg.norm(recording["twists"][:, 0, :3], axis=1)
    after = height[time > impact + case.timestep]
    x, y = recording["poses"][-1, 0, :2]
    return {
        "fall_error_m": float(error.max()) if error.size else None,
        "first_order_m": GRAVITY * impact * case.timestep / 2,
        "impact_speed_error": float(speed.max()) / impact_speed(case.height) - 1,
        "bounce_m": max(0.0, float(after.max())) if after.size else None,
        "settle_s": _settling(time, speed, impact=impact),
        "rest_depth_m": -float(height[-1]),
        "rest_tilt_deg": _tilt(recording["poses"][-1, 0, 3:]),
        "drift_m": float(np.hypot(x, y)),
    }


def lower_face(case: Case, recording: Recording) -> Array:
    """Return the height of the centre of the lower face [m], shape (samples,)."""
    height: Array = recording["poses"][:, 0, 2] - case.size / 2
    return height


def _settling(time: Array, speed: Array, *, impact: float) -> float | None:
    moving = np.flatnonzero(speed > _REST_SPEED)
    last = int(moving[-1]) if moving.size else 0
    return max(0.0, float(time[last]) - impact) if last + 1 < time.size else None


def _tilt(quaternion: Array) -> float:
    """Return the angle between the box's own z axis and the vertical [deg]."""
    upright = float(rotation_from_quaternion(quaternion)[2, 2])
    return degrees(np.arccos(np.clip(upright, -1.0, 1.0)))
