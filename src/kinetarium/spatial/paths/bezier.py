"""Bezier curves and splines as paths by arc length."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.spatial.arrays import Array
from kinetarium.spatial.paths.parametric import SLOWEST, ParametricPath, find_stop, stop_refusal
from kinetarium.spatial.paths.path import SHORTEST, PathError, checked_points


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
        """Refuse a curve with a stop when it is created, not at its first use."""
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
    """Return the points at u by nested multiplication in Bernstein form.

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
    """Return the control points of the derivatives, of one degree less but never below zero."""
    degree = pieces.shape[1] - 1
    return degree * np.diff(pieces, axis=1) if degree else np.zeros_like(pieces)


MOST_CONTROLS = 200
"""With more control points a single curve hardly depends on any of them."""

_ROUNDING = 4e-15
"""Tolerance for points on a line, relative to their largest coordinate [-]."""


@dataclass(frozen=True, eq=False, init=False)
class Bezier(PiecewiseBezier):
    """One Bezier curve from the first control point to the last.

    It starts towards the second control point and arrives from the last but one.

    Attributes:
        controls: Control points [m], shape (degree + 1, 2) or (degree + 1, 3), read-only.
    """

    controls: Array

    def __init__(self, controls: ArrayLike) -> None:
        """Draw the curve.

        Args:
            controls: From 2 to 200 control points [m], shape (n, 2) or (n, 3).

        Raises:
            PathError: If there are too few or too many, two neighbours are equal, one is not
                finite, or the curve turns on the spot or bends where it stops.
        """
        points = checked_points("a Bezier curve", controls)
        if len(points) > MOST_CONTROLS:
            raise PathError(
                f"a Bezier curve takes at most {MOST_CONTROLS} control points, not {len(points)}; "
                "use a BezierSpline through the points"
            )
        object.__setattr__(self, "controls", points)
        self._refuse_stops()

    @cached_property
    def _pieces(self) -> Array:
        controls = self.controls[[0, -1]] if _straight(self.controls) else self.controls
        return controls[np.newaxis]


def _straight(controls: Array) -> bool:
    """Return whether the curve is the straight line from its first control point to its last.

    By arc length it is straight even if it pauses, as the curve of the points A, B, A, B does.
    """
    chord = controls[-1] - controls[0]
    length = np.linalg.norm(chord)
    if length < SHORTEST:
        return False
    along = chord / length
    offsets = controls - controls[0]
    across = offsets - np.outer(offsets @ along, along)
    if np.abs(across).max() > _ROUNDING * np.abs(controls).max():
        return False
    # With a small forward velocity added, a curve that only pauses has no stop any more; one
    # that reverses still has.
    velocities = np.diff(controls, axis=0)
    hurry = 4 * SLOWEST * np.linalg.norm(velocities, axis=1).max() * along
    return find_stop((velocities + hurry)[np.newaxis]) is None


@dataclass(frozen=True, eq=False, init=False)
class BezierSpline(PiecewiseBezier):
    """Cubic Bezier curves through points, with one direction at each (C1 in its knots).

    The knots are centripetal, spaced by the square root of the distance: no
    piece then has a cusp or a loop (C. Yuksel, S. Schaefer, J. Keyser,
    "Parameterization and applications of Catmull-Rom curves", 2011), and the
    direction at a point halves the angle between its two chords. Through three
    or more points that do not close, the ends follow the parabola of the first
    and last three; a curve through two points is straight. If the last point
    is the first, the curve is closed and smooth there too.

    Attributes:
        points: The points it goes through [m], shape (n, 2) or (n, 3), read-only.
    """

    points: Array

    def __init__(self, points: ArrayLike) -> None:
        """Draw the curve.

        Args:
            points: At least two points [m], shape (n, 2) or (n, 3).

        Raises:
            PathError: If there are too few, two neighbours are equal, one is not finite, or
                the curve would have to reverse at a point.
        """
        object.__setattr__(self, "points", checked_points("a Bezier spline", points))
        self._refuse_stops()

    @cached_property
    def _pieces(self) -> Array:
        chords = np.diff(self.points, axis=0)
        steps = np.sqrt(np.linalg.norm(chords, axis=1, keepdims=True))
        slopes = self._slopes(chords / steps, steps)
        leave, arrive = slopes[:-1] * steps / 3, slopes[1:] * steps / 3
        start, end = self.points[:-1], self.points[1:]
        return np.stack([start, start + leave, end - arrive, end], axis=1)

    def _slopes(self, chords: Array, steps: Array) -> Array:
        """Return the derivatives by the knots at the points, shape (n, dimension).

        Args:
            chords: Mean derivatives from point to point, shape (n - 1, dimension).
            steps: Distances of the knots, shape (n - 1, 1).
        """
        if (self.points[0] == self.points[-1]).all():
            return _catmull_rom(
                np.concatenate([chords[-1:], chords, chords[:1]]),
                np.concatenate([steps[-1:], steps, steps[:1]]),
            )
        if len(self.points) == 2:
            return np.repeat(chords, 2, axis=0)
        inner = _catmull_rom(chords, steps)
        return np.concatenate([2 * chords[:1] - inner[:1], inner, 2 * chords[-1:] - inner[-1:]])


def _catmull_rom(chords: Array, steps: Array) -> Array:
    """Return the derivative between each two chords of the parabola through their three points."""
    before, after = steps[:-1], steps[1:]
    return (after * chords[:-1] + before * chords[1:]) / (before + after)
