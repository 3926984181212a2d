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
        self._dofs = dofs
        self._base = int(model.dof_bodyid[dofs[0]]) if free_base else None

    def mass_matrix(self, data: mujoco.MjData) -> Array:
        """Give M, shape (n, n)."""
        self._place(data)
        mujoco.mj_crb(self._model, data)
        full = np.zeros((self._model.nv, self._model.nv))
        mujoco.mj_fullM(self._model, data, full)
        T = self._transform(data)
        M: Array = T.T @ full[np.ix_(self._dofs, self._dofs)] @ T
        return M

    def inverse_dynamics(self, data: mujoco.MjData, acceleration: Array) -> Array:
        """Give tau = M a + C v + g for an acceleration (recursive Newton-Euler), shape (n,)."""
        self._place(data)
        mujoco.mj_comVel(self._model, data)
        T = self._transform(data)
        data.qacc[:] = 0.0
        data.qacc[self._dofs] = T @ acceleration
        tau = np.zeros(self._model.nv)
        mujoco.mj_rne(self._model, data, 1, tau)
        # MuJoCo counts the drives in its mass matrix only.
        tau += self._model.dof_armature * data.qacc
        return T.T @ tau[self._dofs]

    def _place(self, data: mujoco.MjData) -> None:
        mujoco.mj_kinematics(self._model, data)
        mujoco.mj_comPos(self._model, data)

    def _transform(self, data: mujoco.MjData) -> Array:
        T = np.eye(len(self._dofs))
        if self._base is not None:
            T[3:6, 3:6] = data.xmat[self._base].reshape(3, 3).T
        return T
