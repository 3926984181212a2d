"""Measured errors of a backend: terms, properties of M and C, free motion."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kinetarium.dynamics import RobotDynamics
from kinetarium.model.robot import RobotModel
from kinetarium.recording.recording import Channel
from kinetarium.scene.robot import rigid_tree
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.gravity import GRAVITY_VECTOR
from kinetarium.studies.dynamics.backends.backend import Backend
from kinetarium.studies.dynamics.backends.reference import with_held_sliders, without_limits
from kinetarium.studies.dynamics.backends.registry import REFERENCE, Matched
from kinetarium.studies.dynamics.states import (
    TERMS,
    Quantity,
    States,
    Terms,
    largest,
    runge_kutta,
    scales,
)

_STEP = 1e-5
"""Step of the central differences, for states of order one [-]."""
DIFFERENCE_TOLERANCE = 1e-7
"""Error of central differences with that step, relative to the scale [-]."""


_GUARD = 1e3
"""Share of the summands in the terms above which the tolerances need not grow: a thousandth of
them is about one rounding [-]."""


def cancellation(model: RobotModel, scale: Mapping[Quantity, float]) -> float:
    """Return by how much the tolerances must grow since the terms are small sums of great ones.

    Weights act at their distance from the base in the sums of every library, though not in the
    forces of a balanced wheel.

    Args:
        scale: The scales of the terms.

    Returns:
        A factor of relative tolerances, at least one [-].
    """
    inertia = force = 0.0
    reach: list[float] = []
    for body in rigid_tree(model):
        above = reach[body.parent] if body.joint else 0.0
        reach.append(above + float(np.linalg.norm(body.X_PJ[:3, 3])))
        if body.joint and body.inertia:
            arm = reach[-1] + float(np.linalg.norm(body.inertia.center))
            inertia += body.inertia.mass * arm**2
            force += body.inertia.mass * arm * float(np.linalg.norm(GRAVITY_VECTOR))
    shares = [
        summed / scale[quantity]
        for quantity, summed in ((Quantity.M, inertia), (Quantity.TAU, force))
        if scale[quantity]
    ]
    return max([1.0, *(share / _GUARD for share in shares)])


def asymmetry(M: Array) -> Array:
    """Return the largest entry of M - M' at each state, shape (n,)."""
    return largest(M - M.swapaxes(1, 2))


def least_eigenvalue(M: Array) -> Array:
    """Return the least eigenvalue of the symmetric part of M at each state, shape (n,)."""
    eigenvalues = np.full(len(M), -np.inf)
    finite = np.isfinite(M).all(axis=(1, 2))
    symmetric = (M + M.swapaxes(1, 2))[finite] / 2
    eigenvalues[finite] = np.linalg.eigvalsh(symmetric)[:, 0]
    return eigenvalues


def skewness(backend: Backend, states: States) -> Array:
    """Return the largest entry of the symmetric part of Mdot - 2 C at each state, shape (n,).

    c(q, v) is quadratic in v; its polar form is, without any differences,
    C(q, v) w = (c(v + w) - c(v) - c(w)) / 2, which is the C of the Christoffel
    symbols (Spong, Hutchinson, Vidyasagar, "Robot Modeling and Control", 2006,
    section 7.2). Mdot is taken by central differences along v.
    """
    q, v = states.q, states.v
    rest = np.zeros_like(v)
    g = backend.inverse_dynamics(q, rest, rest)

    def c(v: Array) -> Array:
        return backend.inverse_dynamics(q, v, rest) - g

    alone = c(v)
    unit = np.eye(v.shape[1])
    C = np.stack([(c(v + e) - alone - c(rest + e)) / 2 for e in unit], axis=-1)
    forward, back = backend.mass_matrix(q + _STEP * v), backend.mass_matrix(q - _STEP * v)
    N = (forward - back) / (2 * _STEP) - 2 * C
    return largest((N + N.swapaxes(1, 2)) / 2)


def roundtrip(backend: Backend, states: States) -> tuple[Array, Array]:
    """Convert accelerations to forces, and back to accelerations by one step of the backend.

    Returns:
        The errors of the accelerations [rad/s^2 or m/s^2], and M times these, the
        missing forces [N m or N], shape (n, joints) each.
    """
    tau = backend.inverse_dynamics(states.q, states.v, states.a)
    difference = backend.acceleration(states.q, states.v, tau) - states.a
    return difference, np.einsum("nij,nj->ni", backend.mass_matrix(states.q), difference)


