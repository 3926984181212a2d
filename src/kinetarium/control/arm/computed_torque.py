"""Computed torque, a grasp law on top of it, and stable PD control.

In the grasp law the model carries half of the load at each finger. The reference of both
fingers is their mean position, so that computed torque only keeps the load in the middle of
the hand; the closing force c = clip(k (r - q_mean) - d v_mean) is added to both.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.control.interface import Measurement
from kinetarium.dynamics import RobotDynamics
from kinetarium.spatial.arrays import Array


class ComputedTorque:
    """Computed-torque control of a fixed-base robot."""

    def __init__(self, dynamics: RobotDynamics, *, bandwidth: ArrayLike) -> None:
        """Keep the model and the gains.

        Args:
            dynamics: The robot with its payload.
            bandwidth: Bandwidth omega of each joint's critically damped error [rad/s],
                shape (n,) or one for all.
        """
        self._dynamics = dynamics
        omega = np.broadcast_to(np.asarray(bandwidth, dtype=np.float64), dynamics.nv)
        self._stiffness = omega**2
        self._damping = 2 * omega

    def torques(self, q: Array, v: Array, *, q_ref: Array, v_ref: Array) -> Array:
        """Return the torques [N m or N], shape (n,), at a state for a reference."""
        a = self._stiffness * (q_ref - q)
        a += self._damping * (v_ref - v)
        return self._dynamics.inverse_dynamics(q, v, a)


ARM_BANDWIDTH = 50.0
"""Of the arm's joints [rad/s]."""
FINGER_BANDWIDTH = 45.0
"""Of the fingers' common sideways motion [rad/s]; without a load, fingers are unstable above
55, since the model includes the load."""
GRIP_STIFFNESS = 1e4
"""Stiffness between the fingers and their command [N/m]."""
GRIP_DAMPING = 20.0
"""Damping of the fingers' closing [N s/m]."""
FINGER_FORCE = 100.0
"""Greatest force for the fingers' common sideways motion [N]."""


@dataclass(frozen=True, slots=True, eq=False)
class GraspReference:
    """The reference at each control step; the last one is held.

    Attributes:
        rate: Steps per second [Hz].
        q: Positions of the arm [rad], shape (k, arm).
        v: Velocities of the arm [rad/s], shape (k, arm).
        opening: Commanded finger positions [m], shape (k,); below half the load's width to grip.
        grip: Greatest closing force [N], shape (k,).
    """

    rate: float
    q: Array
    v: Array
    opening: Array
    grip: Array


class GraspComputedTorque:
    """Joint torques of an arm whose last two joints are the fingers of a gripper."""

    def __init__(self, dynamics: RobotDynamics, reference: GraspReference) -> None:
        """Keep the model and the reference.

        Args:
            dynamics: The arm with half of the load at each finger; positive finger
                positions open.
            reference: The motion of arm and fingers.
        """
        joints = dynamics.model.moving_joints
        bandwidth = [ARM_BANDWIDTH] * (len(joints) - 2) + [FINGER_BANDWIDTH] * 2
        self._law = ComputedTorque(dynamics, bandwidth=bandwidth)
        self._upper = np.array([joint.limits.effort for joint in joints[:-2]])
        self._lower = -self._upper
        self._reference = reference
        self._last = len(reference.q) - 1
        self._q_ref = np.zeros(len(joints))
        self._v_ref = np.zeros(len(joints))

    @property
    def rate(self) -> float:
        """Control rate [Hz]."""
        return self._reference.rate

    def reset(self) -> None:
        """Do nothing: the law has no state."""

    def update(self, t: float, measurement: Measurement) -> Array:
        """Return the torques and forces at a time [s], shape (arm + 2,)."""
        reference, q, v = self._reference, measurement.q, measurement.v
        k = min(round(t * reference.rate), self._last)
        q_ref, v_ref = self._q_ref, self._v_ref
        q_ref[:-2], v_ref[:-2] = reference.q[k], reference.v[k]
        mean, speed = (q[-2] + q[-1]) / 2, (v[-2] + v[-1]) / 2
        q_ref[-2:], v_ref[-2:] = mean, speed
        tau = self._law.torques(q, v, q_ref=q_ref, v_ref=v_ref)
        closing = GRIP_STIFFNESS * (reference.opening[k] - mean) - GRIP_DAMPING * speed
        grip = _clipped(closing, reference.grip[k])
        aside = _clipped((tau[-2] - tau[-1]) / 2, FINGER_FORCE)
        arm = tau[:-2]
        np.minimum(np.maximum(arm, self._lower, out=arm), self._upper, out=arm)
        tau[-2:] = grip + aside, grip - aside
        return tau


def _clipped(value: float, limit: float) -> float:
    return max(-limit, min(value, limit))


class StablePD:
    """Stable PD control of a fixed-base robot."""

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
            stiffness: Gains Kp [N m/rad or N/m], shape (n,) or one for all.
            damping: Gains Kd [N m s/rad or N s/m], shape (n,) or one for all.
            timestep: Time for which a torque is constant [s].
        """
        self._dynamics = dynamics
        self._stiffness = np.broadcast_to(np.asarray(stiffness, dtype=np.float64), dynamics.nv)
        self._damping = np.broadcast_to(np.asarray(damping, dtype=np.float64), dynamics.nv)
        self._timestep = timestep

    def torques(self, q: Array, v: Array, *, q_ref: Array, v_ref: Array) -> Array:
        """Return the torques [N m or N], shape (n,), at a state for a reference."""
        h = self._timestep
        pull = -self._stiffness * (q + h * v - q_ref) - self._damping * (v - v_ref)
        M = self._dynamics.mass_matrix(q) + np.diag(self._damping) * h
        a = np.linalg.solve(M, pull - self._dynamics.bias(q, v))
        return np.asarray(pull - self._damping * h * a)
