"""Moving mean and variance: how much a signal changes within short windows.

The average moving variance of a contact force measures its discontinuity (Lee, Yoon, Park,
Park, "Performance evaluation of robotic physics engine for mobile manipulator simulation",
2023). A window is described by its own variance, the sum of squares divided by its length.
"""

import numpy as np

from kinetarium.spatial.arrays import Array


def moving_mean(signal: Array, window: int) -> Array:
    """Give the mean of every window, shape (n - window + 1,); none where the signal is shorter.

    Args:
        signal: Samples at equal times, shape (n,).
        window: Samples of a window.
    """
    means: Array = _windows(signal, window).mean(axis=1)
    return means


def moving_variance(signal: Array, window: int) -> Array:
    """Give the variance of every window, shape (n - window + 1,), as `moving_mean`."""
    variances: Array = _windows(signal, window).var(axis=1)
    return variances


def mean_moving_variance(signal: Array, window: int, *, disjoint: bool = False) -> float:
    """Give the mean variance of the windows; NaN where the signal is shorter than one.

    Args:
        signal: Samples at equal times, shape (n,).
        window: Samples of a window.
        disjoint: Whether windows follow each other without overlap, instead of sample by sample.
    """
    variances = moving_variance(signal, window)[:: window if disjoint else 1]
    return float(variances.mean()) if variances.size else float("nan")


def _windows(signal: Array, window: int) -> Array:
    if len(signal) < window:
        return np.empty((0, window))
    return np.lib.stride_tricks.sliding_window_view(signal, window)
