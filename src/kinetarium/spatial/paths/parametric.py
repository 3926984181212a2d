"""ParametricPath: a parametric curve as a path by arc length."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from math import pi, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetarium.spatial.arrays import Array
from kinetarium.spatial.paths.path import Path, PathError

SLOWEST = 1e-9
"""Below this, relative to the largest control velocity of its piece, a velocity is a stop [-]."""

_MOST_HALVINGS = 40


def stop_refusal(parameter: float) -> PathError:
    """Return the error for a curve that has no direction at a parameter."""
    return PathError(
        f"the curve stops or turns on the spot at parameter {parameter:.6g}, "
        "where it has no direction; move the points around it"
    )


def find_stop(velocities: Array) -> float | None:
    """Return a parameter, piece and fraction of it, at which a curve stops, or None.

    Args:
        velocities: Control velocities of its pieces, shape (m, degree + 1, dimension).
    """
    starts = np.arange(float(len(velocities)))
    slow = SLOWEST * np.linalg.norm(velocities, axis=-1).max(axis=-1)
    for halvings in range(_MOST_HALVINGS):
        width = 0.5**halvings
        for end, u in ((0, starts), (-1, starts + width)):
            resting = np.linalg.norm(velocities[:, end], axis=-1) <= slow
            if resting.any():
                return float(u[resting].min())
        # By the convex hull property, a piece whose control velocities all point along one
        # direction has no stop; the others are halved.
        doubtful = ~_moving(velocities, slow)
        if not doubtful.any():
            return None
        velocities = _halves(velocities[doubtful])
        starts = np.concatenate([starts[doubtful], starts[doubtful] + width / 2])
        slow = np.tile(slow[doubtful], 2)
    return float(starts.min())


def _moving(velocities: Array, slow: Array) -> NDArray[np.bool_]:
    """Return which pieces are certainly faster than `slow`, along the sum of their velocities."""
    along = velocities.sum(axis=1, keepdims=True)
    least = np.vecdot(velocities, along).min(axis=1)
    return np.asarray(least > slow * np.linalg.norm(along[:, 0], axis=-1))


def _halves(pieces: Array) -> Array:
    """Return the control points of the first halves, then of the second (De Casteljau)."""
    first, second = np.empty_like(pieces), np.empty_like(pieces)
    for k in range(pieces.shape[1]):
        first[:, k], second[:, -1 - k] = pieces[:, 0], pieces[:, -1]
        pieces = (pieces[:, :-1] + pieces[:, 1:]) / 2
    return np.concatenate([first, second])


Velocity = Callable[[Array], Array]
"""Derivatives of a curve by its parameter, shape (..., dimension), at parameters (...)."""

_ORDER = 12
_QUADRATURE_ERROR = 1e-13  # relative to the panel
_ROUNDING_ERROR = 1e-15  # relative to the panel at the mean speed of its stretch
_MOST_BISECTIONS = 40
_MOST_UNFINISHED = 256  # panels per stretch between breaks
_NEWTON_ERROR = 1e-8  # relative to the panel; the step that follows squares it
_MOST_STEPS = 60


@dataclass(frozen=True, eq=False)
class ArcLength:
    """Arc length along a curve, tabulated at the ends of panels.

    Attributes:
        velocity: The curve's derivative by its parameter.
        edges: Parameters at the ends of the panels, ascending, shape (n + 1,).
        lengths: Arc lengths at the edges [m], shape (n + 1,).
    """

    velocity: Velocity
    edges: Array
    lengths: Array

    def panel(self, s: Array) -> NDArray[np.intp]:
        """Return the panels, 0..n - 1, in which arc lengths [m] lie."""
        return np.asarray(np.searchsorted(self.lengths[1:-1], s, side="right"))

    def parameter(self, s: Array) -> Array:
        """Return the parameters, shape (...), at arc lengths within the curve [m], shape (...)."""
        panel = self.panel(s)
        start, low, high = self.edges[panel], self.edges[panel], self.edges[panel + 1]
        wanted = s - self.lengths[panel]
        whole = self.lengths[panel + 1] - self.lengths[panel]
        # The last panel is empty if it is below the rounding of the total length.
        u = low + (high - low) * np.divide(wanted, whole, out=np.zeros_like(s), where=whole > 0)
        for _ in range(_MOST_STEPS):
            excess = _length(_moves(self.velocity, start, u)) - wanted
            low, high = np.where(excess <= 0, u, low), np.where(excess >= 0, u, high)
            step = u - excess / np.linalg.norm(self.velocity(u), axis=-1)
            # Bisect where Newton's step leaves the bracket, as it may if the speed varies much.
            u = np.where((low <= step) & (step <= high), step, (low + high) / 2)
            if np.all(np.abs(excess) <= _NEWTON_ERROR * whole):
                break
        return u


def measure(velocity: Velocity, breaks: Array) -> ArcLength:
    """Tabulate the arc length of a curve by adaptive Gauss-Legendre quadrature.

    Args:
        velocity: The curve's derivative by its parameter, smooth between breaks, nowhere zero.
        breaks: Parameters at the start, at kinks of the velocity and at the end, ascending.

    Returns:
        Its arc length, to 1e-12 relative.

    Raises:
        PathError: If the curve almost stops, so that its direction is undefined.
    """
    low, high = breaks[:-1], breaks[1:]
    moves = _moves(velocity, low, high)
    pace = _length(moves) / (high - low)
    finished: list[tuple[Array, Array]] = []
    for _ in range(_MOST_BISECTIONS):
        middle = (low + high) / 2
        left, right = _moves(velocity, low, middle), _moves(velocity, middle, high)
        length = _length(left) + _length(right)
        allowed = _QUADRATURE_ERROR * length + _ROUNDING_ERROR * pace * (high - low)
        # A panel is done when halving it changes nothing, and when it is straight enough for
        # headings to be unwrapped within it.
        good = (np.abs(length - _length(moves)) <= allowed) & _straight(moves)
        finished.append((low[good], length[good]))
        low, middle, high, pace = low[~good], middle[~good], high[~good], np.tile(pace[~good], 2)
        moves = np.concatenate([left[~good], right[~good]])
        low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
        if not 0 < len(low) <= _MOST_UNFINISHED * len(breaks):
            break
    if low.size:
        raise stop_refusal(low.min())
    edges, length = np.concatenate(finished, axis=1)
    order = np.argsort(edges)
    return ArcLength(
        velocity,
        np.append(edges[order], breaks[-1]),
        np.concatenate([[0.0], np.cumsum(length[order])]),
    )


def _moves(velocity: Velocity, low: Array, high: Array) -> Array:
    """Return velocities times weights at the nodes between parameters, shape (..., nodes, d)."""
    nodes, weights = _gauss_legendre()
    half = ((high - low) / 2)[..., np.newaxis]
    return velocity(low[..., np.newaxis] + half * (1 + nodes)) * (half * weights)[..., np.newaxis]


@cache
def _gauss_legendre() -> tuple[Array, Array]:
    """Return nodes and weights on -1..1; not at import, since it loads NumPy's polynomials."""
    nodes, weights = np.polynomial.legendre.leggauss(_ORDER)
    return nodes, weights


