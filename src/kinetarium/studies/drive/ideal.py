"""The ideal drive without an engine: ramped open-loop commands and Coulomb friction.

Two wheels roll without slip. Four wheels are in the steady skid of their
momentary speeds (`coulomb.py`): transients are neglected, which a slow vehicle
completes within centimetres.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from math import isnan
from statistics import median
from typing import Any

import numpy as np

from kinetarium.batch.outcomes import Outcomes
from kinetarium.control.vehicle.kinematics import SpeedRamp
from kinetarium.control.vehicle.reference import DrivingReference
from kinetarium.metrics import cross_track
from kinetarium.recording.recording import Recording
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.studies.drive.config import DriveCase, PathControl, PathName, Robot
from kinetarium.studies.drive.coulomb import coulomb_skid
from kinetarium.studies.drive.profiles import CONTROL_RATE
from kinetarium.studies.drive.run import HOLD, REFERENCES, SAMPLE_RATE
from kinetarium.studies.drive.score import path_points, track_of, yaw_ratio
from kinetarium.studies.drive.vehicle import vehicle

_NODE = 10
"""Number of commands between two solutions of the skid, which is interpolated linearly."""


@dataclass(frozen=True, slots=True, eq=False)
class IdealDrive:
    """A drive in open loop, with a sample for each command.

    Attributes:
        position: Position of the robot at the time of the command [m], shape (n, 2).
        heading: Its unwrapped heading at that time [rad], shape (n,).
        yaw_rate: Its yaw rate until the next command [rad/s], shape (n,).
        commanded: The commanded yaw rate [rad/s], shape (n,).
    """

    position: Array
    heading: Array
    yaw_rate: Array
    commanded: Array


@lru_cache(maxsize=64)
def ideal_drive(
    robot: Robot, path: PathName, *, friction: float, wheel_damping: float, multiplier: float
) -> IdealDrive:
    """Return the ideal open-loop motion of a robot.

    Args:
        friction: Friction coefficient between wheels and ground [-].
        wheel_damping: Gain of the wheels' servos [N m s/rad].
        multiplier: Track-width multiplier of skidding wheels [-].
    """
    commands = _commands(REFERENCES[path])
    moving = vehicle(robot)
    drive = moving.drive(multiplier)

    @cache
    def skid(v: float, w: float) -> tuple[float, float, float]:
        if not w or not moving.skids:
            return v, 0.0, w
        left, right = drive.wheel_speeds(v, w)
        found = coulomb_skid(
            moving,
            left=left,
            right=right,
            friction=friction,
            wheel_damping=wheel_damping,
            effort=moving.model.moving_joints[0].limits.effort,
        )
        return found.forward, found.sideways, found.yaw_rate

    bend = np.abs(np.diff(commands, n=2, axis=0, prepend=commands[:1], append=commands[-1:]))
    kinks = np.flatnonzero((bend > 1e-3).any(axis=1))
    nodes = np.union1d(np.arange(0, len(commands), _NODE), [*kinks, len(commands) - 1])
    solved = np.array([skid(v, w) for v, w in commands[nodes].tolist()])
    every = np.arange(len(commands))
    forward, sideways, yaw_rate = (np.interp(every, nodes, column) for column in solved.T)
    turned = np.append(0.0, np.cumsum(yaw_rate) / CONTROL_RATE)
    # The heading in the middle of a period with constant speeds.
    middle = (turned[1:] + turned[:-1]) / 2
    c, s = np.cos(middle), np.sin(middle)
    steps = np.stack([forward * c - sideways * s, forward * s + sideways * c], axis=-1)
    position = np.vstack([np.zeros(2), np.cumsum(steps, axis=0) / CONTROL_RATE])
    return IdealDrive(
        frozen(position[:-1]), frozen(turned[:-1]), frozen(yaw_rate), frozen(commands[:, 1])
    )


def _commands(reference: DrivingReference) -> Array:
    """Return the open-loop commands [m/s and rad/s], shape (n, 2)."""
    times = np.arange(0.0, reference.duration + HOLD, 1 / CONTROL_RATE)
    ramp, now = SpeedRamp(), (0.0, 0.0)
    speeds = np.empty((len(times), 2))
    for k, wanted in enumerate(reference.sample(times)[1].tolist()):
        speeds[k] = now = ramp.toward(wanted, now=now, period=1 / CONTROL_RATE)
    return speeds


_STRIDE = round(CONTROL_RATE / SAMPLE_RATE)
"""Commands between two samples."""


@dataclass(frozen=True, slots=True)
class AgainstIdeal:
    """Comparison of an open-loop case with the ideal drive: medians over its starts.

    Attributes:
        distance: Root mean square distance from the ideal drive at equal times [m].
        yaw_off: Yaw ratio over that of the ideal drive, less one [-].
        yaw_ratio: Yaw ratio of the ideal drive [-].
        cross_track: Root mean square distance of the ideal drive from the path [m].
    """

    distance: float
    yaw_off: float
    yaw_ratio: float
    cross_track: float


Compared = tuple[DriveCase, Outcomes[DriveCase], AgainstIdeal | None]
"""A case, its starts, and their comparison with the ideal drive."""


def against_ideal(case: DriveCase, results: Outcomes[DriveCase]) -> AgainstIdeal | None:
    """Compare all starts of a case; None for closed loop, or if there is nothing to compare."""
    recordings = {o.case: o.recording for o in results if o.recording is not None}
    ratio = results.median("yaw_ratio")
    if case.control is PathControl.CLOSED or not recordings or ratio is None:
        return None
    ideal = ideal_of(case, next(iter(recordings.values())).facts)
    turned = yaw_ratio(ideal.yaw_rate, ideal.commanded)
    if not turned or isnan(turned):
        return None
    away = cross_track(ideal.position, path_points(REFERENCES[case.path]))
    return AgainstIdeal(
        distance=median(_distance(each, recording) for each, recording in recordings.items()),
        yaw_off=ratio / turned - 1,
        yaw_ratio=turned,
        cross_track=float(np.sqrt(np.mean(away**2))),
    )


def ideal_of(case: DriveCase, facts: Mapping[str, Any]) -> IdealDrive:
    """Return the ideal drive of a case.

    Args:
        facts: The facts of one of its recordings.
    """
    return ideal_drive(
        case.robot,
        case.path,
        friction=case.friction,
        wheel_damping=facts["wheel_damping"],
        multiplier=facts["multiplier"],
    )


def _distance(case: DriveCase, recording: Recording) -> float:
    driven = track_of(case, recording).position
    ideal = ideal_of(case, recording.facts).position[::_STRIDE]
    count = min(len(driven), len(ideal))
    away = np.linalg.norm(driven[:count] - ideal[:count], axis=1)
    return float(np.sqrt(np.mean(away**2)))
