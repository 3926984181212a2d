"""ArcLength: the length of a parametric curve, and the parameter at a given length.

The parameter is cut into panels, halved until Gauss-Legendre quadrature of the
speed agrees with that on the two halves and the direction of travel stays
within 45 degrees of the panel's chord. Newton's method inside a panel turns a
length back into a parameter.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from kinetarium.spatial.arrays import Array
from kinetarium.spatial.paths.stops import stop_refusal

Velocity = Callable[[Array], Array]
"""Derivatives of a curve by its parameter, shape (..., dimension), at parameters (...)."""

_ORDER = 12
_QUADRATURE_ERROR = 1e-13  # relative to the panel
_ROUNDING_ERROR = 1e-15  # relative to the panel at the mean speed of its stretch
_MOST_HALVINGS = 40
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
        """Give the panels, 0..n - 1, in which arc lengths [m] lie."""
        return np.asarray(np.searchsorted(self.lengths[1:-1], s, side="right"))

    def parameter(self, s: Array) -> Array:
        """Give the parameters, shape (...), at arc lengths within the curve [m], shape (...)."""
        panel = self.panel(s)
        start, low, high = self.edges[panel], self.edges[panel], self.edges[panel + 1]
        wanted = s - self.lengths[panel]
        whole = self.lengths[panel + 1] - self.lengths[panel]
        # A last panel too short to count beside the rest is empty.
        u = low + (high - low) * np.divide(wanted, whole, out=np.zeros_like(s), where=whole > 0)
        for _ in range(_MOST_STEPS):
            excess = _length(_moves(self.velocity, start, u)) - wanted
            low, high = np.where(excess <= 0, u, low), np.where(excess >= 0, u, high)
            step = u - excess / np.linalg.norm(self.velocity(u), axis=-1)
            # Where the speed varies much Newton's step may leave the bracket.
            u = np.where((low <= step) & (step <= high), step, (low + high) / 2)
            if np.all(np.abs(excess) <= _NEWTON_ERROR * whole):
                break
        return u


def measure(velocity: Velocity, breaks: Array) -> ArcLength:
    """Measure a curve.

    Args:
        velocity: The curve's derivative by its parameter, smooth between breaks, nowhere zero.
        breaks: Parameters at the start, at kinks of the velocity and at the end, ascending.

    Returns:
        Its arc length, to 1e-12 relative.

    Raises:
        PathError: If the curve all but stops on its way, so that its direction is lost.
    """
    low, high = breaks[:-1], breaks[1:]
    moves = _moves(velocity, low, high)
    pace = _length(moves) / (high - low)
    finished: list[tuple[Array, Array]] = []
    for _ in range(_MOST_HALVINGS):
        middle = (low + high) / 2
        left, right = _moves(velocity, low, middle), _moves(velocity, middle, high)
        length = _length(left) + _length(right)
        allowed = _QUADRATURE_ERROR * length + _ROUNDING_ERROR * pace * (high - low)
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
    """Give velocities times weights at the nodes between parameters, shape (..., nodes, d)."""
    nodes, weights = _gauss_legendre()
    half = ((high - low) / 2)[..., np.newaxis]
    return velocity(low[..., np.newaxis] + half * (1 + nodes)) * (half * weights)[..., np.newaxis]


@cache
def _gauss_legendre() -> tuple[Array, Array]:
    """Give nodes and weights on -1..1, when first needed: NumPy loads its polynomials for them."""
    nodes, weights = np.polynomial.legendre.leggauss(_ORDER)
    return nodes, weights


def _length(moves: Array) -> Array:
    return np.asarray(np.linalg.norm(moves, axis=-1).sum(axis=-1))


def _straight(moves: Array) -> NDArray[np.bool_]:
    """Tell where every move lies within 45 degrees of the chord, their sum."""
    chord = moves.sum(axis=-2, keepdims=True)
    sizes = np.linalg.norm(moves, axis=-1) * np.linalg.norm(chord, axis=-1)
    return np.asarray((np.vecdot(moves, chord) >= sqrt(0.5) * sizes).all(axis=-1))
