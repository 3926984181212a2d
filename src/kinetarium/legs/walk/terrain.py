"""Terrain: level ground with a slope and steps."""

from dataclasses import dataclass
from math import radians, tan
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kinetarium.legs.mechanism.pantograph import LegsError, checked
from kinetarium.spatial.arrays import Array

if TYPE_CHECKING:  # a terrain is part of a command's flags, and --help must not load NumPy
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
        steps: The blocks; one that is higher than the lift of a foot is an obstacle, which
            feet avoid.
        clearance: Least distance of a foothold from the edge of a block [unit].
    """

    slope_deg: float = 0.0
    slope_from: float = 0.0
    steps: tuple[Step, ...] = ()
    clearance: float = 2.0

    def __post_init__(self) -> None:
        """Check all values.

        Raises:
            LegsError: If a value is invalid.
        """
        checked("slope_deg of the terrain", self.slope_deg, low=0.0, high=45.0)
        checked("slope_from of the terrain", self.slope_from, low=-1e6, high=1e6)
        checked("clearance of the terrain", self.clearance, low=0.0, high=1e6)
        for step in self.steps:
            if not (step.x0 < step.x1 and step.y0 < step.y1 and 0 < step.height <= 1e6):
                raise LegsError(f"length, width and height of a step must be positive: {step}")

    @property
    def level(self) -> bool:
        """Whether there is nothing but level ground."""
        return self.slope_deg == 0 and not self.steps

    def height(self, x: "Array", y: "Array") -> "Array":
        """Return the height of the ground at points [unit], shape (...)."""
        return ground_height(self, x, y)


def ground_height(terrain: Terrain, x: Array, y: Array) -> Array:
    """Return the height of the ground at points [unit], shape (...)."""
    z = np.maximum(0.0, (x - terrain.slope_from) * tan(radians(terrain.slope_deg)))
    for step in terrain.steps:
        on = (step.x0 <= x) & (x <= step.x1) & (step.y0 <= y) & (y <= step.y1)
        z = np.where(on, np.maximum(z, step.height), z)
    return np.asarray(z)


def footholds(terrain: Terrain, points: Array, *, highest: float) -> Array:
    """Return the footholds on the terrain for points on level ground [unit], shape (..., 3).

    A foothold keeps clear of the edges of blocks, on the nearer side, and off blocks that are
    too high.

    Args:
        points: The footholds on level ground, shape (..., 2).
        highest: The highest block that a foot may step on [unit].
    """
    x, y = points[..., 0].copy(), points[..., 1].copy()
    for step in terrain.steps:
        free = min(terrain.clearance, (step.x1 - step.x0) / 2, (step.y1 - step.y0) / 2)
        if step.height > highest:
            _leave(x, y, step, free=free)
            continue
        for value, other, (low, high), (start, end) in (
            (x, y, (step.x0, step.x1), (step.y0, step.y1)),
            (y, x, (step.y0, step.y1), (step.x0, step.x1)),
        ):
            beside = (start - free < other) & (other < end + free)
            for edge in (low, high):
                near = beside & (np.abs(value - edge) < free)
                value[near] = np.where(value < edge, edge - free, edge + free)[near]
    return np.stack([x, y, ground_height(terrain, x, y)], axis=-1)


def _leave(x: Array, y: Array, step: Step, *, free: float) -> None:
    """Move points off a block, the shortest way."""
    x0, x1, y0, y1 = step.x0 - free, step.x1 + free, step.y0 - free, step.y1 + free
    on: NDArray[np.bool_] = (x0 < x) & (x < x1) & (y0 < y) & (y < y1)
    along = np.minimum(x - x0, x1 - x) <= np.minimum(y - y0, y1 - y)
    out_x = np.where(x - x0 < x1 - x, x0, x1)
    out_y = np.where(y - y0 < y1 - y, y0, y1)
    x[on & along], y[on & ~along] = out_x[on & along], out_y[on & ~along]
