"""Contact detection, payload compensation and filters of a measured wrench."""

from math import hypot, inf, sqrt

import numpy as np

from kinetarium.spatial import se3
from kinetarium.spatial.arrays import Array


class ContactGate:
    """Enables the desired wrench at first contact, for good.

    Without it the impulse of the admittance law winds up during the approach: at -500 N and
    the paper's gains it amounts to 1.9 m after 2.8 s.

    Attributes:
        opened_at: When it opened [s]; infinite while it is closed.
    """

    def __init__(self, *, threshold: float, armed_after: float) -> None:
        """Start closed.

        Args:
            threshold: Force that opens it [N]; with zero it is open from the start.
            armed_after: Time before which it stays closed while servos and filters settle [s].
        """
        self._threshold, self._armed_after = threshold, armed_after
        self.reset()

    def reset(self) -> None:
        """Close it."""
        self.opened_at = 0.0 if self._threshold == 0 else inf

    @property
    def is_open(self) -> bool:
        """Whether it has opened."""
        return self.opened_at < inf

    def update(self, t: float, F_B: Array) -> bool:
        """Check a filtered wrench [N, N m] at a time [s]; return whether the gate just opened."""
        if self.is_open or t < self._armed_after:
            return False
        if hypot(*F_B[:3].tolist()) <= self._threshold:
            return False
        self.opened_at = t
        return True


def contact_point(F_B: Array, *, face: float) -> Array:
    """Return the point where the line of action crosses the face x = `face` [m], shape (3,).

    Args:
        F_B: Wrench on the body, in its frame [N, N m], shape (6,).
        face: Position of the face along x of that frame [m].

    Returns:
        The point, in the body's frame; NaN if the force is parallel to the face.
    """
    f, m = F_B[:3], F_B[3:]
    if f[0] == 0:
        return np.full(3, np.nan)
    nearest = np.cross(f, m) / (f @ f)
    return np.asarray(nearest + (face - nearest[0]) / f[0] * f)


class PayloadWrench:
    """Removes the payload's weight and, optionally, its inertia from a sensor reading."""

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
        """Return the wrench F_B of the environment on the body, in {b} [N, N m], shape (6,).

        Args:
            F_S: The reading, in the sensor's frame [N, N m], shape (6,).
            R_WB: Rotation of the payload, shape (3, 3).
            acceleration: Of the centre of mass, in world axes [m/s^2], shape (3,); None to
                neglect it.
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
        """Discard all samples."""
        self._sum, self._count = np.zeros(6), 0

    def add(self, F: Array) -> None:
        """Add a sample [N, N m], shape (6,)."""
        self._sum += F
        self._count += 1

    def take(self) -> Array:
        """Return the mean of at least one sample [N, N m], shape (6,), and start again."""
        mean = self._sum / self._count
        self.reset()
        return mean


class RandomWalkKalman:
    """The steady-state Kalman filter of a random walk, the same on every axis.

    x' = x + w, z = x + v with the variances Q of w and R of v; the variance of the
    prediction solves P^2 - Q P - Q R = 0, and the gain is P/(P + R).

    Attributes:
        gain: The weight of a new sample [-].
    """

    def __init__(self, ratio: float) -> None:
        """Compute the gain.

        Args:
            ratio: Q/R [-]; small for a smooth and slow filter.
        """
        predicted = (ratio + sqrt(ratio * ratio + 4 * ratio)) / 2
        self.gain = predicted / (predicted + 1)
        self.reset()

    @property
    def lag(self) -> float:
        """Its delay on a slow signal [ticks]."""
        return (1 - self.gain) / self.gain

    def reset(self) -> None:
        """Clear the state; the next sample becomes the estimate."""
        self._value: Array | None = None

    def update(self, z: Array) -> Array:
        """Return the estimate after a sample, shape (6,)."""
        if self._value is None:
            self._value = z.copy()
        else:
            self._value = self._value + self.gain * (z - self._value)
        return self._value
