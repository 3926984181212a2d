"""Closed-loop inverse kinematics: from the twist of a link to joint rates within the limits.

    qdot = J_B^+ (V_ref + gain log(X_WB^-1 X_WR)),   X_WR <- X_WR exp(V_ref dt)

(Siciliano et al., "Robotics: Modelling, Planning and Control", 2009, section 3.7; equation 16
of Woo, Choi and Won, 2024, where the reference is the integral of V_ref). The inverse is
damped near singularities only; a joint stops at its limit, and all rates are scaled down
together where one would be too fast, which keeps the direction of motion.
"""

from dataclasses import dataclass
from math import inf

import numpy as np

from kinetarium.dynamics.chain import serial_chain
from kinetarium.model.robot import RobotModel
from kinetarium.spatial.arrays import Array

SINGULAR = 0.08
"""Smallest singular value of the Jacobian below which damping begins [m or 1]."""
DAMPING = 0.05
"""Damping of the inverse at a singularity [m or 1]."""
LIMIT_MARGIN = 0.02
"""Distance to its limit at which a joint stops [rad or m]."""


@dataclass(frozen=True, slots=True)
class ClikWarnings:
    """The constraints that were active at the last tick.

    Attributes:
        singular: Whether the arm is near a singularity.
        at_limit: Whether a joint was stopped at its limit.
        too_fast: Whether the rates were scaled down.
    """

    singular: bool = False
    at_limit: bool = False
    too_fast: bool = False


class Clik:
    """Turns twists of a link into joint rates.

    Attributes:
        X_WR: The reference pose of the link, shape (4, 4).
        smallest_singular_value: Of the Jacobian at the last tick [m or 1].
    """

    def __init__(self, model: RobotModel, *, link: str, gain: float = 5.0, timestep: float) -> None:
        """Keep the arm and its limits.

        Args:
            model: The arm, its base fixed at the world's frame.
            link: The controlled link.
            gain: Feedback gain of the pose error [1/s].
            timestep: Time between two ticks [s].
        """
        # Imported here, since Numba takes a second to load.
        from kinetarium.control.arm import _clik_kernel as clik_kernel

        self._kernel = clik_kernel
        self._chain = serial_chain(model, base_link=model.root, tool=link).arrays
        self._gain, self._timestep = gain, timestep
        limits = [joint.limits for joint in model.moving_joints]
        self._frames, self._X_WB = np.empty((len(limits) + 2, 3, 4)), np.eye(4)
        self._J = np.empty((6, len(limits)))
        self._lower = np.array([limit.lower for limit in limits]) + LIMIT_MARGIN
        self._upper = np.array([limit.upper for limit in limits]) - LIMIT_MARGIN
        self._speed = np.array([limit.velocity or inf for limit in limits])
        self.reset(np.eye(4))

    def reset(self, X_WB: Array) -> None:
        """Start with the link at its reference.

        Args:
            X_WB: Pose of the link, shape (4, 4).
        """
        self.X_WR = np.array(X_WB)
        self.smallest_singular_value, self._stopped, self._excess = inf, False, 0.0

    @property
    def warnings(self) -> ClikWarnings:
        """The constraints that were active at the last tick."""
        return ClikWarnings(
            self.smallest_singular_value < SINGULAR, self._stopped, self._excess > 1
        )

    def locate(self, q: Array) -> Array:
        """Return the pose of the link at joint positions q, shapes (4, 4) and (n,)."""
        chain = self._chain
        self._kernel.locate(
            chain.frames, chain.prismatic, chain.lower, q, self._frames, self._X_WB, self._J
        )
        return self._X_WB.copy()

    def rates(self, q: Array, *, V_ref: Array) -> Array:
        """Return joint rates [rad/s or m/s], shape (n,), and advance the reference by one tick.

        Args:
            q: Joint positions for which `locate` was called last, shape (n,).
            V_ref: Body twist [v; w] to move with [m/s, rad/s], shape (6,).
        """
        rates = np.empty(len(q))
        self.smallest_singular_value, self._stopped, self._excess = self._kernel.tick(
            q, self._X_WB, V_ref, self.X_WR, self._J, self._gain, self._timestep, SINGULAR,
            DAMPING, self._lower, self._upper, self._speed, rates,
        )  # fmt: skip
        return rates
