"""The equation of motion of one robot as MuJoCo sees it, in Kinetarium's coordinates.

MuJoCo writes the angular velocity of a free base in body axes. With
T = diag(1, R', 1), R = R_WB: v_mujoco = T v, a_mujoco = T a, tau = T' tau_mujoco,
M = T' M_mujoco T; nothing else arises, for w x w = 0.
"""

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from kinetarium.engines.protocol import Layout
from kinetarium.scene import Scene
from kinetarium.spatial.arrays import Array

Indices = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Addresses:
    """Indices into MuJoCo's arrays.

    Attributes:
        q: Into qpos, of each joint, shape (n,).
        v: Into qvel, of each joint, shape (n,).
        poses: Into qpos, of position and quaternion of each floating solid, shape (f, 7).
        twists: Into qvel, of the twist of each floating solid, shape (f, 6).
        bodies: The body of each solid, by name.
        geom_solids: The solid of each geom, shape (geoms,).
        sensors: Into sensordata, of each sensor's force, which the torque follows, by name.
    """

    q: Indices
    v: Indices
    poses: Indices
    twists: Indices
    bodies: dict[str, int]
    geom_solids: NDArray[np.int32]
    sensors: dict[str, int]

    @classmethod
    def of(cls, scene: Scene, layout: Layout, *, model: mujoco.MjModel) -> "Addresses":
        """Look up a scene in the model built from it."""
        bodies = {name: model.body(name).id for name in layout.solids}
        solids = np.full(model.nbody, -1, dtype=np.int32)
        solids[list(bodies.values())] = np.arange(len(bodies))
        joints = [model.joint(name).id for name in layout.joints]
        free = [model.body_jntadr[bodies[name]] for name in layout.floating]
        return cls(
            q=model.jnt_qposadr[joints].astype(np.intp),
            v=model.jnt_dofadr[joints].astype(np.intp),
            poses=model.jnt_qposadr[free].astype(np.intp)[:, np.newaxis] + np.arange(7),
            twists=model.jnt_dofadr[free].astype(np.intp)[:, np.newaxis] + np.arange(6),
            bodies=bodies,
            geom_solids=solids[model.geom_bodyid],
            sensors={s.name: int(model.sensor(f"{s.name}#force").adr[0]) for s in scene.sensors},
        )


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
        """Return M, shape (n, n)."""
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
        """Return tau = M a + C v + g for an acceleration (recursive Newton-Euler), shape (n,)."""
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
