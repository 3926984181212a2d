"""InOrder: a back-end with its joints in another order, and robots brought to the same joints."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from kinetarium.engines.audit import Audit
from kinetarium.model.robot import JointType, RobotModel
from kinetarium.spatial.arrays import Array
from kinetarium.studies.dynamics.backends.backend import Backend
from kinetarium.studies.dynamics.states import States
from kinetarium.studies.dynamics.terms import Terms


def with_joints(model: RobotModel, names: Collection[str]) -> RobotModel:
    """Fix every moving joint at zero but those of some names."""
    return replace(
        model,
        joints=tuple(
            joint if joint.name in names else replace(joint, type=JointType.FIXED, mimic=None)
            for joint in model.joints
        ),
    )


class InOrder:
    """A back-end whose joints stand in the order of the reference."""

    def __init__(self, backend: Backend, joints: tuple[str, ...]) -> None:
        """Take a back-end.

        Args:
            backend: The back-end.
            joints: Its joints, in the order they are to have.
        """
        self.name, self.tolerance, self.joints = backend.name, backend.tolerance, joints
        self._backend = backend
        self._theirs = np.array([joints.index(name) for name in backend.joints], dtype=np.intp)
        self._ours = np.argsort(self._theirs)

    def audit(self) -> Audit:
        """Read back the robot as the library loaded it."""
        return self._backend.audit()

    def terms(self, states: States) -> Terms:
        """Give all terms."""
        terms = self._backend.terms(
            States(*(values[:, self._theirs] for values in (states.q, states.v, states.a)))
        )
        vectors = (values[:, self._ours] for values in (terms.g, terms.c, terms.tau))
        return Terms(self._matrix(terms.M), *vectors)

    def mass_matrix(self, q: Array) -> Array:
        """Give M, shape (n, joints, joints)."""
        return self._matrix(self._backend.mass_matrix(q[:, self._theirs]))

    def inverse_dynamics(self, q: Array, v: Array, a: Array) -> Array:
        """Give tau without damping and friction, shape (n, joints)."""
        order = self._theirs
        tau = self._backend.inverse_dynamics(q[:, order], v[:, order], a[:, order])
        return tau[:, self._ours]

    def acceleration(self, q: Array, v: Array, tau: Array) -> Array:
        """Give the acceleration that forces cause in its own motion, shape (n, joints)."""
        order = self._theirs
        a = self._backend.acceleration(q[:, order], v[:, order], tau[:, order])
        return a[:, self._ours]

    def fall(self, start: dict[str, float], *, timestep: float, steps: int) -> tuple[Array, Array]:
        """Let the robot go from rest."""
        return self._backend.fall(start, timestep=timestep, steps=steps)

    def close(self) -> None:
        """Release what the library holds."""
        self._backend.close()

    def _matrix(self, M: Array) -> Array:
        return M[:, self._ours[:, None], self._ours]
