"""Curvature of a driven path, and how restless it is."""

import numpy as np

from kinetarium.spatial.arrays import Array


def path_curvature(velocities: Array, *, period: float, window: float, slowest: float) -> Array:
    """Give the curvature of a path along the time it was driven [1/m], shape (n - k,).

    The curvature is the rate at which the direction of travel turns, over the speed.
    Velocities are averaged over a window first, k samples long, or the noise of
    single steps would be all there is to see.

    Args:
        velocities: Velocities in the plane at equal times [m/s], shape (n, 2).
        period: Time between two of them [s].
        window: Length of the average [s].
        slowest: Speed below which the direction means nothing [m/s]; the curvature is NaN there.
    """
    count = max(1, round(window / period))
    sums = np.cumsum(np.vstack([np.zeros(2), velocities]), axis=0)
    smooth = (sums[count:] - sums[:-count]) / count
    speed = np.linalg.norm(smooth, axis=1)
    direction = np.unwrap(np.arctan2(smooth[:, 1], smooth[:, 0]))
    between = (speed[1:] + speed[:-1]) / 2
    moving = np.minimum(speed[1:], speed[:-1]) >= slowest
    curvature = np.full(len(between), np.nan)
    curvature[moving] = (np.diff(direction) / period)[moving] / between[moving]
    return curvature


def total_variation(values: Array) -> float:
    """Give the sum of all changes from sample to sample; gaps (NaN) are passed over."""
    changes = np.abs(np.diff(values))
    return float(changes[np.isfinite(changes)].sum())
