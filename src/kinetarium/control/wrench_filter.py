"""Filters of force-torque sensors: the mean over a tick, and a Kalman filter per axis.

A filter is a delay too: the mean over a tick of length h lags by h/2, the Kalman filter by
(1 - g)/g ticks, where g is its gain. The delay counts in the loop like any other.
"""

from math import sqrt

import numpy as np

from kinetarium.spatial.arrays import Array


class TickAverage:
    """The mean of all samples since the last tick."""

    def __init__(self) -> None:
        """Start with no sample."""
        self.reset()

    def reset(self) -> None:
        """Forget all samples."""
        self._sum, self._count = np.zeros(6), 0

    def add(self, F: Array) -> None:
        """Take a sample [N, N m], shape (6,)."""
        self._sum += F
        self._count += 1

    def take(self) -> Array:
        """Give the mean [N, N m], shape (6,), and start anew; there is at least one sample."""
        mean = self._sum / self._count
        self.reset()
        return mean


class RandomWalkKalman:
    """A Kalman filter of a value that walks at random, the same on every axis, in steady state.

    x' = x + w, z = x + v with the variances Q of w and R of v; the variance of the
    prediction solves P^2 - Q P - Q R = 0, and the gain is P/(P + R).

    Attributes:
        gain: What is taken over of a new sample [-].
    """

    def __init__(self, ratio: float) -> None:
        """Find the gain.

        Args:
            ratio: Q/R [-]; small for a smooth and slow filter.
        """
        predicted = (ratio + sqrt(ratio * ratio + 4 * ratio)) / 2
        self.gain = predicted / (predicted + 1)
        self.reset()

    @property
    def lag(self) -> float:
        """By how many ticks it is late on a slow signal [-]."""
        return (1 - self.gain) / self.gain

    def reset(self) -> None:
        """Forget everything; the first sample is taken as it is."""
        self._value: Array | None = None

    def update(self, z: Array) -> Array:
        """Give the estimate after a sample, shape (6,)."""
        if self._value is None:
            self._value = z.copy()
        else:
            self._value = self._value + self.gain * (z - self._value)
        return self._value