def derivative_error(
    backend: Backend, reference: RobotDynamics, states: States
) -> tuple[Array, float]:
    """Compare finite differences of tau with Pinocchio's analytic derivatives.

    At each state tau is differentiated along one direction in positions,
    velocities and accelerations together, the direction being (v, a, v).

    Args:
        backend: Computes tau.
        reference: Computes the derivatives, of the same joints in the same order.

    Returns:
        The largest difference at each state [N m/s or N/s], shape (n,), and the
        greatest derivative.
    """
    q, v, a = states.q, states.v, states.a
    forward = backend.inverse_dynamics(q + _STEP * v, v + _STEP * a, a + _STEP * v)
    back = backend.inverse_dynamics(q - _STEP * v, v - _STEP * a, a - _STEP * v)
    analytic = np.zeros_like(forward)
    for i, (q_i, v_i, a_i) in enumerate(zip(q, v, a, strict=True)):
        by_q, by_v = reference.joint_derivatives(q_i, v_i, a_i)
        analytic[i] = by_q @ v_i + by_v @ a_i + reference.mass_matrix(q_i) @ v_i
    error = largest((forward - back) / (2 * _STEP) - analytic)
    return error, float(np.abs(analytic).max(initial=0.0))


DURATION = 2.0
"""Duration of the free motion [s]."""
TIMESTEP = 1e-3
"""Step of the motion [s]."""
_NUDGE = 1e-9
"""Initial disturbance with which the sensitivity of a motion is measured [rad or m]."""
_MARGIN = 10.0
"""Allowed deviation over that of a disturbance of the size of rounding [-]."""
_APART = 1e-2
"""Deviation above which motions are no longer compared [rad or m]."""


@dataclass(frozen=True, slots=True, eq=False)
class FreeMotion:
    """A free motion.

    Attributes:
        joints: The joints that move.
        q: Positions at the start and after every step [rad or m], shape (t, joints).
        energy: Kinetic and potential energy [J], shape (t,).
        kinetic: Kinetic energy [J], shape (t,).
    """

    joints: tuple[str, ...]
    q: Array
    energy: Array
    kinetic: Array


def falling_robot(model: RobotModel) -> RobotModel:
    """Return a robot for free motion: without limits and couplings, prismatic joints fixed."""
    return with_held_sliders(without_limits(model, reference=model))


def free_motion(
    backend: Backend, model: RobotModel, *, gravity: Array, start: dict[str, float]
) -> FreeMotion:
    """Simulate the free motion of a backend's robot from rest.

    Args:
        model: The robot in the backend, with which energy is computed.
        gravity: Gravity in the backend [m/s^2], shape (3,).
        start: Positions of the falling robot's joints by name [rad or m].
    """
    positions, velocities = backend.fall(start, timestep=TIMESTEP, steps=round(DURATION / TIMESTEP))
    return _watched(model, positions, velocities, gravity=gravity, joints=tuple(start))


def exact_motion(model: RobotModel, *, gravity: Array, start: dict[str, float]) -> FreeMotion:
    """Integrate the free motion of a robot from rest by Runge-Kutta, which conserves energy."""
    dynamics = RobotDynamics(falling_robot(model), free_base=False, gravity=gravity)
    still = np.zeros(dynamics.nv)
    positions, velocities = runge_kutta(
        lambda q, v: dynamics.forward_dynamics(q, v, still),
        np.array([start[name] for name in dynamics.position_names]),
        timestep=TIMESTEP,
        steps=round(DURATION / TIMESTEP),
    )
    return _watched(model, positions, velocities, gravity=gravity, joints=dynamics.position_names)


