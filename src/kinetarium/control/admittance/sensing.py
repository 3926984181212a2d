"""ContactGate: opens once when a force shows that there is contact, and stays open."""

from math import hypot, inf, sqrt

import numpy as np

from kinetarium.spatial import se3
from kinetarium.spatial.arrays import Array


class ContactGate:
    """Decides when the wanted wrench may act.

    Without it the impulse of the admittance law winds up on the way: at -500 N and the
    paper's gains it asks for 1.9 m after 2.8 s.

    Attributes:
        opened_at: When it opened [s]; infinite while it is shut.
    """

    def __init__(self, *, threshold: float, armed_after: float) -> None:
        """Start shut.

        Args:
            threshold: Force that opens it [N]; one of zero is open from the start.
            armed_after: Time before which nothing opens it, for servos and filters settle [s].
        """
        self._threshold, self._armed_after = threshold, armed_after
        self.reset()

    def reset(self) -> None:
        """Shut it."""
        self.opened_at = 0.0 if self._threshold == 0 else inf

    @property
    def is_open(self) -> bool:
        """Whether it has opened."""
        return self.opened_at < inf

    def update(self, t: float, F_B: Array) -> bool:
        """Look at a filtered wrench [N, N m] at a time [s]; say whether it opens just now."""
        if self.is_open or t < self._armed_after:
            return False
        if hypot(*F_B[:3].tolist()) <= self._threshold:
            return False
        self.opened_at = t
        return True


def contact_point(F_B: Array, *, face: float) -> Array:
    """Return the point on the face x = `face` through which a force acts [m], shape (3,).

    Args:
        F_B: Wrench on the body, in its frame [N, N m], shape (6,).
        face: Where the face is along x of that frame [m].

    Returns:
        The point, in the body's frame; NaN where the force does not cross the face.
    """
    f, m = F_B[:3], F_B[3:]
    if f[0] == 0:
        return np.full(3, np.nan)
    nearest = np.cross(f, m) / (f @ f)
    return np.asarray(nearest + (face - nearest[0]) / f[0] * f)


class PayloadWrench:
    """Takes weight and, where asked, inertia of the payload out of a reading."""

    def __init__(self, *, mass: float, X_SB: Array, gravity: Array) -> None:
        """Keep the payload.

        Args:
            mass: Mass of the payload [kg].
            X_SB: Its centre of mass in the sensor's frame, shape (4, 4).
            gravity: Acceleration of gravity in the world [m/s^2], shape (3,).
        """
        self._mass = mass
        self._weight = mass * np.asarray(gravity, dtype=np.float64)
        self._to_body = np.ascontiguousarray(se3.adjoint(X_SB).T)

    def contact(self, F_S: Array, *, R_WB: Array, acceleration: Array | None = None) -> Array:
        """Return the wrench F_B of the surroundings on the body, in {b} [N, N m], shape (6,).

        Args:
            F_S: The reading, in the sensor's frame [N, N m], shape (6,).
            R_WB: Rotation of the payload, shape (3, 3).
            acceleration: Of the centre of mass, in world axes [m/s^2], shape (3,); None where
                it is too small to matter.
        """
        F_B: Array = self._to_body.dot(F_S)
        force = self._weight if acceleration is None else self._weight - self._mass * acceleration
        F_B[:3] -= force.dot(R_WB)
        return F_B


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
        """Return the mean [N, N m], shape (6,), and start anew; there is at least one sample."""
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
        """Return the estimate after a sample, shape (6,)."""
        if self._value is None:
            self._value = z.copy()
        else:
            self._value = self._value + self.gain * (z - self._value)
        return self._value
