"""WheelDriver: the controller that drives a vehicle's wheels along a reference."""

from math import atan2

import numpy as np

from kinetarium.control.interface import Measurement
from kinetarium.control.vehicle.laws import DrivingLaw, PlanarPose, Speeds
from kinetarium.control.vehicle.reference import DrivingReference
from kinetarium.control.vehicle.wheeled_base import Chassis, placed
from kinetarium.spatial.arrays import Array


class WheelDriver:
    """Computes the commands of a vehicle along a reference, at a fixed rate.

    The vehicle is the first of the floating solids. Its speeds follow the law within the limits
    of its chassis and wheels, from rest; joints that are not part of it stay where they are.
    """

    def __init__(
        self,
        reference: DrivingReference,
        *,
        law: DrivingLaw,
        chassis: Chassis,
        wait: float,
        rate: float = 100.0,
    ) -> None:
        """Sample the reference once.

        Args:
            chassis: The vehicle.
            wait: Time at rest before the reference begins [s].
            rate: Control rate [Hz].
        """
        self._rate = rate
        self._law = law
        self._chassis = chassis
        self._frame = PlanarPose(*chassis.base.frame)
        count = round((wait + reference.duration) * rate) + 1
        placements, speeds = reference.sample(np.arange(count + 1) / rate - wait)
        self._placements = [PlanarPose(*row) for row in placements.tolist()]
        self._speeds = [Speeds(*row) for row in speeds.tolist()]
        self._now = (0.0, 0.0)

    @property
    def rate(self) -> float:
        """Control rate [Hz]."""
        return self._rate

    def reset(self) -> None:
        """Set the speeds to zero."""
        self._now = (0.0, 0.0)

    def update(self, t: float, measurement: Measurement) -> Array:
        """Return the commands of all joints, in the order of the layout's commands."""
        k = min(round(t * self._rate), len(self._speeds) - 1)
        actual = placed(self._frame, planar_pose(measurement.poses[0]))
        wanted = self._law.speeds(actual, wanted=self._placements[k], reference=self._speeds[k])
        self._now = self._chassis.toward(wanted, now=self._now, period=1 / self._rate)
        return self._chassis.commands(self._now)


def planar_pose(pose: Array) -> PlanarPose:
    """Return position and heading of a vehicle on the ground.

    Args:
        pose: Its position [m] and quaternion wxyz, shape (7,).
    """
    x, y, _, qw, qx, qy, qz = pose.tolist()
    return PlanarPose(x, y, atan2(2 * (qw * qz + qx * qy), 1 - 2 * (qy * qy + qz * qz)))
