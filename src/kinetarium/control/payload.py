"""PayloadWrench: what a sensor behind a payload reads of the surroundings alone.

The sensor carries weight and inertia of the payload beside the contact:

    F_B = Ad(X_SB)^T F_S - [R_WB^T m g; 0] + m [a; 0]

(equation 3 of Woo, Choi and Won, 2024, with the inertia that it leaves out). F_S is the
wrench of the load on the sensor, {b} the centre of mass. Only the force of inertia is taken
out: the moments of a payload that turns this slowly are lost in the noise.
"""

import numpy as np

from kinetarium.spatial import se3
from kinetarium.spatial.arrays import Array


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
        """Give the wrench F_B of the surroundings on the body, in {b} [N, N m], shape (6,).

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
