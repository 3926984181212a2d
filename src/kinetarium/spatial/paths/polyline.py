"""Polyline: straight edges between points."""

from dataclasses import dataclass
from functools import cached_property
from math import pi

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetarium.spatial.arrays import Array
from kinetarium.spatial.paths.error import checked_points
from kinetarium.spatial.paths.path import Path


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
            PathError: If there are too few, two neighbours are alike or one is not finite.
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
        """Give the points at s [m], shape (..., dimension)."""
        _, s, edge = self._edge(s)
        along = (s - self._starts[edge])[..., np.newaxis]
        return self.points[edge] + along * self._tangents[edge]

    def tangent(self, s: ArrayLike) -> Array:
        """Give the unit directions of travel at s, shape (..., dimension)."""
        return self._tangents[self._edge(s)[2]]

    def curvature(self, s: ArrayLike) -> Array:
        """Give the curvatures at s [1/m], shape (...): zero, on edges and at corners."""
        return np.zeros(np.shape(s))

    def heading(self, s: ArrayLike) -> Array:
        """Give the unwrapped headings at s [rad], shape (...).

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
        """Give whole laps, arc length on the lap [m] and the edge it lies on."""
        laps, s = self._laps(s)
        edge = np.searchsorted(self._starts, s, side="right") - 1
        return laps, s, np.minimum(edge, len(self.points) - 2)
