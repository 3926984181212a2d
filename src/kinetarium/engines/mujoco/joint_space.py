"""The equation of motion of one robot as MuJoCo sees it, in Kinetarium's coordinates.

MuJoCo writes the angular velocity of a free base in body axes. With
T = diag(1, R', 1), R = R_WB: v_mujoco = T v, a_mujoco = T a, tau = T' tau_mujoco,
M = T' M_mujoco T; nothing else arises, for w x w = 0.
"""

import mujoco
import numpy as np

from kinetarium.engines.mujoco.addresses import Indices
from kinetarium.spatial.arrays import Array


class JointSpace:
    """The equation of motion of one robot at the state of some data.

    Joint damping and friction, contacts and constraints are no part of it;
    the inertia of the drives is.
    """

    def __init__(self, model: mujoco.MjModel, *, dofs: Indices, free_base: bool) -> None:
        """Choose the robot.

        Args:
            model: The compiled scene.
            dofs: Indices into qvel of its coordinates in Kinetarium's order, shape (n,).
            free_base: Whether the first six of them are those of a free base.
        """
        self._model = model
        self._dofs, self._block = dofs, np.ix_(dofs, dofs)
        self._armature = model.dof_armature
        self._base = int(model.dof_bodyid[dofs[0]]) if free_base else None

    def mass_matrix(self, data: mujoco.MjData) -> Array:
        """Give M, shape (n, n)."""
        self._place(data)
        mujoco.mj_crb(self._model, data)
        full = np.zeros((self._model.nv, self._model.nv))
        mujoco.mj_fullM(self._model, data, full)
        M: Array = full[self._block]
        if self._base is None:
            return M
        T = self._transform(data)
        return T.T @ M @ T

    def inverse_dynamics(self, data: mujoco.MjData, acceleration: Array) -> Array:
        """Give tau = M a + C v + g for an acceleration (recursive Newton-Euler), shape (n,)."""
        self._place(data)
        mujoco.mj_comVel(self._model, data)
        T = None if self._base is None else self._transform(data)
        qacc = data.qacc
        qacc[:] = 0.0
        qacc[self._dofs] = acceleration if T is None else T @ acceleration
        tau = np.zeros(self._model.nv)
        mujoco.mj_rne(self._model, data, 1, tau)
        # MuJoCo counts the drives in its mass matrix only.
        tau += self._armature * qacc
        own: Array = tau[self._dofs]
        return own if T is None else T.T @ own

    def _place(self, data: mujoco.MjData) -> None:
        mujoco.mj_kinematics(self._model, data)
        mujoco.mj_comPos(self._model, data)

    def _transform(self, data: mujoco.MjData) -> Array:
        T = np.eye(len(self._dofs))
        T[3:6, 3:6] = data.xmat[self._base].reshape(3, 3).T
        return T
