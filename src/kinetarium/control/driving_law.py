"""What a vehicle is told on its way along a reference: laws for its two speeds."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol


class Placement(NamedTuple):
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
    """Gives the speeds of a vehicle that is to be somewhere and is somewhere else."""

    def speeds(self, actual: Placement, *, wanted: Placement, reference: Speeds) -> Speeds:
        """Give the speeds to move with.

        Args:
            actual: Where the vehicle is.
            wanted: Where it should be.
            reference: The speeds that it would have there.
        """


@dataclass(frozen=True, slots=True)
class FeedForward:
    """Open loop: the speeds of the reference, wherever the vehicle is."""

    def speeds(self, actual: Placement, *, wanted: Placement, reference: Speeds) -> Speeds:
        """Give the speeds of the reference."""
        return reference
