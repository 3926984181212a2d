"""Eight: a closed path that crosses itself in the middle."""

from dataclasses import dataclass
from math import pi
from typing import Self

import numpy as np

from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.paths.error import checked_size
from kinetarium.spatial.paths.parametric import ParametricPath

_ONCE_ROUND = frozen([0, 2 * pi])


@dataclass(frozen=True)
class Eight(ParametricPath):
    """The figure eight x = half_width sin(u), y = half_height sin(2 u), u from 0 to 2 pi.

    It starts at the origin, where it crosses itself, towards
    (half_width, 2 half_height), and takes the lobe at +x first, clockwise.

    Attributes:
        half_width: Largest x [m].
        half_height: Largest y [m].
    """

    half_width: float
    half_height: float

    closed = True
    dimension = 2

    def __post_init__(self) -> None:
        """Refuse impossible sizes."""
        checked_size("half width of an eight", self.half_width)
        checked_size("half height of an eight", self.half_height)

    @classmethod
    def gerono(cls, half_width: float) -> Self:
        """Give the lemniscate of Gerono, x^4 = a^2 (x^2 - y^2), of a half width a [m]."""
        return cls(half_width, half_width / 2)

    @property
    def _breaks(self) -> Array:
        return _ONCE_ROUND

    def _point(self, u: Array) -> Array:
        return self._sized(np.sin(u), np.sin(2 * u))

    def _velocity(self, u: Array) -> Array:
        return self._sized(np.cos(u), 2 * np.cos(2 * u))

    def _acceleration(self, u: Array) -> Array:
        return self._sized(-np.sin(u), -4 * np.sin(2 * u))

    def _sized(self, x: Array, y: Array) -> Array:
        return np.stack([self.half_width * x, self.half_height * y], axis=-1)
