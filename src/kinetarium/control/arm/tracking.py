"""Tracking of poses by damped least squares on the Jacobian, with pose feedback.

qdot = J^T (J J^T + damping^2 I)^-1 (V_ref + gain log(X_WL^-1 X_WD)), in the axes of
the link (Siciliano et al., "Robotics: Modelling, Planning and Control", 2009, section 3.7).
"""

from collections import deque

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.dynamics import RobotDynamics
from kinetarium.model.robot import IDENTITY
from kinetarium.spatial import se3
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose


class JacobianTracker:
    """Turns poses of a link, or of a frame in it, into joint positions, step by step."""

    def __init__(
        self,
        dynamics: RobotDynamics,
        *,
        link: str,
        X_LF: ArrayLike = IDENTITY,
        turning: bool = True,
        gain: float = 50.0,
        damping: float = 1e-4,
    ) -> None:
        """Keep the robot and the gains.

        Args:
            dynamics: The robot, its base fixed.
            link: The link that follows the poses.
            X_LF: The frame in that link that follows them, shape (4, 4).
            turning: Whether it follows rotations too; arms with less than six joints cannot.
            gain: Feedback gain of the pose error [1/s].
            damping: Trades accuracy near singularities for bounded speed [-].
        """
        self._dynamics = dynamics
        self._link = link
        self._X_LF = np.asarray(X_LF)
        self._turning = turning
        self._gain = gain
        self._damping = damping
        joints = dynamics.model.moving_joints
        self._lower = np.array([joint.limits.lower for joint in joints])
        self._upper = np.array([joint.limits.upper for joint in joints])

    def velocity(self, q: Array, *, X_WD: ArrayLike, V_WD: ArrayLike) -> Array:
        """Return joint velocities [rad/s or m/s], shape (n,).

        Args:
            q: Joint positions, shape (n,).
            X_WD: The desired pose, shape (4, 4).
            V_WD: The desired twist [v; w], in the axes of that pose, shape (6,).
        """
        X_WF = self._dynamics.link_pose(q, self._link) @ self._X_LF
        X_FD = inverse_pose(X_WF) @ np.asarray(X_WD)
        R = X_WF[:3, :3]
        J = self._dynamics.jacobian(q, self._link, point=self._X_LF[:3, 3])
        if self._turning:
            V_F = se3.adjoint(X_FD) @ np.asarray(V_WD) + self._gain * se3.log(X_FD)
            J_F = np.vstack([R.T @ J[:3], R.T @ J[3:]])
        else:
            V_F = X_FD[:3, :3] @ np.asarray(V_WD)[:3] + self._gain * X_FD[:3, 3]
            J_F = R.T @ J[:3]
        damped = J_F @ J_F.T + self._damping**2 * np.eye(len(J_F))
        return np.asarray(J_F.T @ np.linalg.solve(damped, V_F))

    def follow(self, q_start: ArrayLike, poses: ArrayLike, *, timestep: float) -> Array:
        """Return joint positions along a sequence of poses, shape (k, n).

        Args:
            q_start: Initial joint positions, near the first pose, shape (n,).
            poses: The poses of the frame at equal times, shape (k, 4, 4).
            timestep: Time between two poses [s].
        """
        poses = np.asarray(poses, dtype=np.float64)
        q = np.array(q_start, dtype=np.float64)
        path = np.empty((len(poses), q.size))
        for k, X_WD in enumerate(poses):
            ahead = poses[min(k + 1, len(poses) - 1)]
            V_WD = se3.log(inverse_pose(X_WD) @ ahead) / timestep
            path[k] = q
            q = np.clip(
                q + timestep * self.velocity(q, X_WD=X_WD, V_WD=V_WD), self._lower, self._upper
            )
        return path


_SAME_TIME = 1e-9
"""Times that differ by less are equal [s]."""


class Setpoints:
    """Linear interpolation of setpoints between ticks, with a delay."""

    def __init__(self, start: Array, *, tick: float, delay: float) -> None:
        """Start at rest.

        Args:
            start: Initial positions, shape (n,).
            tick: Time between two points [s].
            delay: How late they reach the drive [s].
        """
        self._tick, self._delay = tick, delay
        # Of each segment the time at its end, and its two ends.
        self._lines: deque[tuple[float, Array, Array]] = deque()
        self._line = (0.0, start, start)

    def add(self, t: float, point: Array) -> None:
        """Append a point, to be reached one tick after t [s].

        Args:
            t: Time of the tick [s].
            point: Positions, shape (n,).
        """
        last = self._lines[-1] if self._lines else self._line
        self._lines.append((t + self._tick + self._delay, last[2], point))

    def at(self, t: float) -> tuple[Array, Array]:
        """Return positions and rates at a time [s], shape (n,) each; times must not decrease."""
        while self._lines and t > self._lines[0][0] - self._tick + _SAME_TIME:
            self._line = self._lines.popleft()
        end, p, q = self._line
        left = end - t
        if left < -_SAME_TIME:
            return q, np.zeros_like(q)
        rates = (q - p) / self._tick
        return q - min(left, self._tick) * rates, rates
