"""The Pareto front: what nothing else beats in both of two respects."""

import numpy as np
from numpy.typing import NDArray

from kinetarium.spatial.arrays import Array


def pareto_front(costs: Array, errors: Array) -> NDArray[np.intp]:
    """Give the points than which none is at once cheaper and better, by rising cost, shape (m,).

    Of equal points the first is given. Points with a NaN are never part of it.

    Args:
        costs: The less the better, shape (n,).
        errors: The less the better, shape (n,).
    """
    known = np.flatnonzero(~(np.isnan(costs) | np.isnan(errors)))
    order = known[np.lexsort((errors[known], costs[known]))]
    best = np.minimum.accumulate(errors[order])
    return order[np.diff(best, prepend=np.inf) < 0]