def deviation(backend: Backend, motion: FreeMotion, *, tolerance: float) -> Array:
    """Return the deviation of a motion that rounding may cause, over time.

    The growth of a small initial disturbance is an upper bound of the growth of rounding
    errors.

    Args:
        backend: The backend that made the motion.
        tolerance: Relative size of rounding errors [-].

    Returns:
        The greatest deviation so far [rad or m], shape (t,).
    """
    nudged = {name: value + _NUDGE for name, value in zip(motion.joints, motion.q[0], strict=True)}
    disturbed, _ = backend.fall(nudged, timestep=TIMESTEP, steps=len(motion.q) - 1)
    with np.errstate(all="ignore"):
        growth = np.abs(disturbed - motion.q).max(axis=1, initial=_NUDGE) / _NUDGE
    growth = np.where(np.isfinite(growth), growth, np.inf)
    worst: Array = _MARGIN * tolerance * np.maximum.accumulate(growth)
    return worst


def horizon(deviation: Array) -> int:
    """Return the number of samples until rounding dominates a motion."""
    return max(2, int(np.count_nonzero(deviation <= _APART)))


def _watched(
    model: RobotModel, q: Array, v: Array, *, gravity: Array, joints: tuple[str, ...]
) -> FreeMotion:
    robot = falling_robot(model)
    dynamics = RobotDynamics(robot, free_base=False, gravity=gravity)
    order = [joints.index(name) for name in dynamics.position_names]
    with np.errstate(all="ignore"):
        kinetic = np.array(
            [dynamics.kinetic_energy(*s) for s in zip(q[:, order], v[:, order], strict=True)]
        )
        potential = np.array([dynamics.potential_energy(each) for each in q[:, order]])
        return FreeMotion(joints, q, kinetic + potential, kinetic)


_SKEW_STATES, _STEP_STATES, _DERIVATIVE_STATES = 5, 50, 20
_STEP_MARGIN = 100.0
"""Amplification of rounding when a velocity is divided by a time step [-]."""
_EULER_MARGIN = 1.2
"""Allowed energy error over that of the reference with the same integrator [-]."""
_EXACT_ENERGY = 1e-4
"""Allowed energy error of Runge-Kutta over the kinetic energy [-]."""


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """The measurements of a backend.

    Attributes:
        channels: Motions, matrices and, as "error_" and the quantity, errors.
        scales: The scale of each error, by quantity.
        tolerances: Largest relative error that passes, by quantity [-].
        tolerance: Largest relative error due to rounding [-].
        terms: The terms of the backend.
        missing: Missing forces in single steps of its own motion [N m or N],
            shape (n, joints).
        falling_joints: The joints that the free motion moves.
        horizon: Time over which free motions were compared [s].
    """

    channels: dict[str, Channel]
    scales: dict[str, float]
    tolerances: dict[str, float]
    tolerance: float
    terms: Terms
    missing: Array
    falling_joints: tuple[str, ...]
    horizon: float

    def passes(self, quantity: Quantity) -> bool:
        """Return whether an error, if it was measured, is within its tolerance."""
        if quantity not in self.scales:
            return True
        worst = float(self.channels[f"error_{quantity}"].values.max(initial=0.0))
        return worst <= self.tolerances[quantity] * self.scales[quantity]


