"""The backends: a robot in an engine, opening one by name, and matching it with the reference."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kinetarium.engines.base.simulation import SimulationBase
from kinetarium.engines.protocol import (
    Audit,
    Capability,
    CapabilityError,
    Engine,
    Precision,
    Simulation,
    State,
)
from kinetarium.engines.registry import list_engines, open_engine
from kinetarium.errors import KinetariumError
from kinetarium.model.robot import JointType, RobotModel
from kinetarium.scene import Actuation, Base, DriveMode, PlacedRobot, Scene
from kinetarium.scene.robot import rigid_tree
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.gravity import GRAVITY_VECTOR
from kinetarium.studies.dynamics.backends.backend import (
    ROBOT,
    Backend,
    InOrder,
    terms_of,
    with_joints,
)
from kinetarium.studies.dynamics.backends.reference import (
    CLOSED_FORM,
    ClosedFormBackend,
    PinocchioBackend,
    has_closed_form,
    with_held_sliders,
    without_limits,
)
from kinetarium.studies.dynamics.differences.audit import Audited, audit_differences
from kinetarium.studies.dynamics.differences.model import model_differences
from kinetarium.studies.dynamics.finding import Difference
from kinetarium.studies.dynamics.override import Override
from kinetarium.studies.dynamics.states import States, Terms

REFERENCE = "pinocchio"
AGAINST = "against"
"""The second robot file, computed by the reference."""


NEEDED = frozenset({Capability.MASS_MATRIX, Capability.INVERSE_DYNAMICS})
"""An engine needs one of these; the other is computed from it."""

_TIMESTEP = 1e-3
_TOLERANCES = {"bullet": 1e-9}
"""Bullet stores an inertia as principal moments and a quaternion, which loses precision."""
_NO_POSES, _NO_TWISTS = np.zeros((0, 7)), np.zeros((0, 6))


class EngineBackend:
    """A robot in an engine, on a fixed base."""

    def __init__(
        self, engine: Engine, model: RobotModel, *, gravity: Array, reference: RobotModel
    ) -> None:
        """Load a robot into the engine.

        Args:
            gravity: Gravity [m/s^2], shape (3,).
            reference: The robot under study.
        """
        info = engine.info
        self.name = info.name
        self.joints = tuple(joint.name for joint in model.moving_joints)
        single = 1e-4 if info.precision is Precision.SINGLE else 1e-12
        self.tolerance = _TOLERANCES.get(info.name, single)
        self._engine, self._gravity = engine, frozen(gravity)
        self._model, self._free = model, without_limits(model, reference=reference)
        self._has = info.capabilities

    def audit(self) -> Audit:
        """Read back the robot, including its root if the engine lets it float."""
        rooted = rigid_tree(self._model)[0].inertia is not None
        base = Base.FREE if rooted and Capability.FREE_BASE in self._has else Base.FIXED
        simulation = self._compile(self._model, base=base)
        audit = simulation.audit()
        simulation.close()
        return audit

    def terms(self, states: States) -> Terms:
        """Return all terms, in one call if the engine is on Kinetarium's base."""
        simulation = self._simulation
        if not self._has >= NEEDED or not isinstance(simulation, SimulationBase):
            return terms_of(self, states)
        M, g, bias, tau = simulation.equation_of_motion(ROBOT, q=states.q, v=states.v, a=states.a)
        return Terms(M, g, bias - g, tau)

    def mass_matrix(self, q: Array) -> Array:
        """Return M; column by column from inverse dynamics if the engine does not offer it."""
        n = len(self.joints)
        if Capability.MASS_MATRIX not in self._has:
            rest = np.zeros_like(q)
            g = self.inverse_dynamics(q, rest, rest)
            unit = np.eye(n)
            columns = [self.inverse_dynamics(q, rest, rest + unit[j]) - g for j in range(n)]
            return np.stack(columns, axis=-1)
        M = []
        for each in q:
            self._simulation.reset(State(0.0, each, np.zeros(n), _NO_POSES, _NO_TWISTS))
            M.append(self._simulation.mass_matrix(ROBOT))
        return np.array(M).reshape(-1, n, n)

    def inverse_dynamics(self, q: Array, v: Array, a: Array) -> Array:
        """Return tau; as M (a - a_free) from one step if the engine does not offer it."""
        if Capability.INVERSE_DYNAMICS not in self._has:
            free = self.acceleration(q, v, np.zeros_like(v))
            tau: Array = np.einsum("nij,nj->ni", self.mass_matrix(q), a - free)
            return tau
        forces = []
        for q_i, v_i, a_i in zip(q, v, a, strict=True):
            self._simulation.reset(State(0.0, q_i, v_i, _NO_POSES, _NO_TWISTS))
            forces.append(self._simulation.inverse_dynamics(ROBOT, a_i))
        return np.array(forces).reshape(-1, len(self.joints))

    def acceleration(self, q: Array, v: Array, tau: Array) -> Array:
        """Return the change of velocity over one step, divided by the step; NaN if tau is NaN."""
        a = []
        for q_i, v_i, tau_i in zip(q, v, tau, strict=True):
            if not np.isfinite(tau_i).all():
                a.append(np.full_like(v_i, np.nan))
                continue
            self._without_limits.reset(State(0.0, q_i, v_i, _NO_POSES, _NO_TWISTS))
            self._without_limits.step(tau_i)
            a.append((self._without_limits.state().v - v_i) / _TIMESTEP)
        return np.array(a).reshape(-1, len(self.joints))

    def fall(self, start: dict[str, float], *, timestep: float, steps: int) -> tuple[Array, Array]:
        """Simulate the free motion from rest."""
        robot = with_held_sliders(self._free)
        simulation = self._compile(robot, timestep=timestep)
        names = [joint.name for joint in robot.moving_joints]
        q = np.array([start.get(name, 0.0) for name in names])
        simulation.reset(State(0.0, q, np.zeros(len(q)), _NO_POSES, _NO_TWISTS))
        states, still = [simulation.state()], np.zeros(len(q))
        for _ in range(steps):
            simulation.step(still)
            states.append(simulation.state())
        simulation.close()
        pick = [names.index(name) for name in start]
        return np.array([s.q[pick] for s in states]), np.array([s.v[pick] for s in states])

    def close(self) -> None:
        """Release the simulations."""
        for name in ("_simulation", "_without_limits"):
            if name in self.__dict__:
                self.__dict__[name].close()

    @cached_property
    def _simulation(self) -> Simulation:
        return self._compile(self._model)

    @cached_property
    def _without_limits(self) -> Simulation:
        return self._compile(self._free)

    def _compile(
        self, model: RobotModel, *, base: Base = Base.FIXED, timestep: float = _TIMESTEP
    ) -> Simulation:
        drives = {joint.name: Actuation(DriveMode.TORQUE) for joint in model.moving_joints}
        robot = PlacedRobot(ROBOT, model, base, actuation=drives)
        return self._engine.compile(Scene((robot,), gravity=self._gravity), timestep=timestep)


