"""What a vehicle is told on its way along a reference: laws for its two speeds."""

from dataclasses import dataclass
from math import cos, sin
from typing import NamedTuple, Protocol


class PlanarPose(NamedTuple):
    """Where a vehicle is on the ground.

    Attributes:
        x: Position [m].
        y: Position [m].
        heading: Angle from x to where it faces [rad].
    """

    x: float
    y: float
    heading: float


class Speeds(NamedTuple):
    """How a vehicle moves.

    Attributes:
        v: Forward speed [m/s].
        w: Yaw rate [rad/s].
    """

    v: float
    w: float


class DrivingLaw(Protocol):
    """Computes the speeds of a vehicle that is to be somewhere and is somewhere else."""

    def speeds(self, actual: PlanarPose, *, wanted: PlanarPose, reference: Speeds) -> Speeds:
        """Return the speeds to move with.

        Args:
            actual: Where the vehicle is.
            wanted: Where it should be.
            reference: The speeds that it would have there.
        """


@dataclass(frozen=True, slots=True)
class FeedForward:
    """Open loop: the speeds of the reference, wherever the vehicle is."""

    def speeds(self, actual: PlanarPose, *, wanted: PlanarPose, reference: Speeds) -> Speeds:
        """Return the speeds of the reference."""
        return reference


@dataclass(frozen=True, slots=True)
class Kanayama:
    """The law and its gains.

    Attributes:
        along: Gain Kx on the error along the vehicle [1/s].
        aside: Gain Ky on the error aside of it [1/m^2].
        turn: Gain Kt on the error of its heading [1/m].
    """

    along: float = 1.0
    aside: float = 4.0
    turn: float = 4.0

    def speeds(self, actual: PlanarPose, *, wanted: PlanarPose, reference: Speeds) -> Speeds:
        """Return the speeds that take the errors back.

        Args:
            actual: Where the vehicle is.
            wanted: Where it should be.
            reference: The speeds that it would have there.
        """
        c, s = cos(actual.heading), sin(actual.heading)
        dx, dy = wanted.x - actual.x, wanted.y - actual.y
        e_x, e_y, e_t = c * dx + s * dy, c * dy - s * dx, wanted.heading - actual.heading
        return Speeds(
            reference.v * cos(e_t) + self.along * e_x,
            reference.w + reference.v * (self.aside * e_y + self.turn * sin(e_t)),
        )
