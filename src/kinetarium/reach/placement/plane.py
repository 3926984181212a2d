"""BasePlane: the plane on which bases stand, and its frame."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.errors import KinetariumError
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import pose, rotation_onto

STEEPEST = 0.1
"""Least vertical component of the unit normal: a base does not stand on a wall."""


@dataclass(frozen=True, slots=True)
class BasePlane:
    """The plane on which bases stand upright (equations 8 and 9 of the paper).

    Attributes:
        normal: Its unit normal in the world, pointing up.
        height: Its height over the world's origin [m].
    """

    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)
    height: float = 0.0

    @property
    def slopes(self) -> tuple[float, float]:
        """How much it rises per metre along the world's x and y."""
        x, y, z = self.normal
        return -x / z, -y / z

    @property
    def frame(self) -> Array:
        """The pose X_WP of a frame with its origin at the height and z along the normal."""
        return pose((0.0, 0.0, self.height), rotation_onto(self.normal))

    def height_at(self, x: float, y: float) -> float:
        """Return the height [m] at world coordinates [m]."""
        slope_x, slope_y = self.slopes
        return self.height + (slope_x * x + slope_y * y)


FLOOR = BasePlane()


def base_plane(normal: ArrayLike, *, height: float) -> BasePlane:
    """Check and return a plane.

    Args:
        normal: Its normal in the world, of any length.
        height: Its height over the world's origin [m].

    Raises:
        KinetariumError: If the normal does not point up, or a number is not finite.
    """
    vector = np.asarray(normal, dtype=np.float64)
    if vector.shape != (3,) or not np.isfinite(vector).all() or not np.isfinite(height):
        raise KinetariumError("a plane needs a normal of three finite numbers and a finite height")
    length = float(np.linalg.norm(vector))
    if not length or vector[2] < STEEPEST * length:
        raise KinetariumError(f"the normal {vector.tolist()} of the base's plane does not point up")
    x, y, z = (vector / length).tolist()
    return BasePlane((x, y, z), float(height))


class Objective(StrEnum):
    """The objective of base placement.

    COUNT is the number of reached poses and then the sum of manipulabilities; MANIPULABILITY is
    that sum alone, as in the paper. The others are the number of reached poses and then the least
    margin of any: LIMITS the distance of a joint from its limits, SINGULARITY the least singular
    value of the Jacobian, CLEARANCE the distance of the arm from obstacles.
    """

    COUNT = "count"
    MANIPULABILITY = "manipulability"
    LIMITS = "limits"
    SINGULARITY = "singularity"
    CLEARANCE = "clearance"


class Effort(StrEnum):
    """The duration of the search."""

    FAST = "fast"
    STANDARD = "standard"
    THOROUGH = "thorough"
