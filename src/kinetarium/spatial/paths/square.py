"""Square: four straight edges and four corners."""

from dataclasses import dataclass
from math import pi

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.paths.error import checked_size
from kinetarium.spatial.paths.path import Path

_CORNERS = frozen([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])
_TANGENTS = frozen([[1, 0], [0, 1], [-1, 0], [0, -1]])


@dataclass(frozen=True)
class Square(Path):
    """A square about the origin, counter-clockwise from (-side/2, -side/2), first along +x.

    Attributes:
        side: Length of an edge [m].
    """

    side: float

    closed = True
    dimension = 2

    def __post_init__(self) -> None:
        """Refuse an impossible side."""
        checked_size("side of a square", self.side)

    @property
    def length(self) -> float:
        """Length of the four edges [m]."""
        return 4 * self.side

    def position(self, s: ArrayLike) -> Array:
        """Give the points at s [m], shape (..., 2)."""
        edge, along = self._edge(s)
        return self.side * _CORNERS[edge % 4] + along[..., np.newaxis] * _TANGENTS[edge % 4]

    def tangent(self, s: ArrayLike) -> Array:
        """Give the unit directions of travel at s, shape (..., 2)."""
        return _TANGENTS[self._edge(s)[0] % 4]

    def curvature(self, s: ArrayLike) -> Array:
        """Give the curvatures at s [1/m], shape (...): zero, on edges and at corners."""
        return np.zeros(np.shape(s))

    def heading(self, s: ArrayLike) -> Array:
        """Give the unwrapped headings at s [rad], shape (...): a quarter turn more each edge."""
        return np.asarray(self._edge(s)[0] * (pi / 2))

    def _edge(self, s: ArrayLike) -> tuple[NDArray[np.int64], Array]:
        """Give the edges, counted on from lap to lap, and the way along them [m]."""
        edge, along = np.divmod(np.asarray(s, dtype=np.float64), self.side)
        return edge.astype(np.int64), along
