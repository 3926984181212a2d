"""PathError, and the sizes and points that a path can be made of."""

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.errors import KinetariumError
from kinetarium.spatial.arrays import Array, frozen

SHORTEST = 1e-9
"""Sizes and distances between neighbouring points below this are slips of the pen [m]."""

FARTHEST = 1e9
"""Sizes and coordinates beyond this are slips of the pen [m]."""


class PathError(KinetariumError):
    """A path that cannot be built from what was given, or cannot answer a question."""


def checked_size(name: str, value: float) -> float:
    """Give a size [m] back as a float.

    Args:
        name: What it is the size of, for the message.
        value: The size [m].

    Raises:
        PathError: If it is no positive, finite, plausible length.
    """
    if not SHORTEST <= value <= FARTHEST:
        raise PathError(f"{name} is {value} m; it must lie between {SHORTEST:g} and {FARTHEST:g} m")
    return float(value)


def checked_points(name: str, points: ArrayLike) -> Array:
    """Give points [m] back as a read-only array, shape (n, 2) or (n, 3).

    Args:
        name: What they are the points of, for the message.
        points: At least two points, no two neighbours alike.

    Raises:
        PathError: If they are not such points.
    """
    try:
        array = frozen(points)
    except (TypeError, ValueError, OverflowError):
        raise PathError(f"points of {name} must be rows of two or three numbers") from None
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise PathError(f"points of {name} must have shape (n, 2) or (n, 3), not {array.shape}")
    if len(array) < 2:
        raise PathError(f"{name} needs at least two points, not {len(array)}")
    wild = np.flatnonzero(~(np.abs(array) <= FARTHEST).all(axis=1))
    if wild.size:
        raise PathError(
            f"point {wild[0]} of {name} is {array[wild[0]].tolist()}; "
            f"coordinates must be finite and within {FARTHEST:g} m"
        )
    repeated = np.flatnonzero(np.linalg.norm(np.diff(array, axis=0), axis=1) < SHORTEST)
    if repeated.size:
        raise PathError(f"points {repeated[0]} and {repeated[0] + 1} of {name} are the same")
    return array
