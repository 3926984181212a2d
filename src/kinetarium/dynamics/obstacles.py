"""Obstacles: what stands around a robot, as simple shapes."""

from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np

from kinetarium.dynamics.sphere_arrays import ObstacleArrays
from kinetarium.spatial.arrays import Array


@dataclass(frozen=True, slots=True, eq=False)
class SphereObstacle:
    """A sphere in the world.

    Attributes:
        center: Centre in the world [m].
        radius: Radius [m].
    """

    center: tuple[float, float, float]
    radius: float


@dataclass(frozen=True, slots=True, eq=False)
class BoxObstacle:
    """A box in the world.

    Attributes:
        X_WO: Pose of the box's centre and axes in the world, shape (4, 4).
        size: Full edge lengths along its axes [m].
    """

    X_WO: Array
    size: tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Obstacles:
    """What a robot must not touch.

    Attributes:
        ground: Height of the ground [m]; minus infinity where there is none.
        spheres: Spheres in the world.
        boxes: Boxes in the world.
    """

    ground: float = -inf
    spheres: tuple[SphereObstacle, ...] = ()
    boxes: tuple[BoxObstacle, ...] = ()

    @cached_property
    def arrays(self) -> ObstacleArrays:
        """The obstacles as plain arrays."""
        return ObstacleArrays(
            float(self.ground),
            np.array([sphere.center for sphere in self.spheres], dtype=float).reshape(-1, 3),
            np.array([sphere.radius for sphere in self.spheres], dtype=float),
            np.array([box.X_WO for box in self.boxes], dtype=float).reshape(-1, 4, 4),
            np.array([box.size for box in self.boxes], dtype=float).reshape(-1, 3) / 2,
        )
