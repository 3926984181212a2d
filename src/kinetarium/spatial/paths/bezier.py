"""Bezier: one polynomial curve drawn towards its control points."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.spatial.arrays import Array
from kinetarium.spatial.paths.error import PathError, checked_points
from kinetarium.spatial.paths.piecewise_bezier import PiecewiseBezier

MOST_CONTROLS = 200
"""More control points cancel each other: one curve shows next to nothing of them."""


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
                alike, one is not finite, or the curve stops on its way.
        """
        points = checked_points("a Bezier curve", controls)
        if len(points) > MOST_CONTROLS:
            raise PathError(
                f"a Bezier curve of {len(points)} control points is too long for one curve "
                f"(at most {MOST_CONTROLS}); lay a BezierSpline through the points"
            )
        object.__setattr__(self, "controls", points)
        # Measured now, so that a curve that stops is refused here and not at its first use.
        _ = self._arc_length

    @property
    def _pieces(self) -> Array:
        return self.controls[np.newaxis]
