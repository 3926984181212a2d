"""Backend: a library that computes a robot's dynamics."""

from collections.abc import Collection
from dataclasses import replace
from typing import Protocol

import numpy as np

from kinetarium.engines.protocol import Audit, LoadedJoint, LoadedSolid
from kinetarium.model.robot import JointType, RobotModel
from kinetarium.scene.robot import rigid_tree
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.studies.dynamics.states import States, Terms

ROBOT = "robot"
"""Name of the robot in every scene of the study; audits name its parts "robot/part"."""


class Backend(Protocol):
    """A library with a robot on a fixed base.

    Vectors are in the order of its own `joints`, a state in each row.

    Attributes:
        name: Its name in reports.
        joints: Its moving joints.
        tolerance: Largest difference from the reference due to rounding,
            relative to the scale of the quantity [-].
    """

    name: str
    joints: tuple[str, ...]
    tolerance: float

    def audit(self) -> Audit:
        """Read back the robot as loaded by the library."""

    def terms(self, states: States) -> Terms:
        """Return all terms."""

    def mass_matrix(self, q: Array) -> Array:
        """Return M, shape (n, joints, joints)."""

    def inverse_dynamics(self, q: Array, v: Array, a: Array) -> Array:
        """Return tau without damping and friction, shape (n, joints)."""

    def acceleration(self, q: Array, v: Array, tau: Array) -> Array:
        """Return the acceleration that forces cause in its own motion, shape (n, joints)."""

    def fall(self, start: dict[str, float], *, timestep: float, steps: int) -> tuple[Array, Array]:
        """Simulate the free motion from rest, without limits and couplings, sliders fixed at zero.

        Args:
            start: Initial positions of the rotational joints by name [rad].
            timestep: Time step [s].
            steps: Number of steps.

        Returns:
            Positions and velocities of the joints of `start`, in that order, before
            the first step and after each, shape (steps + 1, joints) each.
        """

    def close(self) -> None:
        """Release the resources of the library."""


def terms_of(backend: Backend, states: States) -> Terms:
    """Compute the terms from mass matrix and inverse dynamics: c(q, v) = tau(q, v, 0) - g(q)."""
    rest = np.zeros_like(states.v)
    g = backend.inverse_dynamics(states.q, rest, rest)
    bias = backend.inverse_dynamics(states.q, states.v, rest)
    tau = backend.inverse_dynamics(states.q, states.v, states.a)
    return Terms(backend.mass_matrix(states.q), g, bias - g, tau)


def model_audit(model: RobotModel, gravity: Array) -> Audit:
    """Return the audit of a robot with every link loaded correctly."""
    solids = tuple(
        LoadedSolid(
            f"{ROBOT}/{body.name}",
            body.inertia,
            tuple(f"{ROBOT}/{link}" for link, _ in body.members),
        )
        for body in rigid_tree(model)
        if body.inertia
    )
    joints = tuple(
        LoadedJoint(
            name=f"{ROBOT}/{joint.name}",
            axis=joint.axis,
            damping=joint.damping,
            friction=joint.friction,
            armature=joint.armature,
            lower=joint.limits.lower,
            upper=joint.limits.upper,
        )
        for joint in model.moving_joints
    )
    return Audit(solids, joints, frozen(gravity))


def with_joints(model: RobotModel, names: Collection[str]) -> RobotModel:
    """Fix all moving joints at zero except those of some names."""
    return replace(
        model,
        joints=tuple(
            joint if joint.name in names else replace(joint, type=JointType.FIXED, mimic=None)
            for joint in model.joints
        ),
    )


class InOrder:
    """A backend with its joints in the order of the reference."""

    def __init__(self, backend: Backend, joints: tuple[str, ...]) -> None:
        """Wrap a backend.

        Args:
            joints: Its joints, in the desired order.
        """
        self.name, self.tolerance, self.joints = backend.name, backend.tolerance, joints
        self._backend = backend
        self._theirs = np.array([joints.index(name) for name in backend.joints], dtype=np.intp)
        self._ours = np.argsort(self._theirs)

    def audit(self) -> Audit:
        """Read back the robot as loaded by the library."""
        return self._backend.audit()

    def terms(self, states: States) -> Terms:
        """Return all terms."""
        terms = self._backend.terms(
            States(*(values[:, self._theirs] for values in (states.q, states.v, states.a)))
        )
        vectors = (values[:, self._ours] for values in (terms.g, terms.c, terms.tau))
        return Terms(self._matrix(terms.M), *vectors)

    def mass_matrix(self, q: Array) -> Array:
        """Return M, shape (n, joints, joints)."""
        return self._matrix(self._backend.mass_matrix(q[:, self._theirs]))

    def inverse_dynamics(self, q: Array, v: Array, a: Array) -> Array:
        """Return tau without damping and friction, shape (n, joints)."""
        order = self._theirs
        tau = self._backend.inverse_dynamics(q[:, order], v[:, order], a[:, order])
        return tau[:, self._ours]

    def acceleration(self, q: Array, v: Array, tau: Array) -> Array:
        """Return the acceleration that forces cause in its own motion, shape (n, joints)."""
        order = self._theirs
        a = self._backend.acceleration(q[:, order], v[:, order], tau[:, order])
        return a[:, self._ours]

    def fall(self, start: dict[str, float], *, timestep: float, steps: int) -> tuple[Array, Array]:
        """Simulate the free motion from rest."""
        return self._backend.fall(start, timestep=timestep, steps=steps)

    def close(self) -> None:
        """Release the resources of the library."""
        self._backend.close()

    def _matrix(self, M: Array) -> Array:
        return M[:, self._ours[:, None], self._ours]
