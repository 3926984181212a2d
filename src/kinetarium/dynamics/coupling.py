"""Coupling: the joints that follow others, as one linear map."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.model.robot import RobotModel
from kinetarium.spatial.arrays import Array, frozen


@dataclass(frozen=True, slots=True, eq=False)
class Coupling:
    """All joints from the independent ones: q = E q_independent + offset.

    The matrices speak of joints. Vectors and matrices may also begin with the
    coordinates of a free base, which pass unchanged.

    Attributes:
        independent: Names of the joints that follow no other, in the model's order.
        E: The map from their rates to all rates, shape (joints, independent).
        offset: Positions of all joints at the zero of the independent ones
            [rad or m], shape (joints,).
    """

    independent: tuple[str, ...]
    E: Array
    offset: Array

    @classmethod
    def of(cls, model: RobotModel) -> "Coupling":
        """Read the coupling off a robot's mimic joints."""
        joints = model.moving_joints
        independent = tuple(joint.name for joint in joints if joint.mimic is None)
        E = np.zeros((len(joints), len(independent)))
        offset = np.zeros(len(joints))
        for row, joint in enumerate(joints):
            if joint.mimic is None:
                E[row, independent.index(joint.name)] = 1.0
            else:
                E[row, independent.index(joint.mimic.joint)] = joint.mimic.multiplier
                offset[row] = joint.mimic.offset
        return cls(independent, frozen(E), frozen(offset))

    def positions(self, q_independent: ArrayLike) -> Array:
        """Give all positions [rad or m], shape (..., nq), from the independent ones."""
        base, joints = self._split(q_independent)
        return np.concatenate([base, joints @ self.E.T + self.offset], axis=-1)

    def velocities(self, v_independent: ArrayLike) -> Array:
        """Give all velocities or accelerations, shape (..., nv), from the independent."""
        base, joints = self._split(v_independent)
        return np.concatenate([base, joints @ self.E.T], axis=-1)

    def forces(self, tau: ArrayLike) -> Array:
        """Give the forces on the independent coordinates, E' tau [N, N m], from those on all."""
        tau = np.asarray(tau, dtype=np.float64)
        base, joints = np.split(tau, [tau.shape[-1] - self.offset.size], axis=-1)
        return np.concatenate([base, joints @ self.E], axis=-1)

    def matrix(self, M: ArrayLike) -> Array:
        """Give E' M E of a mass or Coriolis matrix, shape (nv, nv).

        E is constant, so that the reduced matrices keep the properties of the
        full ones: M stays positive definite and Mdot - 2 C skew.
        """
        return self.forces(self.forces(M).T).T

    def _split(self, independent: ArrayLike) -> list[Array]:
        values = np.asarray(independent, dtype=np.float64)
        return np.split(values, [values.shape[-1] - len(self.independent)], axis=-1)
