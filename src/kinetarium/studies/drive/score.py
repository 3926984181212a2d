"""Measures of a drive."""

from math import degrees

import numpy as np

from kinetarium.control.vehicle.laws import PlanarPose
from kinetarium.control.vehicle.reference import DrivingReference, SquareReference
from kinetarium.metrics import cross_track, out_of_round, path_curvature, total_variation
from kinetarium.recording.recording import Recording, Row
from kinetarium.spatial.arrays import Array
from kinetarium.studies.drive.config import DriveCase, PathControl, PathName
from kinetarium.studies.drive.ideal import IdealDrive, ideal_of
from kinetarium.studies.drive.profiles import CONTROL_RATE
from kinetarium.studies.drive.run import HOLD, REFERENCES, SAMPLE_RATE, SETTLE, start_placement
from kinetarium.studies.drive.vehicle import Track, recorded_vehicle, yaw_ratio

RECOVERED = 0.05
"""Cross-track error within which a robot has recovered from a corner [m]."""
TURN_END = 0.3
"""Time after a corner of the reference at which the heading is read [s], after the ramps."""
CURVATURE_WINDOW = 1.0
"""Averaging window of the velocity, whose direction is then taken [s]."""
TOPPLED = 45.0
"""Tilt from which on a robot has fallen over [deg]."""
SLOWEST = 0.1
"""Speed above which the curvature of a path is defined [m/s]."""


def score(case: DriveCase, recording: Recording) -> Row:
    """Compare a drive with its reference.

    Returns:
        drive_type: How the base turns: differential, skid-steer, steered.
        cross_track_rmse_m, cross_track_max_m: Distance from the nearest point of the path.
        final_error_m, final_heading_deg: Error of the final pose.
        yaw_ratio: Actual over commanded angle, where a turn is commanded.
        curvature_tv: Total variation of the driven path's curvature [1/m]; None on the square.
        out_of_round_m: Distance of the driven path from the circle that fits it best; None
            elsewhere.
        corners_deg: Angle turned in each corner of the square; None elsewhere.
        recovery_s: Longest time after a corner until the cross-track error stays small; None
            elsewhere, and if it does not before the next corner.
        wheel_speed_error: RMS error of the wheel speeds, relative to their commands.
        off_ideal_m: RMS distance from the ideal drive at equal times, in open loop on level
            ground; None elsewhere.
        ideal_yaw_ratio: The yaw ratio of the ideal drive; None where there is none.
        tilt_deg: Largest angle between the robot and the upright.
        toppled: Whether it fell over: such a run counts as failed.
    """
    track = track_of(case, recording)
    reference = REFERENCES[case.path]
    if len(track.time) < 2:
        return dict.fromkeys(_NAMES)
    placements, _ = reference.sample(track.time)
    square = reference if isinstance(reference, SquareReference) else None
    error = cross_track(track.position, path_points(reference))
    ended = track.time[-1] >= reference.duration + HOLD - 1 / SAMPLE_RATE
    ideal = ideal_of(case, recording.facts)
    return {
        "drive_type": recorded_vehicle(recording.facts).kind.value,
        "cross_track_rmse_m": float(np.sqrt(np.mean(error**2))),
        "cross_track_max_m": float(error.max()),
        "final_error_m": _distance(track.position[-1], placements[-1]) if ended else None,
        "final_heading_deg": degrees(track.heading[-1] - placements[-1, 2]) if ended else None,
        "yaw_ratio": yaw_ratio(track.yaw_rate, track.commanded_yaw_rate),
        "curvature_tv": None if square else driven_curvature_variation(track, reference),
        "out_of_round_m": out_of_round(track.position) if case.path is PathName.CIRCLE else None,
        "corners_deg": _corners(track, square) if square else None,
        "recovery_s": _recovery(track.time, error, square) if square else None,
        "wheel_speed_error": track.wheel_speed_error,
        "off_ideal_m": _off(track, ideal) if ideal else None,
        "ideal_yaw_ratio": yaw_ratio(ideal.yaw_rate, ideal.commanded) if ideal else None,
        "tilt_deg": track.tilt_deg,
        "toppled": track.tilt_deg > TOPPLED,
    }


