"""PinocchioBackend: the reference, and the way a second robot file is compared."""

import numpy as np

from kinetarium.dynamics import RobotDynamics
from kinetarium.engines.audit import Audit
from kinetarium.model.robot import RobotModel
from kinetarium.spatial.arrays import Array
from kinetarium.studies.dynamics.backends.backend import model_audit, terms_of
from kinetarium.studies.dynamics.backends.unhindered import unhindered, with_held_sliders
from kinetarium.studies.dynamics.integration import semi_implicit_euler
from kinetarium.studies.dynamics.states import States
from kinetarium.studies.dynamics.terms import Terms


class PinocchioBackend:
    """A robot in Pinocchio: composite bodies for M, Newton-Euler for tau."""

    tolerance = 1e-12

    def __init__(
        self, model: RobotModel, *, gravity: Array, reference: RobotModel, name: str = "pinocchio"
    ) -> None:
        """Build the robot.

        Args:
            model: The robot.
            gravity: Gravity [m/s^2], shape (3,).
            reference: The robot under study.
            name: The name it is reported by.
        """
        self.name = name
        self.joints = tuple(joint.name for joint in model.moving_joints)
        self._model, self._gravity = model, gravity
        self._free = unhindered(model, reference=reference)
        self._dynamics = RobotDynamics(model, free_base=False, gravity=gravity)

    def audit(self) -> Audit:
        """Describe the robot as it was given."""
        return model_audit(self._model, self._gravity)

    def terms(self, states: States) -> Terms:
        """Give all terms."""
        return terms_of(self, states)

    def mass_matrix(self, q: Array) -> Array:
        """Give M, shape (n, joints, joints)."""
        n = len(self.joints)
        return np.array([self._dynamics.mass_matrix(each) for each in q]).reshape(-1, n, n)

    def inverse_dynamics(self, q: Array, v: Array, a: Array) -> Array:
        """Give tau without damping and friction, shape (n, joints)."""
        rnea = self._dynamics.inverse_dynamics
        tau = [rnea(*state) for state in zip(q, v, a, strict=True)]
        return np.array(tau).reshape(-1, len(self.joints))

    def acceleration(self, q: Array, v: Array, tau: Array) -> Array:
        """Give the acceleration that forces cause (articulated bodies), shape (n, joints)."""
        aba = self._dynamics.forward_dynamics
        driving = tau - _resistance(self._free, v)
        a = [aba(*state) for state in zip(q, v, driving, strict=True)]
        return np.array(a).reshape(-1, len(self.joints))

    def fall(self, start: dict[str, float], *, timestep: float, steps: int) -> tuple[Array, Array]:
        """Let the robot go from rest."""
        robot = with_held_sliders(self._free)
        dynamics = RobotDynamics(robot, free_base=False, gravity=self._gravity)
        names = [joint.name for joint in robot.moving_joints]

        def acceleration(q: Array, v: Array) -> Array:
            return dynamics.forward_dynamics(q, v, -_resistance(robot, v))

        q = np.array([start.get(name, 0.0) for name in names])
        positions, velocities = semi_implicit_euler(acceleration, q, timestep=timestep, steps=steps)
        pick = [names.index(name) for name in start]
        return positions[:, pick], velocities[:, pick]

    def close(self) -> None:
        """Do nothing: what Pinocchio holds goes with this object."""


def _resistance(model: RobotModel, v: Array) -> Array:
    """Give what damping and friction take from the forces at velocities, shape as v."""
    damping = np.array([joint.damping for joint in model.moving_joints])
    friction = np.array([joint.friction for joint in model.moving_joints])
    resistance: Array = damping * v + friction * np.sign(v)
    return resistance
