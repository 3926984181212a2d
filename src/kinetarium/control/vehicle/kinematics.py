"""Differential drive: speeds of a vehicle and of its left and right wheels."""

from dataclasses import dataclass
from typing import TypeVar

from kinetarium.spatial.arrays import Array

Number = TypeVar("Number", float, Array)


@dataclass(frozen=True, slots=True)
class DifferentialDrive:
    """Kinematics of a vehicle whose wheels do not slip.

    left, right = (v -+ w track multiplier / 2) / wheel_radius (Lee et al. 2023, eq. 1).
    A skid-steered vehicle turns as if its track were wider, by the multiplier.

    Attributes:
        wheel_radius: Radius of the wheels [m].
        track: Distance between the wheels of the two sides [m].
        multiplier: Effective track over the geometric one [-].
    """

    wheel_radius: float
    track: float
    multiplier: float = 1.0

    def wheel_speeds(self, v: Number, w: Number) -> tuple[Number, Number]:
        """Return the speeds of the left and right wheels [rad/s].

        Args:
            v: Forward speed [m/s].
            w: Yaw rate [rad/s].
        """
        aside = w * (self.track * self.multiplier / 2)
        return (v - aside) / self.wheel_radius, (v + aside) / self.wheel_radius

    def vehicle_speeds(self, left: Number, right: Number) -> tuple[Number, Number]:
        """Return forward speed [m/s] and yaw rate [rad/s] for speeds of the wheels [rad/s]."""
        wide = self.track * self.multiplier
        return (left + right) * (self.wheel_radius / 2), (right - left) * (self.wheel_radius / wide)


@dataclass(frozen=True, slots=True)
class SpeedRamp:
    """Acceleration limits of commanded speeds.

    Attributes:
        linear: Of the forward speed [m/s^2].
        angular: Of the yaw rate [rad/s^2].
    """

    linear: float = 3.0
    angular: float = 6.0

    def toward(
        self, speeds: tuple[float, float], *, now: tuple[float, float], period: float
    ) -> tuple[float, float]:
        """Return the speeds nearest to the desired ones that can be reached within a period.

        Args:
            speeds: Desired forward speed [m/s] and yaw rate [rad/s].
            now: The current ones.
            period: Time between two commands [s].
        """
        return (
            _nearest(speeds[0], now=now[0], most=self.linear * period),
            _nearest(speeds[1], now=now[1], most=self.angular * period),
        )


def _nearest(wanted: float, *, now: float, most: float) -> float:
    return min(max(wanted, now - most), now + most)
