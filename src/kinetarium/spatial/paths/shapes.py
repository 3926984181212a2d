"""Circle, Eight, Square and Polyline: paths of simple shapes."""

from dataclasses import dataclass
from functools import cached_property
from math import pi
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.paths.parametric import ParametricPath
from kinetarium.spatial.paths.path import Path, checked_points, checked_size


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
        """Return the points at s [m], shape (..., 2)."""
        angle = self._angle(s)
        return self.radius * np.stack([np.cos(angle), np.sin(angle)], axis=-1)

    def tangent(self, s: ArrayLike) -> Array:
        """Return the unit directions of travel at s, shape (..., 2)."""
        angle = self._angle(s)
        return np.stack([-np.sin(angle), np.cos(angle)], axis=-1)

    def curvature(self, s: ArrayLike) -> Array:
        """Return the curvatures at s [1/m], shape (...)."""
        return np.full(np.shape(s), 1 / self.radius)

    def heading(self, s: ArrayLike) -> Array:
        """Return the unwrapped headings at s [rad], shape (...)."""
        return pi / 2 + np.asarray(s, dtype=np.float64) / self.radius

    def _angle(self, s: ArrayLike) -> Array:
        return self._laps(s)[1] / self.radius


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
        """Return the lemniscate of Gerono, x^4 = a^2 (x^2 - y^2), of a half width a [m]."""
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
        """Return the points at s [m], shape (..., 2)."""
        edge, along = self._edge(s)
        return self.side * _CORNERS[edge % 4] + along[..., np.newaxis] * _TANGENTS[edge % 4]

    def tangent(self, s: ArrayLike) -> Array:
        """Return the unit directions of travel at s, shape (..., 2)."""
        return _TANGENTS[self._edge(s)[0] % 4]

    def curvature(self, s: ArrayLike) -> Array:
        """Return the curvatures at s [1/m], shape (...): zero, on edges and at corners."""
        return np.zeros(np.shape(s))

    def heading(self, s: ArrayLike) -> Array:
        """Return the unwrapped headings at s [rad], shape (...): a quarter turn more each edge."""
        return np.asarray(self._edge(s)[0] * (pi / 2))

    def _edge(self, s: ArrayLike) -> tuple[NDArray[np.int64], Array]:
        """Return the edges, counted on from lap to lap, and the way along them [m]."""
        edge, along = np.divmod(np.asarray(s, dtype=np.float64), self.side)
        return edge.astype(np.int64), along


@dataclass(frozen=True, eq=False, init=False)
class Polyline(Path):
    """Straight edges from point to point, from the first to the last.

    It is closed if the last point is the first.

    Attributes:
        points: The corners [m], shape (n, 2) or (n, 3), read-only.
    """

    points: Array

    def __init__(self, points: ArrayLike) -> None:
        """Connect points.

        Args:
            points: At least two points [m], shape (n, 2) or (n, 3).

        Raises:
            PathError: If there are too few, two neighbours are equal or one is not finite.
        """
        object.__setattr__(self, "points", checked_points("a polyline", points))

    @property
    def length(self) -> float:
        """Length of all edges [m]."""
        return float(self._starts[-1])

    @cached_property
    def closed(self) -> bool:
        """Whether the last point is the first."""
        return bool((self.points[0] == self.points[-1]).all())

    @property
    def dimension(self) -> int:
        """2 in the plane, 3 in space."""
        return int(self.points.shape[1])

    def position(self, s: ArrayLike) -> Array:
        """Return the points at s [m], shape (..., dimension)."""
        _, s, edge = self._edge(s)
        along = (s - self._starts[edge])[..., np.newaxis]
        return self.points[edge] + along * self._tangents[edge]

    def tangent(self, s: ArrayLike) -> Array:
        """Return the unit directions of travel at s, shape (..., dimension)."""
        return self._tangents[self._edge(s)[2]]

    def curvature(self, s: ArrayLike) -> Array:
        """Return the curvatures at s [1/m], shape (...): zero, on edges and at corners."""
        return np.zeros(np.shape(s))

    def heading(self, s: ArrayLike) -> Array:
        """Return the unwrapped headings at s [rad], shape (...).

        Raises:
            PathError: If the points are in space.
        """
        if self.dimension == 3:
            return super().heading(s)
        laps, _, edge = self._edge(s)
        lap_turns = np.round((self._headings[-1] - self._headings[0]) / (2 * pi))
        return np.asarray(self._headings[edge] + 2 * pi * laps * lap_turns)

    @cached_property
    def _starts(self) -> Array:
        """Arc lengths of the points [m], shape (n,)."""
        edges = np.linalg.norm(np.diff(self.points, axis=0), axis=1)
        return np.concatenate([[0.0], np.cumsum(edges)])

    @cached_property
    def _tangents(self) -> Array:
        """Unit directions of the edges, shape (n - 1, dimension)."""
        edges = np.diff(self.points, axis=0)
        return np.asarray(edges / np.linalg.norm(edges, axis=1, keepdims=True))

    @cached_property
    def _headings(self) -> Array:
        """Unwrapped headings of the edges of a planar polyline [rad], shape (n - 1,)."""
        return np.unwrap(np.arctan2(self._tangents[:, 1], self._tangents[:, 0]))

    def _edge(self, s: ArrayLike) -> tuple[Array, Array, NDArray[np.intp]]:
        """Return whole laps, arc length on the lap [m] and the edge it lies on."""
        laps, s = self._laps(s)
        edge = np.searchsorted(self._starts, s, side="right") - 1
        return laps, s, np.minimum(edge, len(self.points) - 2)
