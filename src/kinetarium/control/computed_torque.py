"""Computed torque: the robot's own model turns a wanted acceleration into torques.

tau = M a + C v + g with a = omega^2 (q_ref - q) + 2 omega (v_ref - v): where the model is
right, every joint follows its reference like a critically damped oscillator of its own
(Siciliano et al., "Robotics: Modelling, Planning and Control", 2009, section 8.5.2).
"""

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.dynamics import RobotDynamics
from kinetarium.spatial.arrays import Array


class ComputedTorque:
    """Joint torques by which a fixed-base robot follows a reference."""

    def __init__(self, dynamics: RobotDynamics, *, bandwidth: ArrayLike) -> None:
        """Keep the model and the gains.

        Args:
            dynamics: The robot, with whatever it carries.
            bandwidth: How fast an error of each joint fades, omega [rad/s], shape (n,) or
                one for all.
        """
        self._dynamics = dynamics
        omega = np.broadcast_to(np.asarray(bandwidth, dtype=np.float64), dynamics.nv)
        self._stiffness = omega**2
        self._damping = 2 * omega

    def torques(self, q: Array, v: Array, *, q_ref: Array, v_ref: Array) -> Array:
        """Give the torques [N m or N], shape (n,), at a state for a reference."""
        a = self._stiffness * (q_ref - q)
        a += self._damping * (v_ref - v)
        return self._dynamics.inverse_dynamics(q, v, a)
