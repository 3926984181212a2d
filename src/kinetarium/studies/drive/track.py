"""Track: what a robot did on the ground, read from a recording."""

from dataclasses import dataclass
from math import cos, sin

import numpy as np
from numpy.typing import NDArray

from kinetarium.control.differential_drive import DifferentialDrive
from kinetarium.control.driving_law import Placement
from kinetarium.recording.recording import Recording
from kinetarium.spatial.arrays import Array


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """A motion on the ground, in a frame of its own.

    Attributes:
        time: Times [s], shape (n,); zero where the reference begins.
        position: Positions [m], shape (n, 2).
        heading: Unwrapped headings [rad], shape (n,).
        velocity: Velocities [m/s], shape (n, 2).
        yaw_rate: Yaw rates [rad/s], shape (n,).
        rolled: How far the wheels have turned [rad], shape (n, c).
        wheels: Speeds of the wheels [rad/s], shape (n, c).
        commands: Speeds they should have [rad/s], shape (n, c).
        left: Of each wheel, whether it is on the left, shape (c,).
    """

    time: Array
    position: Array
    heading: Array
    velocity: Array
    yaw_rate: Array
    rolled: Array
    wheels: Array
    commands: Array
    left: NDArray[np.bool_]

    @classmethod
    def of(
        cls, recording: Recording, *, frame: Placement, begin: float, left: tuple[bool, ...]
    ) -> "Track":
        """Read a recording from a time on.

        Args:
            recording: The recording.
            frame: The frame on the ground in which the motion is given.
            begin: When the reference begins [s].
            left: Of each wheel, whether it is on the left.
        """
        first = int(np.searchsorted(recording["time"], begin - 1e-9))
        pose, twist = recording["poses"][first:, 0], recording["twists"][first:, 0]
        qw, qx, qy, qz = pose[:, 3:].T
        yaw = np.arctan2(2 * (qw * qz + qx * qy), 1 - 2 * (qy * qy + qz * qz))
        c, s = cos(frame.heading), sin(frame.heading)
        into = np.array([[c, s], [-s, c]])
        return cls(
            recording["time"][first:] - begin,
            (pose[:, :2] - (frame.x, frame.y)) @ into.T,
            np.unwrap(yaw) - frame.heading,
            twist[:, :2] @ into.T,
            np.asarray(twist[:, 5]),
            np.unwrap(recording["q"][first:], axis=0),
            np.asarray(recording["v"][first:]),
            np.asarray(recording["command"][first:]),
            np.array(left),
        )

    def sides(self, of_wheels: Array) -> tuple[Array, Array]:
        """Give the means of left and of right wheels, shape (n,) each.

        Args:
            of_wheels: `rolled`, `wheels` or `commands`.
        """
        return of_wheels[:, self.left].mean(axis=1), of_wheels[:, ~self.left].mean(axis=1)

    def commanded_yaw_rate(self, drive: DifferentialDrive) -> Array:
        """Give the yaw rates that the commands stand for [rad/s], shape (n,)."""
        return drive.vehicle_speeds(*self.sides(self.commands))[1]

    @property
    def wheel_speed_error(self) -> float | None:
        """Root mean square of what wheels are off by, over that of their commands [-]."""
        commanded = float(np.sqrt(np.mean(self.commands**2)))
        off = float(np.sqrt(np.mean((self.wheels - self.commands) ** 2)))
        return off / commanded if commanded > 0 else None
