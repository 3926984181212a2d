"""Terrain: level ground with a slope and low steps on it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kinetarium.legs.error import LegsError, checked

if TYPE_CHECKING:  # a terrain is part of a command's flags, whose help loads no NumPy
    from kinetarium.spatial.arrays import Array


@dataclass(frozen=True, slots=True)
class Step:
    """A block on the ground.

    Attributes:
        x0: Where it begins along x [unit].
        x1: Where it ends [unit].
        y0: Where it begins along y [unit].
        y1: Where it ends [unit].
        height: How high it is [unit].
    """

    x0: float
    x1: float
    y0: float
    y1: float
    height: float


@dataclass(frozen=True, slots=True)
class Terrain:
    """The ground z = 0, a slope that rises out of it along x, and steps; the highest counts.

    Attributes:
        slope_deg: Angle of the slope, not negative [deg].
        slope_from: Where the slope begins along x [unit].
        steps: The blocks; one that is higher than a foot is lifted is an obstacle, on which
            no foot is put.
        clearance: How far from the edge of a block a foot is put [unit].
    """

    slope_deg: float = 0.0
    slope_from: float = 0.0
    steps: tuple[Step, ...] = ()
    clearance: float = 2.0

    def __post_init__(self) -> None:
        """Refuse what is no ground.

        Raises:
            LegsError: If a value makes no sense.
        """
        checked("slope_deg of the terrain", self.slope_deg, low=0.0, high=45.0)
        checked("slope_from of the terrain", self.slope_from, low=-1e6, high=1e6)
        checked("clearance of the terrain", self.clearance, low=0.0, high=1e6)
        for step in self.steps:
            if not (step.x0 < step.x1 and step.y0 < step.y1 and 0 < step.height <= 1e6):
                raise LegsError(f"a step must be longer, wider and higher than nothing: {step}")

    @property
    def level(self) -> bool:
        """Whether there is nothing but level ground."""
        return self.slope_deg == 0 and not self.steps

    def height(self, x: "Array", y: "Array") -> "Array":
        """Give the height of the ground at points [unit], shape (...)."""
        from kinetarium.legs.footholds import ground_height

        return ground_height(self, x, y)