def measure(matched: Matched, states: States) -> Measured:
    """Compare a backend with the reference.

    Args:
        matched: The two.
        states: The states at which terms are compared.
    """
    backend, reference = matched.backend, matched.reference
    itself = backend.name == REFERENCE and not _altered(matched)
    theirs = reference.terms(states)
    terms = theirs if itself else backend.terms(states)
    scale = scales(theirs)
    force, inertia = scale[Quantity.TAU] or 1.0, scale[Quantity.M] or 1.0
    lost = cancellation(matched.model, scale)
    tolerance, differences = lost * backend.tolerance, lost * DIFFERENCE_TOLERANCE
    errors = _Errors({}, {}, {})
    if not itself:
        for quantity in TERMS:
            unit = "kg m^2, kg m, kg" if quantity is Quantity.M else "N m, N"
            error = largest(terms[quantity] - theirs[quantity])
            errors.enter(quantity, error, unit, scale[quantity] or 1.0, tolerance)
    errors.enter(Quantity.SYMMETRY, asymmetry(terms.M), "kg m^2, kg m, kg", inertia, tolerance)
    below = np.maximum(0.0, -least_eigenvalue(terms.M))
    errors.enter(Quantity.POSITIVE_DEFINITE, below, "kg m^2, kg m, kg", inertia, 0.0)
    fast = float(np.abs(states.v).max(initial=0.0)) or 1.0
    skew = skewness(backend, states.first(_SKEW_STATES))
    errors.enter(Quantity.SKEW, skew, "N m s", inertia * fast, differences)
    _, missing = roundtrip(backend, states.first(_STEP_STATES))
    errors.enter(Quantity.ROUNDTRIP, largest(missing), "N m, N", force, _STEP_MARGIN * tolerance)
    dynamics = RobotDynamics(matched.model, free_base=False, gravity=GRAVITY_VECTOR)
    error, greatest = derivative_error(backend, dynamics, states.first(_DERIVATIVE_STATES))
    errors.enter(
        Quantity.DERIVATIVE, error, "N m/s, N/s", greatest or 1.0,
        max(differences, _STEP_MARGIN * tolerance),
    )  # fmt: skip
    errors.keep("speed", np.sqrt((states.v**2).sum(axis=1)), "rad/s, m/s")
    errors.keep("M", terms.M[0], "kg m^2, kg m, kg", columns=backend.joints)
    errors.keep("M_reference", theirs.M[0], "kg m^2, kg m, kg", columns=backend.joints)
    joints, seconds = _fall(matched, states, errors, tolerance=tolerance, itself=itself)
    return Measured(
        errors.channels,
        errors.scales,
        errors.tolerances,
        tolerance,
        terms,
        missing,
        joints,
        seconds,
    )


@dataclass(frozen=True, slots=True)
class _Errors:
    """Collects measured errors and channels."""

    channels: dict[str, Channel]
    scales: dict[str, float]
    tolerances: dict[str, float]

    def enter(
        self, quantity: Quantity, error: Array, unit: str, scale: float, tolerance: float
    ) -> None:
        self.keep(f"error_{quantity}", error, unit)
        self.scales[str(quantity)], self.tolerances[str(quantity)] = scale, tolerance

    def keep(self, name: str, values: Array, unit: str, columns: tuple[str, ...] = ()) -> None:
        self.channels[name] = Channel(values, unit, columns)


def _altered(matched: Matched) -> bool:
    """Return whether a backend has another robot than the one under study."""
    return bool(matched.audited.differences) or not np.array_equal(matched.gravity, GRAVITY_VECTOR)


def _fall(
    matched: Matched, states: States, errors: _Errors, *, tolerance: float, itself: bool
) -> tuple[tuple[str, ...], float]:
    """Compare the free motions and their energy; return their joints and the horizon."""
    reference, backend = matched.reference, matched.backend
    place = dict(zip(reference.joints, states.q[0].tolist(), strict=True))
    start = {joint.name: place[joint.name] for joint in falling_robot(matched.model).moving_joints}
    there = free_motion(reference, matched.model, gravity=GRAVITY_VECTOR, start=start)
    allowed = deviation(reference, there, tolerance=tolerance)
    count = horizon(allowed)
    kinetic = float(there.kinetic[:count].max()) or 1.0
    drift = np.abs(there.energy - there.energy[0])[:count]
    if itself:
        motion = exact_motion(matched.model, gravity=GRAVITY_VECTOR, start=start)
        share = _EXACT_ENERGY
    else:
        motion = free_motion(backend, matched.given, gravity=matched.gravity, start=start)
        share = _EULER_MARGIN * float(drift.max()) / kinetic + _STEP_MARGIN * tolerance
        error = largest((motion.q - there.q)[:count])
        reach = float(np.abs(there.q[:count] - there.q[0]).max(initial=0.0)) or 1.0
        errors.enter(
            Quantity.FREE_MOTION, error, "rad, m", reach, float(allowed[count - 1]) / reach
        )
    gained = largest((motion.energy - motion.energy[0])[:count, None])
    errors.enter(Quantity.ENERGY, gained, "J", kinetic, share)
    errors.keep("time", np.linspace(0.0, TIMESTEP * (len(there.q) - 1), len(there.q)), "s")
    errors.keep("q", motion.q, "rad, m", columns=motion.joints)
    errors.keep("q_reference", there.q, "rad, m", columns=there.joints)
    errors.keep("energy", motion.energy, "J")
    errors.keep("energy_reference", there.energy, "J")
    return tuple(start), TIMESTEP * (count - 1)
