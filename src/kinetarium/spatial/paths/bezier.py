"""Bezier: one polynomial curve drawn towards its control points."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.spatial.arrays import Array
from kinetarium.spatial.paths.error import SHORTEST, PathError, checked_points
from kinetarium.spatial.paths.piecewise_bezier import PiecewiseBezier
from kinetarium.spatial.paths.stops import SLOWEST, find_stop

MOST_CONTROLS = 200
"""More control points cancel each other: one curve shows next to nothing of them."""

_ROUNDING = 4e-15
"""Points of a line lie this far beside it, relative to their largest coordinate [-]."""


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
            PathError: If there are too few or too many, two neighbours are
                alike, one is not finite, or the curve turns on the spot or bends where it stops.
        """
        points = checked_points("a Bezier curve", controls)
        if len(points) > MOST_CONTROLS:
            raise PathError(
                f"a Bezier curve of {len(points)} control points is too long for one curve "
                f"(at most {MOST_CONTROLS}); lay a BezierSpline through the points"
            )
        object.__setattr__(self, "controls", points)
        self._refuse_stops()

    @cached_property
    def _pieces(self) -> Array:
        controls = self.controls[[0, -1]] if _straight(self.controls) else self.controls
        return controls[np.newaxis]


def _straight(controls: Array) -> bool:
    """Tell whether the curve is the straight line from its first control point to its last.

    By arc length it is, even if it pauses on its way, as that of the points A, B, A, B does.
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
    # Hurried along a little, a curve that pauses stops nowhere; one that turns back still does.
    velocities = np.diff(controls, axis=0)
    hurry = 4 * SLOWEST * np.linalg.norm(velocities, axis=1).max() * along
    return find_stop((velocities + hurry)[np.newaxis]) is None
