"""Identification of the track multiplier from a steady turn."""

from dataclasses import dataclass
from math import isnan, pi

import numpy as np

from kinetarium.control.vehicle.wheeled_base import DifferentialDrive, WheeledBase
from kinetarium.recording.recording import Recording, Row
from kinetarium.spatial.arrays import Array
from kinetarium.studies.drive.calibrate.config import CalibrateCase
from kinetarium.studies.drive.calibrate.run import ORIGIN, STEADY
from kinetarium.studies.drive.coulomb import coulomb_multiplier
from kinetarium.studies.drive.profiles import FRICTION
from kinetarium.studies.drive.run import SETTLE
from kinetarium.studies.drive.vehicle import Track, recorded_vehicle

_EARLY = 4.0
"""A common measuring time [s]; with a friction pyramid it covers some headings only."""
_QUARTER = pi / 2
"""Period of a friction pyramid over the heading [rad]; whole periods are evaluated."""


def score(case: CalibrateCase, recording: Recording) -> Row:
    """Identify the track multiplier of a steady turn.

    Returns:
        track_multiplier: Factor of the track width with which the wheels' travel yields the
            angle turned.
        residual: RMS error of the yaw rates with it, relative to the yaw rates.
        lowest, highest: Minimum and maximum of the multiplier over the headings.
        over_first_4s: The multiplier over the first four steady seconds, or over all if they
            are fewer.
        yaw_ratio: Actual yaw rate over that commanded with the profile's multiplier.
        wheel_speed_error: RMS error of the wheel speeds, relative to their commands.
        ideal_multiplier: The multiplier without an engine, friction 1.
    """
    base = recorded_vehicle(recording.facts)
    found = identify(steady_track(recording), base.drive(1.0))
    ideal = ideal_multiplier(base, v=case.v, w=case.w)
    if found is None:
        names = ("track_multiplier", "residual", "lowest", "highest", "over_first_4s")
        unknown = dict.fromkeys((*names, "yaw_ratio", "wheel_speed_error"))
        return {**unknown, "ideal_multiplier": ideal}
    return {
        "track_multiplier": found.multiplier,
        "residual": found.residual,
        "lowest": float(found.by_heading.min()),
        "highest": float(found.by_heading.max()),
        "over_first_4s": found.early,
        "yaw_ratio": found.yaw_rate / case.w,
        "wheel_speed_error": found.wheel_speed_error,
        "ideal_multiplier": ideal,
    }


def ideal_multiplier(base: WheeledBase, *, v: float, w: float) -> float | None:
    """Return the multiplier of Coulomb friction, or 1 of wheels that roll; None if unknown [-]."""
    if not base.slips:
        return 1.0
    found = coulomb_multiplier(base, v=v, w=w, friction=FRICTION)
    return None if isnan(found) else found


@dataclass(frozen=True, slots=True, eq=False)
class Identified:
    """The multiplier of a steady turn.

    Attributes:
        multiplier: The track multiplier [-].
        early: The same over the first four seconds alone [-]; None if it did not turn.
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


def steady_track(recording: Recording) -> Track:
    """Return the steady part of a turn."""
    return Track.of(recording, frame=ORIGIN, begin=SETTLE + STEADY)


def identify(track: Track, drive: DifferentialDrive) -> Identified | None:
    """Identify the multiplier over whole quarter turns, or over all of a shorter turn.

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
    # With a multiplier of 1 the wheels' travel yields the angle without skidding.
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
    # Noisy headings are not monotonic; the last time at which each was passed is.
    rising = np.maximum.accumulate(turned)
    rolled = np.interp(edges, rising + np.arange(len(rising)) * 1e-12, ideal)
    return (edges[1:] + edges[:-1]) / 2, np.diff(rolled) / np.diff(edges)
