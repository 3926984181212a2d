"""ParametricPath: a path known by a parameter and asked by arc length."""

from abc import abstractmethod
from functools import cached_property
from math import pi

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.spatial.arrays import Array
from kinetarium.spatial.paths.arc_length import ArcLength, measure
from kinetarium.spatial.paths.path import Path


class ParametricPath(Path):
    """A path whose points, velocities and accelerations are known by a parameter u."""

    @property
    @abstractmethod
    def _breaks(self) -> Array:
        """Parameters at the start, where the velocity may jump, and at the end."""

    @abstractmethod
    def _point(self, u: Array) -> Array:
        """Give the points [m], shape (..., dimension), at parameters, shape (...)."""

    @abstractmethod
    def _velocity(self, u: Array) -> Array:
        """Give the first derivatives by u, shape (..., dimension)."""

    @abstractmethod
    def _acceleration(self, u: Array) -> Array:
        """Give the second derivatives by u, shape (..., dimension)."""

    @property
    def length(self) -> float:
        """Length of the path, once round if it is closed [m]."""
        return float(self._arc_length.lengths[-1])

    def position(self, s: ArrayLike) -> Array:
        """Give the points at s [m], shape (..., dimension)."""
        return self._point(self._parameter(s))

    def tangent(self, s: ArrayLike) -> Array:
        """Give the unit directions of travel at s, shape (..., dimension)."""
        return self._direction(self._parameter(s))

    def curvature(self, s: ArrayLike) -> Array:
        """Give the curvatures at s [1/m], shape (...), signed in the plane."""
        u = self._parameter(s)
        velocity, acceleration = self._velocity(u), self._acceleration(u)
        if self.dimension == 2:
            bend = velocity[..., 0] * acceleration[..., 1] - velocity[..., 1] * acceleration[..., 0]
        else:
            bend = np.linalg.norm(np.cross(velocity, acceleration), axis=-1)
        return np.asarray(bend / np.linalg.norm(velocity, axis=-1) ** 3)

    def heading(self, s: ArrayLike) -> Array:
        """Give the unwrapped headings at s [rad], shape (...).

        Raises:
            PathError: If the path is in space.
        """
        if self.dimension == 3:
            return super().heading(s)
        laps, s = self._laps(s)
        panel = self._arc_length.panel(s)
        angle = _angle(self._direction(self._arc_length.parameter(s)))
        # Within a panel the direction turns by less than pi, so the nearest angle is the right one.
        turns = np.round((self._headings[panel] - angle) / (2 * pi))
        lap_turns = np.round((self._headings[-1] - self._headings[0]) / (2 * pi))
        return np.asarray(angle + 2 * pi * (turns + laps * lap_turns))

    @cached_property
    def _arc_length(self) -> ArcLength:
        return measure(self._velocity, self._breaks)

    @cached_property
    def _headings(self) -> Array:
        """Unwrapped headings at the edges of the panels of a planar path [rad]."""
        return np.unwrap(_angle(self._velocity(self._arc_length.edges)))

    def _parameter(self, s: ArrayLike) -> Array:
        return self._arc_length.parameter(self._laps(s)[1])

    def _direction(self, u: Array) -> Array:
        velocity = self._velocity(u)
        return np.asarray(velocity / np.linalg.norm(velocity, axis=-1, keepdims=True))


def _angle(vectors: Array) -> Array:
    return np.arctan2(vectors[..., 1], vectors[..., 0])
