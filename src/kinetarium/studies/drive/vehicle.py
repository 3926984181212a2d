"""A robot as a vehicle: the robot as it was read, and its recorded motion on the ground."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import acos, cos, degrees, sin
from typing import Any

import numpy as np

from kinetarium.control.vehicle.laws import PlanarPose
from kinetarium.control.vehicle.wheeled_base import (
    Chassis,
    WheeledBase,
)
from kinetarium.recording.recording import Recording
from kinetarium.roles.options import RoleOptions
from kinetarium.roles.studied_robot import StudiedRobot
from kinetarium.spatial.arrays import Array
from kinetarium.storage.serialization import from_builtins

_LEAST_YAW = 0.05
"""Commanded yaw rate above which a sample is considered turning [rad/s]."""


@lru_cache(maxsize=16)
def opened(reading: RoleOptions, robot: str, sha256: str = "") -> StudiedRobot:
    """Return a robot and its roles; a file is read once."""
    return reading.open(robot, sha256=sha256)


def recorded_vehicle(facts: Mapping[str, Any]) -> WheeledBase:
    """Return the vehicle of a recording.

    Args:
        facts: The facts of the recording.
    """
    return from_builtins(WheeledBase, facts["vehicle"], where="vehicle")


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """A motion on the ground, in a frame of its own.

    Attributes:
        time: Times [s], shape (n,); zero at the start of the reference.
        position: Positions [m], shape (n, 2).
        heading: Unwrapped headings [rad], shape (n,).
        velocity: Velocities [m/s], shape (n, 2).
        yaw_rate: Yaw rates [rad/s], shape (n,).
        rolled: Angles of the driven wheels, forwards [rad], shape (n, c).
        wheels: Speeds of the driven wheels [rad/s], shape (n, c).
        commands: Commanded speeds of the driven wheels [rad/s], shape (n, c).
        commanded_yaw_rate: The yaw rates that the commands are to cause [rad/s], shape (n,).
        left: Whether each driven wheel is on the left.
        tilt_deg: Largest angle between the robot and the upright [deg].
    """

    time: Array
    position: Array
    heading: Array
    velocity: Array
    yaw_rate: Array
    rolled: Array
    wheels: Array
    commands: Array
    commanded_yaw_rate: Array
    left: tuple[bool, ...]
    tilt_deg: float = 0.0

    @classmethod
    def of(cls, recording: Recording, *, frame: PlanarPose, begin: float) -> "Track":
        """Read a recording from a time on.

        Args:
            frame: The frame on the ground in which the motion is expressed.
            begin: Start of the reference [s].
        """
        base = recorded_vehicle(recording.facts)
        chassis = Chassis(base, recording.facts["multiplier"])
        first = int(np.searchsorted(recording["time"], begin - 1e-9))
        pose, twist = recording["poses"][first:, 0], recording["twists"][first:, 0]
        qw, qx, qy, qz = pose[:, 3:].T
        yaw = np.arctan2(2 * (qw * qz + qx * qy), 1 - 2 * (qy * qy + qz * qz))
        x, y, ahead = base.frame
        # From the root's origin to the vehicle's frame, in the world.
        arm = np.stack([np.cos(yaw) * x - np.sin(yaw) * y, np.sin(yaw) * x + np.cos(yaw) * y])
        spin = twist[:, 5]
        carried = np.stack([-spin * arm[1], spin * arm[0]], axis=-1)
        c, s = cos(frame.heading), sin(frame.heading)
        into = np.array([[c, s], [-s, c]])
        forward = np.array([wheel.forward for wheel in base.driven])
        places = [wheel.place for wheel in base.driven]
        command = np.asarray(recording["command"][first:])
        return cls(
            recording["time"][first:] - begin,
            (pose[:, :2] + arm.T - (frame.x, frame.y)) @ into.T,
            np.unwrap(yaw) + ahead - frame.heading,
            (twist[:, :2] + carried) @ into.T,
            np.asarray(spin),
            np.unwrap(recording["q"][first:][:, places], axis=0) * forward,
            np.asarray(recording["v"][first:])[:, places] * forward,
            command[:, np.array([wheel.command for wheel in base.driven])] * forward,
            chassis.commanded_speeds(command)[1],
            base.left,
            # The vertical component of the root's z axis.
            degrees(acos(np.clip(1 - 2 * (qx**2 + qy**2), -1.0, 1.0).min(initial=1.0))),
        )

    def sides(self, of_wheels: Array) -> tuple[Array, Array]:
        """Return the means of left and of right wheels, shape (n,) each.

        Args:
            of_wheels: `rolled`, `wheels` or `commands`.
        """
        left = np.array(self.left)
        return of_wheels[:, left].mean(axis=1), of_wheels[:, ~left].mean(axis=1)

    @property
    def wheel_speed_error(self) -> float | None:
        """RMS error of the wheel speeds over the RMS of their commands [-]."""
        commanded = float(np.sqrt(np.mean(self.commands**2)))
        off = float(np.sqrt(np.mean((self.wheels - self.commands) ** 2)))
        return off / commanded if commanded > 0 else None


def yaw_ratio(yaw_rate: Array, commanded: Array) -> float | None:
    """Return the actual over the commanded angle, where a turn is commanded [-].

    Args:
        yaw_rate: Yaw rates at equal time intervals [rad/s], shape (n,).
        commanded: Commanded yaw rates [rad/s], shape (n,).
    """
    turning = np.abs(commanded) > _LEAST_YAW
    if not turning.any():
        return None
    along = yaw_rate[turning] * np.sign(commanded[turning])
    return float(along.sum() / np.abs(commanded[turning]).sum())
