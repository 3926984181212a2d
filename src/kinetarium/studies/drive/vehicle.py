"""A robot as a vehicle: its wheels, and which of them are on the left."""

from dataclasses import dataclass
from math import cos, sin

import numpy as np
from numpy.typing import NDArray

from kinetarium.control.vehicle.kinematics import DifferentialDrive
from kinetarium.control.vehicle.laws import PlanarPose
from kinetarium.model.load import load_robot
from kinetarium.model.robot import Cylinder, RobotModel, Sphere
from kinetarium.recording.recording import Recording
from kinetarium.spatial.arrays import Array
from kinetarium.studies.drive.config import Robot

SKID_MULTIPLIER = 1.875
"""Track-width multiplier of skidding wheels: wheel_separation_multiplier of
Clearpath's husky_control, and the paper's mu [-]."""


@dataclass(frozen=True, slots=True, eq=False)
class Vehicle:
    """A wheeled robot.

    Attributes:
        model: The robot.
        wheels: Names of the wheel links, in the order of the commands.
        left: Whether each wheel is on the left.
        wheel_radius: Radius of the wheels [m].
        track: Track width [m].
    """

    model: RobotModel
    wheels: tuple[str, ...]
    left: tuple[bool, ...]
    wheel_radius: float
    track: float

    @property
    def skids(self) -> bool:
        """Whether it cannot turn without skidding: it has more than one axle."""
        return len(self.wheels) > 2

    def drive(self, multiplier: float = SKID_MULTIPLIER) -> DifferentialDrive:
        """Return its kinematics.

        Args:
            multiplier: Track-width multiplier if the wheels skid [-].
        """
        wider = multiplier if self.skids else 1.0
        return DifferentialDrive(self.wheel_radius, self.track, wider)


def vehicle(robot: Robot) -> Vehicle:
    """Return a robot of the catalogue as a vehicle."""
    model = load_robot(robot.value)
    joints = model.moving_joints
    aside = [float(joint.X_PJ[1, 3]) for joint in joints]
    shape = model.link(joints[0].child).collisions[0].shape
    assert isinstance(shape, Cylinder | Sphere)
    return Vehicle(
        model,
        tuple(joint.child for joint in joints),
        tuple(y > 0 for y in aside),
        shape.radius,
        max(aside) - min(aside),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """A motion on the ground, in a frame of its own.

    Attributes:
        time: Times [s], shape (n,); zero at the start of the reference.
        position: Positions [m], shape (n, 2).
        heading: Unwrapped headings [rad], shape (n,).
        velocity: Velocities [m/s], shape (n, 2).
        yaw_rate: Yaw rates [rad/s], shape (n,).
        rolled: Angles of the wheels [rad], shape (n, c).
        wheels: Speeds of the wheels [rad/s], shape (n, c).
        commands: Commanded speeds of the wheels [rad/s], shape (n, c).
        left: Whether each wheel is on the left, shape (c,).
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
        cls, recording: Recording, *, frame: PlanarPose, begin: float, left: tuple[bool, ...]
    ) -> "Track":
        """Read a recording from a time on.

        Args:
            frame: The frame on the ground in which the motion is expressed.
            begin: Start of the reference [s].
            left: Whether each wheel is on the left.
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
        """Return the means of left and of right wheels, shape (n,) each.

        Args:
            of_wheels: `rolled`, `wheels` or `commands`.
        """
        return of_wheels[:, self.left].mean(axis=1), of_wheels[:, ~self.left].mean(axis=1)

    def commanded_yaw_rate(self, drive: DifferentialDrive) -> Array:
        """Return the commanded yaw rates [rad/s], shape (n,)."""
        return drive.vehicle_speeds(*self.sides(self.commands))[1]

    @property
    def wheel_speed_error(self) -> float | None:
        """RMS error of the wheel speeds over the RMS of their commands [-]."""
        commanded = float(np.sqrt(np.mean(self.commands**2)))
        off = float(np.sqrt(np.mean((self.wheels - self.commands) ** 2)))
        return off / commanded if commanded > 0 else None
