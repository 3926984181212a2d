"""PiecewiseBezier: Bezier curves laid end to end."""

from abc import abstractmethod
from functools import cached_property
from math import comb

import numpy as np

from kinetarium.spatial.arrays import Array
from kinetarium.spatial.paths.parametric import ParametricPath
from kinetarium.spatial.paths.stops import find_stop, stop_refusal


class PiecewiseBezier(ParametricPath):
    """Bezier curves laid end to end; the parameter runs from i to i + 1 along piece i.

    It is closed if it ends where it starts.
    """

    @property
    @abstractmethod
    def _pieces(self) -> Array:
        """Control points of each piece [m], shape (m, degree + 1, dimension)."""

    @cached_property
    def closed(self) -> bool:
        """Whether it ends where it starts."""
        return bool((self._pieces[0, 0] == self._pieces[-1, -1]).all())

    @property
    def dimension(self) -> int:
        """2 in the plane, 3 in space."""
        return int(self._pieces.shape[-1])

    @property
    def _breaks(self) -> Array:
        return np.arange(len(self._pieces) + 1.0)

    @cached_property
    def _velocities(self) -> Array:
        return _hodographs(self._pieces)

    @cached_property
    def _accelerations(self) -> Array:
        return _hodographs(self._velocities)

    def _refuse_stops(self) -> None:
        """Refuse a curve that stops when it is drawn, and not at its first use."""
        stop = find_stop(self._velocities)
        if stop is not None:
            raise stop_refusal(stop)
        _ = self._arc_length

    def _point(self, u: Array) -> Array:
        return _evaluate(self._pieces, u)

    def _velocity(self, u: Array) -> Array:
        return _evaluate(self._velocities, u)

    def _acceleration(self, u: Array) -> Array:
        return _evaluate(self._accelerations, u)


def _evaluate(pieces: Array, u: Array) -> Array:
    """Give the points at u by nested multiplication in Bernstein form.

    Like De Casteljau's algorithm it only adds positive multiples of the control
    points, so that no degree amplifies rounding, but it takes a number of steps
    proportional to the degree instead of to its square (L. Schumaker, W. Volk,
    "Efficient evaluation of multivariate polynomials", 1986).
    """
    whole = np.clip(np.floor(u), 0, len(pieces) - 1)
    piece = whole.astype(np.intp)
    t = (u - whole)[..., np.newaxis]
    degree = pieces.shape[1] - 1
    points: Array = pieces[piece, 0]
    power = np.ones_like(t)
    for k in range(1, degree + 1):
        power = power * t
        points = (1 - t) * points + float(comb(degree, k)) * power * pieces[piece, k]
    return points


def _hodographs(pieces: Array) -> Array:
    """Give the control points of the derivatives, of one degree less but never below zero."""
    degree = pieces.shape[1] - 1
    return degree * np.diff(pieces, axis=1) if degree else np.zeros_like(pieces)
