"""Path: a curve that is asked by arc length."""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.spatial.arrays import Array
from kinetarium.spatial.paths.error import PathError


class Path(ABC):
    """A frozen curve in the plane or in space, asked by the arc length s from its start.

    All methods take any shape (...) of s [m]. A closed path goes round again
    beyond its length and backwards below zero; an open one stays at its ends.
    At a corner the edge that leaves it counts.
    """

    @property
    @abstractmethod
    def length(self) -> float:
        """Length of the path, once round if it is closed [m]."""

    @property
    @abstractmethod
    def closed(self) -> bool:
        """Whether it ends where it starts."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """2 in the plane, 3 in space."""

    @abstractmethod
    def position(self, s: ArrayLike) -> Array:
        """Give the points at s [m], shape (..., dimension)."""

    @abstractmethod
    def tangent(self, s: ArrayLike) -> Array:
        """Give the unit directions of travel at s, shape (..., dimension)."""

    @abstractmethod
    def curvature(self, s: ArrayLike) -> Array:
        """Give the curvatures at s [1/m], shape (...).

        In the plane positive to the left of travel; in space the magnitude.
        """

    def heading(self, s: ArrayLike) -> Array:
        """Give the angles from x to the direction of travel at s [rad], shape (...).

        They are unwrapped: they jump only at corners, by at most pi, and those
        of a closed path go on from lap to lap.

        Raises:
            PathError: If the path is not planar.
        """
        raise PathError("a path in space has no heading; ask for its tangent")

    def _laps(self, s: ArrayLike) -> tuple[Array, Array]:
        """Split s into whole laps and the arc length on the path, 0..length [m]."""
        s = np.asarray(s, dtype=np.float64)
        if self.closed:
            return np.divmod(s, self.length)
        return np.zeros_like(s), np.clip(s, 0.0, self.length)
