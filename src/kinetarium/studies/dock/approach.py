"""The approach: a straight quintic path towards the target."""

import numpy as np

from kinetarium.spatial.arrays import Array

GAP = 0.1674
"""Distance of the docking faces at the start [m]."""
DISTANCE = 0.20
"""Length of the path [m]; it would end inside the target."""
DURATION = 4.0
"""Time that it takes [s]."""


class Approach:
    """Pose and twist along x of the start pose: s = 10 u^3 - 15 u^4 + 6 u^5 with u = t/T."""

    def __init__(self, X_WB: Array) -> None:
        """Start at rest.

        Args:
            X_WB: Pose at the start, shape (4, 4).
        """
        self._start, self._along = X_WB.copy(), DISTANCE * X_WB[:3, 0]

    def at(self, t: float) -> tuple[Array, Array]:
        """Give pose and body twist at a time [s], shapes (4, 4) and (6,)."""
        u = min(t / DURATION, 1.0)
        s = u**3 * (10 - 15 * u + 6 * u**2)
        X, V = self._start.copy(), np.zeros(6)
        X[:3, 3] += s * self._along
        V[0] = DISTANCE / DURATION * 30 * u**2 * (1 - u) ** 2
        return X, V

    def acceleration(self, t: float) -> Array:
        """Give the acceleration in the world at a time [m/s^2], shape (3,)."""
        u = min(t / DURATION, 1.0)
        return np.asarray(60 * u * (1 - u) * (1 - 2 * u) / DURATION**2 * self._along)
