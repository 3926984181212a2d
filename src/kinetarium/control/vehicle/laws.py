"""Tracking laws of a vehicle: forward speed and yaw rate from its pose and a reference."""

from dataclasses import dataclass
from math import cos, sin
from typing import NamedTuple, Protocol


class PlanarPose(NamedTuple):
    """Position and heading of a vehicle on the ground.

    Attributes:
        x: Position [m].
        y: Position [m].
        heading: Angle from the x axis to its forward direction [rad].
    """

    x: float
    y: float
    heading: float


class Speeds(NamedTuple):
    """Speeds of a vehicle.

    Attributes:
        v: Forward speed [m/s].
        w: Yaw rate [rad/s].
    """

    v: float
    w: float


class DrivingLaw(Protocol):
    """Computes the speeds of a vehicle from its pose and its reference."""

    def speeds(self, actual: PlanarPose, *, wanted: PlanarPose, reference: Speeds) -> Speeds:
        """Return the commanded speeds.

        Args:
            actual: The vehicle's pose.
            wanted: The pose of the reference.
            reference: The speeds of the reference.
        """


@dataclass(frozen=True, slots=True)
class FeedForward:
    """Open loop: the speeds of the reference."""

    def speeds(self, actual: PlanarPose, *, wanted: PlanarPose, reference: Speeds) -> Speeds:
        """Return the speeds of the reference."""
        return reference


@dataclass(frozen=True, slots=True)
class Kanayama:
    """The tracking law of Kanayama et al. (1990).

    Attributes:
        along: Gain Kx of the longitudinal error [1/s].
        aside: Gain Ky of the lateral error [1/m^2].
        turn: Gain Kt of the heading error [1/m].
    """

    along: float = 1.0
    aside: float = 4.0
    turn: float = 4.0

    def speeds(self, actual: PlanarPose, *, wanted: PlanarPose, reference: Speeds) -> Speeds:
        """Return the speeds that reduce the errors.

        Args:
            actual: The vehicle's pose.
            wanted: The pose of the reference.
            reference: The speeds of the reference.
        """
        e_x, e_y, e_t = _errors(actual, wanted)
        return Speeds(
            reference.v * cos(e_t) + self.along * e_x,
            reference.w + reference.v * (self.aside * e_y + self.turn * sin(e_t)),
        )


@dataclass(frozen=True, slots=True)
class LegTracking:
    """Kanayama's law with a heading error that counts at any speed, also while turning in place.

    w = w_r + Ky v_r e_y + Kt sin(e_t); with Kanayama's own term, Kt v_r sin(e_t), a vehicle that
    turns in place has no feedback of its heading. The gains lose a lateral error within legs of
    less than a metre.

    Attributes:
        along: Gain Kx of the longitudinal error [1/s].
        aside: Gain Ky of the lateral error [1/m^2].
        turn: Gain Kt of the heading error [1/s].
    """

    along: float = 2.0
    aside: float = 12.0
    turn: float = 4.0

    def speeds(self, actual: PlanarPose, *, wanted: PlanarPose, reference: Speeds) -> Speeds:
        """Return the speeds that reduce the errors.

        Args:
            actual: The vehicle's pose.
            wanted: The pose of the reference.
            reference: The speeds of the reference.
        """
        e_x, e_y, e_t = _errors(actual, wanted)
        return Speeds(
            reference.v * cos(e_t) + self.along * e_x,
            reference.w + reference.v * self.aside * e_y + self.turn * sin(e_t),
        )


def _errors(actual: PlanarPose, wanted: PlanarPose) -> tuple[float, float, float]:
    """Return the errors ahead, aside [m] and of the heading [rad] in the vehicle's frame."""
    c, s = cos(actual.heading), sin(actual.heading)
    dx, dy = wanted.x - actual.x, wanted.y - actual.y
    return c * dx + s * dy, c * dy - s * dx, wanted.heading - actual.heading
