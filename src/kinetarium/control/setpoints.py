"""Setpoints: what a drive is told between two ticks of a controller, and how late.

A controller that runs at each tick t_k gives the positions for the end of that tick. The
line through these points is what the drive follows, `delay` later. Without the line, with
steps at each tick, a stiff contact chatters with kilonewtons.
"""

from collections import deque

import numpy as np

from kinetarium.spatial.arrays import Array

_INSTANT = 1e-9
"""Times nearer to each other than this are the same [s]."""


class Setpoints:
    """Positions and rates along straight lines between ticks, some time ago."""

    def __init__(self, start: Array, *, tick: float, delay: float) -> None:
        """Stand still.

        Args:
            start: Positions at the start, shape (n,).
            tick: Time between two points [s].
            delay: How late they reach the drive [s].
        """
        self._tick, self._delay = tick, delay
        # The time at which a line ends, and its two ends.
        self._lines: deque[tuple[float, Array, Array]] = deque()
        self._line = (0.0, start, start)

    def add(self, t: float, point: Array) -> None:
        """Go on to a point, to be reached one tick after t [s].

        Args:
            t: Time of the tick [s].
            point: Positions, shape (n,).
        """
        last = self._lines[-1] if self._lines else self._line
        self._lines.append((t + self._tick + self._delay, last[2], point))

    def at(self, t: float) -> tuple[Array, Array]:
        """Give positions and rates at a time [s] that never goes back, shape (n,) each."""
        while self._lines and t > self._lines[0][0] - self._tick + _INSTANT:
            self._line = self._lines.popleft()
        end, p, q = self._line
        left = end - t
        if left < -_INSTANT:
            return q, np.zeros_like(q)
        rates = (q - p) / self._tick
        return q - min(left, self._tick) * rates, rates
