"""Who may touch whom, in the bits by which SAPIEN filters collisions."""

import numpy as np
from numpy.typing import NDArray

from kinetarium.scene import SceneError

_BITS = 32


def collision_groups(may_touch: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Give each solid its groups, so that exactly the right pairs touch.

    Two shapes touch if a bit of the first one's type is in the second one's
    affinity, or the other way round. Each bit thus lets a set of solids touch
    another set; such pairs of sets are grown greedily, to lay open as many
    pairs as possible, until all are.

    Args:
        may_touch: Whether two solids may touch, symmetric, shape (n, n).

    Returns:
        Type and affinity of each solid.

    Raises:
        SceneError: If 32 bits do not suffice.
    """
    count = len(may_touch)
    # Shapes of one solid are one actor's and never meet.
    open_to = may_touch | np.eye(count, dtype=np.bool_)
    missing = may_touch.copy()
    types, affinities = [0] * count, [0] * count
    for bit in range(_BITS):
        if not missing.any():
            break
        ones, others = _grow(open_to, missing)
        missing[np.ix_(ones, others)] = False
        missing[np.ix_(others, ones)] = False
        for i in np.flatnonzero(ones):
            types[i] |= 1 << bit
        for i in np.flatnonzero(others):
            affinities[i] |= 1 << bit
    if missing.any():
        raise SceneError("PhysX cannot tell so many kinds of pairs apart that may not touch")
    return list(zip(types, affinities, strict=True))


def _grow(
    open_to: NDArray[np.bool_], missing: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Give two sets of which each member of one may touch each of the other."""
    ones = np.zeros(len(open_to), dtype=np.bool_)
    first = int(np.argmax(missing.sum(axis=1)))
    ones[first] = True
    others = open_to[first]
    covered = int(missing[first].sum())
    while True:
        left = open_to & others  # what remains of the others beside each candidate
        gains = left @ missing[ones].sum(axis=0) + (left & missing).sum(axis=1)
        gains[ones] = 0
        best = int(np.argmax(gains))
        if gains[best] <= covered:
            return ones, others
        covered = int(gains[best])
        ones[best] = True
        others = left[best]
