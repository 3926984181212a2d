"""Stable proportional-derivative control: the spring and damper of the next step, not this one.

J. Tan, K. Liu, G. Turk, "Stable proportional-derivative controllers", 2011:
tau = -Kp (q + h v - q_ref) - Kd (v + h a - v_ref), where a is the acceleration
that this very torque causes; solving for it keeps stiff gains stable at large steps.
"""

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.dynamics import RobotDynamics
from kinetarium.spatial.arrays import Array


class StablePD:
    """Joint torques that hold a fixed-base robot at a reference."""

    def __init__(
        self,
        dynamics: RobotDynamics,
        *,
        stiffness: ArrayLike,
        damping: ArrayLike,
        timestep: float,
    ) -> None:
        """Keep the model and the gains.

        Args:
            dynamics: The robot.
            stiffness: Gains Kp [N m/rad or N/m], shape (n,) or one for all.
            damping: Gains Kd [N m s/rad or N s/m], shape (n,) or one for all.
            timestep: How long a torque is held [s].
        """
        self._dynamics = dynamics
        self._stiffness = np.broadcast_to(np.asarray(stiffness, dtype=np.float64), dynamics.nv)
        self._damping = np.broadcast_to(np.asarray(damping, dtype=np.float64), dynamics.nv)
        self._timestep = timestep

    def torques(self, q: Array, v: Array, *, q_ref: Array, v_ref: Array) -> Array:
        """Give the torques [N m or N], shape (n,), at a state for a reference."""
        h = self._timestep
        pull = -self._stiffness * (q + h * v - q_ref) - self._damping * (v - v_ref)
        M = self._dynamics.mass_matrix(q) + np.diag(self._damping) * h
        a = np.linalg.solve(M, pull - self._dynamics.bias(q, v))
        return np.asarray(pull - self._damping * h * a)
