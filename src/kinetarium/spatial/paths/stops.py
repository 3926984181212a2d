"""Where a Bezier curve stops, so that it has no direction there.

The velocity of a Bezier curve lies in the hull of its control velocities (G. Farin, "Curves and
Surfaces for CAGD", 2002, sections 4.3 and 5.3). A piece whose control velocities all have a
positive part along one direction therefore moves on; the others are halved until they do, or
until an end is found at rest.
"""

import numpy as np
from numpy.typing import NDArray

from kinetarium.spatial.arrays import Array
from kinetarium.spatial.paths.error import PathError

SLOWEST = 1e-9
"""Below this, relative to the largest control velocity of its piece, a velocity is a stop [-]."""

_MOST_HALVINGS = 40


def stop_refusal(parameter: float) -> PathError:
    """Give the refusal of a curve that has no direction at a parameter."""
    return PathError(
        f"the curve stops or turns on the spot at parameter {parameter:.6g}, "
        "where it has no direction; move the points around it"
    )


def find_stop(velocities: Array) -> float | None:
    """Give a parameter, piece and fraction of it, at which a curve stops, or None.

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
        doubtful = ~_moving(velocities, slow)
        if not doubtful.any():
            return None
        velocities = _halves(velocities[doubtful])
        starts = np.concatenate([starts[doubtful], starts[doubtful] + width / 2])
        slow = np.tile(slow[doubtful], 2)
    return float(starts.min())


def _moving(velocities: Array, slow: Array) -> NDArray[np.bool_]:
    """Tell which pieces certainly go faster than slow, along the sum of their velocities."""
    along = velocities.sum(axis=1, keepdims=True)
    least = np.vecdot(velocities, along).min(axis=1)
    return np.asarray(least > slow * np.linalg.norm(along[:, 0], axis=-1))


def _halves(pieces: Array) -> Array:
    """Give the control points of the first halves, then of the second (De Casteljau)."""
    first, second = np.empty_like(pieces), np.empty_like(pieces)
    for k in range(pieces.shape[1]):
        first[:, k], second[:, -1 - k] = pieces[:, 0], pieces[:, -1]
        pieces = (pieces[:, :-1] + pieces[:, 1:]) / 2
    return np.concatenate([first, second])
