"""LoopClosure: how far the loops of a robot are from closed, and how that changes."""

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.dynamics.robot_dynamics import RobotDynamics
from kinetarium.model.robot import LoopKind
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import Array


class LoopClosure:
    """The residual of a robot's loop constraints and its Jacobian.

    A point loop has three rows, the vector from the frame on link a to that on
    link b in world axes [m]. A pose loop adds three rows: the rotation vector
    that turns the one frame into the other, in the axes of the first [rad].
    All loops are closed where the residual is zero.
    """

    def __init__(self, dynamics: RobotDynamics) -> None:
        """Take the loops of a robot; they are opened in its dynamics."""
        self._dynamics = dynamics
        self._loops = dynamics.model.loops
        index = {link.name: i for i, link in enumerate(dynamics.model.links)}
        self._ends = [(index[loop.link_a], index[loop.link_b]) for loop in self._loops]
        self.size = sum(3 if loop.kind is LoopKind.POINT else 6 for loop in self._loops)

    def residual(self, q: ArrayLike) -> Array:
        """Give the residual at a configuration [m, rad], shape (size,)."""
        rows = [np.zeros(0)]
        for loop, (X_WA, X_WB) in zip(self._loops, self._frames(q), strict=True):
            rows.append(X_WB[:3, 3] - X_WA[:3, 3])
            if loop.kind is LoopKind.POSE:
                rows.append(so3.log(X_WA[:3, :3].T @ X_WB[:3, :3]))
        return np.concatenate(rows)

    def jacobian(self, q: ArrayLike) -> Array:
        """Give the Jacobian, shape (size, nv): the rate of the residual is J v."""
        rows = [np.zeros((0, self._dynamics.nv))]
        for loop, (X_WA, X_WB) in zip(self._loops, self._frames(q), strict=True):
            J_A = self._dynamics.jacobian(q, loop.link_a, point=loop.X_AC[:3, 3])
            J_B = self._dynamics.jacobian(q, loop.link_b, point=loop.X_BC[:3, 3])
            J = J_B - J_A
            rows.append(J[:3])
            if loop.kind is LoopKind.POSE:
                R_WB = X_WB[:3, :3]
                turn = so3.log(X_WA[:3, :3].T @ R_WB)
                rows.append(so3.dexp_inv(-turn) @ R_WB.T @ J[3:])
        return np.concatenate(rows)

    def _frames(self, q: ArrayLike) -> list[tuple[Array, Array]]:
        """Give the two constrained frames of every loop in the world."""
        X_WL = self._dynamics.link_poses(q)
        return [
            (X_WL[a] @ loop.X_AC, X_WL[b] @ loop.X_BC)
            for loop, (a, b) in zip(self._loops, self._ends, strict=True)
        ]