def _length(moves: Array) -> Array:
    return np.asarray(np.linalg.norm(moves, axis=-1).sum(axis=-1))


def _straight(moves: Array) -> NDArray[np.bool_]:
    """Return where every move is within 45 degrees of their sum, the chord."""
    chord = moves.sum(axis=-2, keepdims=True)
    sizes = np.linalg.norm(moves, axis=-1) * np.linalg.norm(chord, axis=-1)
    return np.asarray((np.vecdot(moves, chord) >= sqrt(0.5) * sizes).all(axis=-1))


class ParametricPath(Path):
    """A path defined by its points, velocities and accelerations at a parameter u."""

    @property
    @abstractmethod
    def _breaks(self) -> Array:
        """Parameters at the start, where the velocity may jump, and at the end."""

    @abstractmethod
    def _point(self, u: Array) -> Array:
        """Return the points [m], shape (..., dimension), at parameters, shape (...)."""

    @abstractmethod
    def _velocity(self, u: Array) -> Array:
        """Return the first derivatives by u, shape (..., dimension)."""

    @abstractmethod
    def _acceleration(self, u: Array) -> Array:
        """Return the second derivatives by u, shape (..., dimension)."""

    @property
    def length(self) -> float:
        """Length of the path, once round if it is closed [m]."""
        return float(self._arc_length.lengths[-1])

    def position(self, s: ArrayLike) -> Array:
        """Return the points at s [m], shape (..., dimension)."""
        return self._point(self._parameter(s))

    def tangent(self, s: ArrayLike) -> Array:
        """Return the unit directions of travel at s, shape (..., dimension)."""
        return self._direction(self._parameter(s))

    def curvature(self, s: ArrayLike) -> Array:
        """Return the curvatures at s [1/m], shape (...), signed in the plane."""
        u = self._parameter(s)
        velocity, acceleration = self._velocity(u), self._acceleration(u)
        if self.dimension == 2:
            bend = velocity[..., 0] * acceleration[..., 1] - velocity[..., 1] * acceleration[..., 0]
        else:
            bend = np.linalg.norm(np.cross(velocity, acceleration), axis=-1)
        return np.asarray(bend / np.linalg.norm(velocity, axis=-1) ** 3)

    def heading(self, s: ArrayLike) -> Array:
        """Return the unwrapped headings at s [rad], shape (...).

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