def backend_names(model: RobotModel, *, engines: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the backends of a robot: the reference, its closed form, and suitable engines.

    Args:
        engines: The engines to use; all available suitable ones by default.

    Raises:
        KinetariumError: If an engine is unknown, not available or not suitable.
    """
    for name in engines:
        if not open_engine(name).info.capabilities & NEEDED:
            raise CapabilityError(name, Capability.INVERSE_DYNAMICS, reason="this study")
    fitting = [listing.name for listing in list_engines() if listing.capabilities & NEEDED]
    own = (REFERENCE, CLOSED_FORM) if has_closed_form(model) else (REFERENCE,)
    return (*own, *(dict.fromkeys(engines) or fitting))


def open_backend(name: str, model: RobotModel, *, gravity: Array, reference: RobotModel) -> Backend:
    """Return a backend with a robot.

    Args:
        name: One of `backend_names`, or AGAINST.
        gravity: Gravity [m/s^2], shape (3,).
        reference: The robot under study.

    Raises:
        KinetariumError: If the backend is unknown or not available.
    """
    if name in (REFERENCE, AGAINST):
        return PinocchioBackend(model, gravity=gravity, reference=reference, name=name)
    if name == CLOSED_FORM:
        return ClosedFormBackend(model)
    return EngineBackend(open_engine(name), model, gravity=gravity, reference=reference)


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
    """A backend and the reference, with the same joints.

    Attributes:
        model: The robot under study; joints that the other lacks are fixed.
        given: The robot in the backend, its joints likewise.
        gravity: Gravity in the backend [m/s^2], shape (3,).
        reference: The reference.
        backend: The backend, its joints in the order of the reference.
        audited: The result of its audit.
    """

    model: RobotModel
    given: RobotModel
    gravity: Array
    reference: PinocchioBackend
    backend: Backend
    audited: Audited


def match(
    name: str, model: RobotModel, *, override: Override, against: RobotModel | None
) -> Matched:
    """Open a backend and the reference.

    Args:
        name: Name of the backend.
        model: The robot under study.
        override: Properties to change in the backend.
        against: The second robot file, or None to compare backends.

    Raises:
        KinetariumError: If the two have no moving joint in common.
    """
    found: tuple[Difference, ...] = ()
    if against is None:
        given = override.applied(model)
    else:
        compared = model_differences(model, against)
        given, found = compared.other, compared.differences
    shared = _shared(model, given)
    if not shared:
        raise KinetariumError(f"robot '{model.name}' has no moving joint to compare")
    held, other = with_joints(model, shared), with_joints(given, shared)
    backend = open_backend(name, other, gravity=override.gravity, reference=held)
    if against is None:
        whole = open_backend(name, given, gravity=override.gravity, reference=model)
        audited = audit_differences(
            model, whole.audit(), gravity=GRAVITY_VECTOR, tolerance=max(1e-9, backend.tolerance)
        )
        whole.close()
    else:
        audited = Audited(found, other, GRAVITY_VECTOR)
    joints = tuple(joint.name for joint in held.moving_joints)
    return Matched(
        model=held,
        given=other,
        gravity=override.gravity,
        reference=PinocchioBackend(held, gravity=GRAVITY_VECTOR, reference=held),
        backend=backend if backend.joints == joints else InOrder(backend, joints),
        audited=audited,
    )


def _shared(model: RobotModel, other: RobotModel) -> tuple[str, ...]:
    """Return the joints that both have and that are rotational, or prismatic, in both."""
    slides = {joint.name: joint.type is JointType.PRISMATIC for joint in other.moving_joints}
    return tuple(
        joint.name
        for joint in model.moving_joints
        if slides.get(joint.name) is (joint.type is JointType.PRISMATIC)
    )
