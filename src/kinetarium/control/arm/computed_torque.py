"""Computed torque, a grasp law on top of it, and stable PD control.

In the grasp law the model carries half of the load at each side of the gripper. Each moving finger
has one joint; u = opening (q - q_0) is its motion off the load, in metres. The reference of two
fingers is their mean, so that computed torque only keeps the load in the middle of the hand;
the closing force c = clip(k (r - u_mean) - d u'_mean) is added to both. A finger that closes on a
fixed jaw has the closing force alone.
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
"""Of the fingers' common sideways motion [rad/s]; without a load, the Panda's are unstable above
55, since the model includes the load."""
GRIP_STIFFNESS = 1e4
"""Stiffness between the fingers and their command [N/m]."""
GRIP_DAMPING = 20.0
"""Damping of the fingers' closing [N s/m]."""
FINGER_FORCE = 100.0
"""Greatest force for the fingers' common sideways motion [N]."""
SWIFTEST = 18.0
"""Most inertia of a finger with its share of the load, over that of the finger alone, at which
FINGER_BANDWIDTH is stable before the finger touches [-]; beyond it the bandwidth falls."""


@dataclass(frozen=True, slots=True, eq=False)
class GraspReference:
    """The reference at each control step; the last one is held.

    Attributes:
        rate: Steps per second [Hz].
        q: Positions of the arm [rad], shape (k, arm).
        v: Velocities of the arm [rad/s], shape (k, arm).
        opening: Commanded motion of the fingers off the load [m], shape (k,); negative to grip.
        grip: Greatest closing force [N], shape (k,).
    """

    rate: float
    q: Array
    v: Array
    opening: Array
    grip: Array


class GraspComputedTorque:
    """Joint torques of an arm whose last joints close the fingers of a gripper."""

    def __init__(
        self,
        dynamics: RobotDynamics,
        reference: GraspReference,
        *,
        touching: ArrayLike,
        openings: ArrayLike = (1.0, 1.0),
        bandwidth: float = FINGER_BANDWIDTH,
        most_aside: float = FINGER_FORCE,
        sideways: bool = True,
    ) -> None:
        """Keep the model and the reference.

        Args:
            dynamics: The arm with half of the load at each side of the gripper.
            reference: The motion of arm and fingers.
            touching: Positions of one or two finger joints where they touch the load, shape (1,)
                or (2,).
            openings: Motion of each finger off the load by its joint [m/rad or m/m].
            bandwidth: Of the fingers' common sideways motion [rad/s].
            most_aside: Greatest force for that motion [N].
            sideways: Whether the load can move sideways with the fingers. Where fingers swing, it
                is wedged between them: what they press aside does not accelerate it.
        """
        joints = dynamics.model.moving_joints
        self._touching = np.asarray(touching, dtype=np.float64)
        self._openings = np.asarray(openings, dtype=np.float64)
        self._arm = len(joints) - len(self._touching)
        fingers = [bandwidth] * len(self._touching)
        self._law = ComputedTorque(dynamics, bandwidth=[ARM_BANDWIDTH] * self._arm + fingers)
        self._upper = np.array([joint.limits.rated_effort for joint in joints[: self._arm]])
        self._lower = -self._upper
        self._sideways = sideways
        self._reference = reference
        self._last = len(reference.q) - 1
        self._most = most_aside
        self._q_ref = np.zeros(len(joints))
        self._v_ref = np.zeros(len(joints))

    @property
    def rate(self) -> float:
        """Control rate [Hz]."""
        return self._reference.rate

    def reset(self) -> None:
        """Do nothing: the law has no state."""

    def update(self, t: float, measurement: Measurement) -> Array:
        """Return the torques and forces at a time [s], shape (arm + fingers,)."""
        reference, q, v, n = self._reference, measurement.q, measurement.v, self._arm
        k = min(round(t * reference.rate), self._last)
        q_ref, v_ref = self._q_ref, self._v_ref
        q_ref[:n], v_ref[:n] = reference.q[k], reference.v[k]
        mean = float((self._openings * (q[n:] - self._touching)).mean())
        speed = float((self._openings * v[n:]).mean())
        q_ref[n:] = self._touching + mean / self._openings
        v_ref[n:] = speed / self._openings
        tau = self._law.torques(q, v, q_ref=q_ref, v_ref=v_ref)
        closing = GRIP_STIFFNESS * (reference.opening[k] - mean) - GRIP_DAMPING * speed
        force = np.full(len(self._touching), _clipped(closing, reference.grip[k]))
        if len(force) == 2:
            first, second = tau[n:] / self._openings
            aside = _clipped((first - second) / 2, self._most)
            force += (aside, -aside)
        if not self._sideways:
            q_ref[n:], v_ref[n:] = q[n:], v[n:]
            tau = self._law.torques(q, v, q_ref=q_ref, v_ref=v_ref)
        arm = tau[:n]
        np.minimum(np.maximum(arm, self._lower, out=arm), self._upper, out=arm)
        tau[n:] = self._openings * force
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
