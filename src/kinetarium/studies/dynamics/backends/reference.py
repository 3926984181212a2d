"""PinocchioBackend: the reference, also for a second robot file; ClosedFormBackend."""

from dataclasses import replace

import numpy as np

from kinetarium.dynamics import RobotDynamics, TwoLink
from kinetarium.engines.protocol import Audit
from kinetarium.model.load import load_catalogue_robot
from kinetarium.model.robot import Joint, JointLimits, JointType, RobotModel
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.gravity import GRAVITY_VECTOR
from kinetarium.studies.dynamics.backends.backend import model_audit, terms_of
from kinetarium.studies.dynamics.differences.model import model_differences
from kinetarium.studies.dynamics.finding import Cause, Severity
from kinetarium.studies.dynamics.states import States, Terms, semi_implicit_euler


def without_limits(model: RobotModel, *, reference: RobotModel) -> RobotModel:
    """Remove limits, couplings, loops and geometry, and damping, friction and springs.

    Engines integrate those in different ways, so that motions could be compared
    only roughly. Damping, friction and springs that the reference does not have are kept:
    they are faults that the comparison must show.

    Args:
        model: The robot in a backend.
        reference: The robot under study.
    """
    known = {joint.name: joint for joint in reference.joints}

    def free(joint: Joint) -> Joint:
        same = known.get(joint.name, joint)
        return replace(
            joint,
            limits=JointLimits(),
            mimic=None,
            damping=0.0 if joint.damping == same.damping else joint.damping,
            friction=0.0 if joint.friction == same.friction else joint.friction,
            stiffness=0.0 if joint.stiffness == same.stiffness else joint.stiffness,
        )

    return replace(
        model,
        links=tuple(replace(link, collisions=(), visuals=()) for link in model.links),
        joints=tuple(free(joint) for joint in model.joints),
        loops=(),
    )


def with_held_sliders(model: RobotModel) -> RobotModel:
    """Fix the prismatic joints at zero: without limits they would fly off.

    A robot with prismatic joints only keeps them.
    """
    if all(joint.type is JointType.PRISMATIC for joint in model.moving_joints):
        return model
    held = (JointType.FIXED, JointType.PRISMATIC)
    return replace(
        model,
        joints=tuple(
            replace(joint, type=JointType.FIXED) if joint.type in held else joint
            for joint in model.joints
        ),
    )


class PinocchioBackend:
    """A robot in Pinocchio: CRBA for M, RNEA for tau."""

    tolerance = 1e-12

    def __init__(
        self, model: RobotModel, *, gravity: Array, reference: RobotModel, name: str = "pinocchio"
    ) -> None:
        """Build the robot.

        Args:
            gravity: Gravity [m/s^2], shape (3,).
            reference: The robot under study.
            name: Its name in reports.
        """
        self.name = name
        self.joints = tuple(joint.name for joint in model.moving_joints)
        self._model, self._gravity = model, gravity
        self._free = without_limits(model, reference=reference)
        self._dynamics = RobotDynamics(model, free_base=False, gravity=gravity)

    def audit(self) -> Audit:
        """Return the audit of the robot."""
        return model_audit(self._model, self._gravity)

    def terms(self, states: States) -> Terms:
        """Return all terms."""
        M, g, bias, tau = self._dynamics.equation_of_motion(states.q, states.v, states.a)
        return Terms(M, g, bias - g, tau)

    def mass_matrix(self, q: Array) -> Array:
        """Return M, shape (n, joints, joints)."""
        n = len(self.joints)
        return np.array([self._dynamics.mass_matrix(each) for each in q]).reshape(-1, n, n)

    def inverse_dynamics(self, q: Array, v: Array, a: Array) -> Array:
        """Return tau without damping and friction, shape (n, joints)."""
        rnea = self._dynamics.inverse_dynamics
        tau = [rnea(*state) for state in zip(q, v, a, strict=True)]
        return np.array(tau).reshape(-1, len(self.joints))

    def acceleration(self, q: Array, v: Array, tau: Array) -> Array:
        """Return the acceleration that forces cause (ABA), shape (n, joints)."""
        aba = self._dynamics.forward_dynamics
        driving = tau - _resistance(self._free, v)
        a = [aba(*state) for state in zip(q, v, driving, strict=True)]
        return np.array(a).reshape(-1, len(self.joints))

    def fall(self, start: dict[str, float], *, timestep: float, steps: int) -> tuple[Array, Array]:
        """Simulate the free motion from rest."""
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
        """Do nothing: Pinocchio's data is released with this object."""


def _resistance(model: RobotModel, v: Array) -> Array:
    """Return the forces of damping and friction at velocities, shape as v."""
    damping = np.array([joint.damping for joint in model.moving_joints])
    friction = np.array([joint.friction for joint in model.moving_joints])
    resistance: Array = damping * v + friction * np.sign(v)
    return resistance


CLOSED_FORM = "closed-form"


def has_closed_form(model: RobotModel) -> bool:
    """Return whether a robot is the two-link arm of the catalogue, from any file."""
    differences = model_differences(load_catalogue_robot("two-link"), model).differences
    return all(
        each.severity is Severity.NOTE and each.cause is not Cause.NAMES for each in differences
    )


class ClosedFormBackend:
    """The two-link arm in closed form, with its own constants: nothing is read from the model."""

    name = CLOSED_FORM
    joints: tuple[str, ...] = ("shoulder", "elbow")
    tolerance = 1e-12

    def __init__(self, model: RobotModel) -> None:
        """Create the backend.

        Args:
            model: The two-link arm, for the audit only.
        """
        self._model, self._arm = model, TwoLink()

    def audit(self) -> Audit:
        """Return the audit of the model; the formulas have no links to read back."""
        return model_audit(self._model, GRAVITY_VECTOR)

    def terms(self, states: States) -> Terms:
        """Return all terms."""
        return terms_of(self, states)

    def mass_matrix(self, q: Array) -> Array:
        """Return M, shape (n, 2, 2)."""
        return np.array([self._arm.mass_matrix(each) for each in q]).reshape(-1, 2, 2)

    def inverse_dynamics(self, q: Array, v: Array, a: Array) -> Array:
        """Return tau, shape (n, 2)."""
        tau = [self._arm.inverse_dynamics(*state) for state in zip(q, v, a, strict=True)]
        return np.array(tau).reshape(-1, 2)

    def acceleration(self, q: Array, v: Array, tau: Array) -> Array:
        """Return M^-1 (tau - c - g), shape (n, 2)."""
        a = [self._accelerate(*state) for state in zip(q, v, tau, strict=True)]
        return np.array(a).reshape(-1, 2)

    def fall(self, start: dict[str, float], *, timestep: float, steps: int) -> tuple[Array, Array]:
        """Simulate the free motion from rest."""
        return semi_implicit_euler(
            lambda q, v: self._accelerate(q, v, np.zeros(2)),
            np.array([start[name] for name in self.joints]),
            timestep=timestep,
            steps=steps,
        )

    def close(self) -> None:
        """Do nothing."""

    def _accelerate(self, q: Array, v: Array, tau: Array) -> Array:
        bias = self._arm.inverse_dynamics(q, v, np.zeros(2))
        return np.asarray(np.linalg.solve(self._arm.mass_matrix(q), tau - bias), dtype=np.float64)
