"""MovingBaseArm: holds the tool of an arm on a moving base at a pose, by computed torque.

The tool accelerates as a critically damped error of its pose demands, the base as planned; the
joint accelerations follow by resolved acceleration (Luh, Walker and Paul, 1980) with the
twist and the acceleration of the base on the right-hand side:

    J_a qdd = A_D + 2 w (V_D - V) + w^2 log(X X_D^-1) - Jdot v - J_b A_B

and the torques by the inverse dynamics of the floating robot. What the tool leaves free keeps the
arm near its planned motion.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetarium.dynamics import RobotDynamics
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import Array

_STEP = 1e-5
"""Time over which the Jacobian's change is measured [s]."""
_DAMPING = 1e-4
"""Of the inverse of the Jacobian [m or 1]; it bounds accelerations in a singularity."""


class ToolReference(NamedTuple):
    """Where the tool is to be, and how the rest of the robot is planned to move.

    Attributes:
        X_WT: Pose of the tool's link, shape (4, 4).
        V: Its twist [v; w] in world axes, shape (6,).
        A: The derivative of the twist, shape (6,).
        q: Planned positions of the arm's joints [rad or m], shape (n,).
        v: Their rates, shape (n,).
        A_B: Planned acceleration [v; w] of the root link in world axes, shape (6,).
    """

    X_WT: Array
    V: Array
    A: Array
    q: Array
    v: Array
    A_B: Array


class MovingBaseArm:
    """Torques of an arm on a free base."""

    def __init__(
        self,
        dynamics: RobotDynamics,
        *,
        link: str,
        joints: NDArray[np.int64],
        bandwidth: float = 60.0,
        posture: float = 10.0,
    ) -> None:
        """Keep the robot and the gains.

        Args:
            dynamics: The robot with its free base.
            link: The link whose pose is held.
            joints: The arm's joints among the moving ones, shape (n,).
            bandwidth: Of the error of the tool [rad/s].
            posture: Of the motion that the tool leaves free [rad/s].
        """
        self._dynamics, self._link = dynamics, link
        self._joints, self._columns = joints, 6 + np.asarray(joints)
        self._bandwidth, self._posture = bandwidth, posture
        # An arm with less than six joints holds positions alone.
        self._rows = 6 if len(joints) >= 6 else 3
        moving = dynamics.model.moving_joints
        self._most = np.array([moving[i].limits.rated_effort for i in joints])

    def torques(self, q: Array, v: Array, *, wanted: ToolReference) -> Array:
        """Return the torques of the arm's joints within their limits, shape (n,).

        Args:
            q: Configuration of the robot as it is known, shape (7 + joints,).
            v: Its velocity, shape (6 + joints,).
        """
        dynamics, rows, arm = self._dynamics, self._rows, self._columns
        X = dynamics.link_pose(q, self._link)
        J = dynamics.jacobian(q, self._link)
        ahead = dynamics.jacobian(dynamics.integrate(q, _STEP * v), self._link)
        drift = (ahead - J) @ v / _STEP
        off = np.concatenate(
            [wanted.X_WT[:3, 3] - X[:3, 3], so3.log(wanted.X_WT[:3, :3] @ X[:3, :3].T)]
        )
        w = self._bandwidth
        A = wanted.A + 2 * w * (wanted.V - J @ v) + w * w * off - drift - J[:, :6] @ wanted.A_B
        J_a = J[:rows, arm]
        p = self._posture
        free = p * p * (wanted.q - q[7:][self._joints]) + 2 * p * (wanted.v - v[arm])
        rest = A[:rows] - J_a @ free
        damped = J_a @ J_a.T + _DAMPING**2 * np.eye(rows)
        a = np.zeros(len(v))
        a[:6] = wanted.A_B
        a[arm] = free + J_a.T @ np.linalg.solve(damped, rest)
        tau = dynamics.inverse_dynamics(q, v, a)[arm]
        return np.asarray(np.clip(tau, -self._most, self._most))