_NAMES = (
    "drive_type", "cross_track_rmse_m", "cross_track_max_m", "final_error_m", "final_heading_deg",
    "yaw_ratio", "curvature_tv", "out_of_round_m", "corners_deg", "recovery_s",
    "wheel_speed_error", "off_ideal_m", "ideal_yaw_ratio", "tilt_deg", "toppled",
)  # fmt: skip


def track_of(case: DriveCase, recording: Recording) -> Track:
    """Return the motion in the frame in which it is scored.

    A robot in open loop does not know its initial pose: it is scored relative to it.
    One in closed loop is scored in the frame of the reference.
    """
    start = start_placement(case.start, seed=case.seed)
    frame = start if case.control is PathControl.OPEN else PlanarPose(0.0, 0.0, 0.0)
    return Track.of(recording, frame=frame, begin=SETTLE)


def path_points(reference: DrivingReference) -> Array:
    """Return points on a reference, about two centimetres apart [m], shape (n, 2)."""
    times = np.append(np.arange(0.0, reference.duration, 2 / SAMPLE_RATE), reference.duration)
    return reference.sample(times)[0][:, :2]


def driven_curvature_variation(track: Track, reference: DrivingReference) -> float:
    """Return the total variation of the curvature of a driven path [1/m].

    The first and the last second of the reference, with the ramps, are excluded.
    """
    steady = (track.time >= 1.0) & (track.time <= reference.duration - 1.0)
    curvature = path_curvature(
        track.velocity[steady], period=1 / SAMPLE_RATE, window=CURVATURE_WINDOW, slowest=SLOWEST
    )
    return total_variation(curvature)


def reference_curvature_variation(path: PathName) -> float:
    """Return the total variation of the curvature of a reference, computed likewise [1/m]."""
    reference = REFERENCES[path]
    times = np.arange(1.0, reference.duration - 1.0, 1 / SAMPLE_RATE)
    placements, speeds = reference.sample(times)
    ways = np.stack([np.cos(placements[:, 2]), np.sin(placements[:, 2])], axis=-1)
    curvature = path_curvature(
        speeds[:, :1] * ways, period=1 / SAMPLE_RATE, window=CURVATURE_WINDOW, slowest=SLOWEST
    )
    return total_variation(curvature)


def _corners(track: Track, reference: SquareReference) -> list[float | None]:
    return [
        degrees(np.interp(end + TURN_END, track.time, track.heading)
                - np.interp(begin, track.time, track.heading))
        if track.time[-1] > end + TURN_END else None
        for begin, end in reference.corners
    ]  # fmt: skip


def _recovery(time: Array, error: Array, reference: SquareReference) -> float | None:
    """Return the longest time after a corner until the error stays small on the next edge."""
    begins = [*reference.corners[1:, 0], reference.duration]
    longest = 0.0
    for end, following in zip(reference.corners[:, 1], begins, strict=True):
        on_edge = (time >= end) & (time <= following)
        if time[-1] < following or error[on_edge][-1] > RECOVERED:
            return None
        outside = np.flatnonzero(error[on_edge] > RECOVERED)
        if outside.size:
            longest = max(longest, float(time[on_edge][outside[-1]] - end))
    return longest


_STRIDE = round(CONTROL_RATE / SAMPLE_RATE)
"""Commands of the ideal drive between two samples."""


def _off(track: Track, ideal: IdealDrive) -> float:
    """Return the root mean square distance from the ideal drive at equal times [m]."""
    wanted = ideal.position[::_STRIDE]
    count = min(len(track.position), len(wanted))
    away = np.linalg.norm(track.position[:count] - wanted[:count], axis=1)
    return float(np.sqrt(np.mean(away**2)))


def _distance(position: Array, placement: Array) -> float:
    return float(np.hypot(*(position - placement[:2])))
