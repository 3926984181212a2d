"""BezierSpline: a smooth curve through points, cubic from each to the next."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.spatial.arrays import Array
from kinetarium.spatial.paths.error import checked_points
from kinetarium.spatial.paths.piecewise_bezier import PiecewiseBezier


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
            PathError: If there are too few, two neighbours are alike, one is
                not finite, or the curve has to turn back at a point.
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
        """Give the derivatives by the knots at the points, shape (n, dimension).

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
    """Give the derivative between each two chords of the parabola through their three points."""
    before, after = steps[:-1], steps[1:]
    return (after * chords[:-1] + before * chords[1:]) / (before + after)
