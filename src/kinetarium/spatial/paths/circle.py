"""Circle: a closed path of constant curvature."""

from dataclasses import dataclass
from math import pi

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.spatial.arrays import Array
from kinetarium.spatial.paths.error import checked_size
from kinetarium.spatial.paths.path import Path


@dataclass(frozen=True)
class Circle(Path):
    """A circle about the origin, counter-clockwise from (radius, 0), where it heads along +y.

    Attributes:
        radius: Radius [m].
    """

    radius: float

    closed = True
    dimension = 2

    def __post_init__(self) -> None:
        """Refuse an impossible radius."""
        checked_size("radius of a circle", self.radius)

    @property
    def length(self) -> float:
        """Circumference [m]."""
        return 2 * pi * self.radius

    def position(self, s: ArrayLike) -> Array:
        """Give the points at s [m], shape (..., 2)."""
        angle = self._angle(s)
        return self.radius * np.stack([np.cos(angle), np.sin(angle)], axis=-1)

    def tangent(self, s: ArrayLike) -> Array:
        """Give the unit directions of travel at s, shape (..., 2)."""
        angle = self._angle(s)
        return np.stack([-np.sin(angle), np.cos(angle)], axis=-1)

    def curvature(self, s: ArrayLike) -> Array:
        """Give the curvatures at s [1/m], shape (...)."""
        return np.full(np.shape(s), 1 / self.radius)

    def heading(self, s: ArrayLike) -> Array:
        """Give the unwrapped headings at s [rad], shape (...)."""
        return pi / 2 + np.asarray(s, dtype=np.float64) / self.radius

    def _angle(self, s: ArrayLike) -> Array:
        return self._laps(s)[1] / self.radius
