"""Everything about a back-end that is a number."""

from dataclasses import dataclass

import numpy as np

from kinetarium.dynamics import RobotDynamics
from kinetarium.recording.recording import Channel
from kinetarium.spatial.arrays import Array
from kinetarium.studies.dynamics.backends.registry import REFERENCE
from kinetarium.studies.dynamics.matched import Matched
from kinetarium.studies.dynamics.motion import (
    TIMESTEP,
    deviation,
    exact_motion,
    falling_robot,
    free_motion,
    horizon,
)
from kinetarium.studies.dynamics.override import GRAVITY
from kinetarium.studies.dynamics.properties import (
    DIFFERENCE_TOLERANCE,
    asymmetry,
    derivative_error,
    least_eigenvalue,
    roundtrip,
    skewness,
)
from kinetarium.studies.dynamics.states import States
from kinetarium.studies.dynamics.terms import TERMS, Quantity, Terms, largest, scales

_SKEW_STATES, _STEP_STATES, _DERIVATIVE_STATES = 5, 50, 20
_STEP_MARGIN = 100.0
"""How much rounding grows when a velocity is divided by a time step [-]."""
_EULER_MARGIN = 1.2
"""How much more energy than the reference an engine may gain or lose by the same rule [-]."""
_EXACT_ENERGY = 1e-4
"""Share of the kinetic energy that Runge-Kutta may gain or lose [-]."""


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """What was measured.

    Attributes:
        channels: Motions, matrices and, as "error_" and the quantity, errors.
        scales: What each error is held against, by quantity.
        tolerances: Largest relative error that passes, by quantity [-].
        terms: The terms of the back-end.
        missing: Forces that were missing in single steps of its own motion [N m or N],
            shape (n, joints).
        falling_joints: The joints that the free motion moves.
        horizon: How long free motions were compared [s].
    """

    channels: dict[str, Channel]
    scales: dict[str, float]
    tolerances: dict[str, float]
    terms: Terms
    missing: Array
    falling_joints: tuple[str, ...]
    horizon: float

    def passes(self, quantity: Quantity) -> bool:
        """Say whether an error, if it was measured, is within its tolerance."""
        if quantity not in self.scales:
            return True
        worst = float(self.channels[f"error_{quantity}"].values.max(initial=0.0))
        return worst <= self.tolerances[quantity] * self.scales[quantity]


def measure(matched: Matched, states: States) -> Measurement:
    """Measure a back-end against the reference.

    Args:
        matched: The two.
        states: Where their terms are compared.
    """
    backend, reference = matched.backend, matched.reference
    itself = backend.name == REFERENCE and not _altered(matched)
    theirs = reference.terms(states)
    terms = theirs if itself else backend.terms(states)
    scale = scales(theirs)
    force, inertia = scale[Quantity.TAU] or 1.0, scale[Quantity.M] or 1.0
    tolerance = backend.tolerance
    book = _Book({}, {}, {})
    if not itself:
        for quantity in TERMS:
            unit = "kg m^2, kg m, kg" if quantity is Quantity.M else "N m, N"
            error = largest(terms[quantity] - theirs[quantity])
            book.enter(quantity, error, unit, scale[quantity] or 1.0, tolerance)
    book.enter(Quantity.SYMMETRY, asymmetry(terms.M), "kg m^2, kg m, kg", inertia, tolerance)
    below = np.maximum(0.0, -least_eigenvalue(terms.M))
    book.enter(Quantity.POSITIVE_DEFINITE, below, "kg m^2, kg m, kg", inertia, 0.0)
    fast = float(np.abs(states.v).max(initial=0.0)) or 1.0
    skew = skewness(backend, states.first(_SKEW_STATES))
    book.enter(Quantity.SKEW, skew, "N m s", inertia * fast, DIFFERENCE_TOLERANCE)
    _, missing = roundtrip(backend, states.first(_STEP_STATES))
    book.enter(Quantity.ROUNDTRIP, largest(missing), "N m, N", force, _STEP_MARGIN * tolerance)
    dynamics = RobotDynamics(matched.model, free_base=False, gravity=GRAVITY)
    error, greatest = derivative_error(backend, dynamics, states.first(_DERIVATIVE_STATES))
    book.enter(
        Quantity.DERIVATIVE, error, "N m/s, N/s", greatest or 1.0,
        max(DIFFERENCE_TOLERANCE, _STEP_MARGIN * tolerance),
    )  # fmt: skip
    book.keep("speed", np.sqrt((states.v**2).sum(axis=1)), "rad/s, m/s")
    book.keep("M", terms.M[0], "kg m^2, kg m, kg", columns=backend.joints)
    book.keep("M_reference", theirs.M[0], "kg m^2, kg m, kg", columns=backend.joints)
    joints, seconds = _fall(matched, states, book, itself=itself)
    return Measurement(book.channels, book.scales, book.tolerances, terms, missing, joints, seconds)


@dataclass(frozen=True, slots=True)
class _Book:
    """Takes down what is measured."""

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
    """Say whether a back-end was given another robot than the one under study."""
    return bool(matched.audited.differences) or not np.array_equal(matched.gravity, GRAVITY)


def _fall(
    matched: Matched, states: States, book: _Book, *, itself: bool
) -> tuple[tuple[str, ...], float]:
    """Compare the free motions, and watch energy; give their joints and how long."""
    reference, backend = matched.reference, matched.backend
    place = dict(zip(reference.joints, states.q[0].tolist(), strict=True))
    start = {joint.name: place[joint.name] for joint in falling_robot(matched.model).moving_joints}
    there = free_motion(reference, matched.model, gravity=GRAVITY, start=start)
    allowed = deviation(reference, there, tolerance=backend.tolerance)
    count = horizon(allowed)
    kinetic = float(there.kinetic[:count].max()) or 1.0
    drift = np.abs(there.energy - there.energy[0])[:count]
    if itself:
        motion = exact_motion(matched.model, gravity=GRAVITY, start=start)
        share = _EXACT_ENERGY
    else:
        motion = free_motion(backend, matched.given, gravity=matched.gravity, start=start)
        share = _EULER_MARGIN * float(drift.max()) / kinetic + _STEP_MARGIN * backend.tolerance
        error = largest((motion.q - there.q)[:count])
        reach = float(np.abs(there.q[:count] - there.q[0]).max(initial=0.0)) or 1.0
        book.enter(Quantity.FREE_MOTION, error, "rad, m", reach, float(allowed[count - 1]) / reach)
    gained = largest((motion.energy - motion.energy[0])[:count, None])
    book.enter(Quantity.ENERGY, gained, "J", kinetic, share)
    book.keep("time", np.linspace(0.0, TIMESTEP * (len(there.q) - 1), len(there.q)), "s")
    book.keep("q", motion.q, "rad, m", columns=motion.joints)
    book.keep("q_reference", there.q, "rad, m", columns=there.joints)
    book.keep("energy", motion.energy, "J")
    book.keep("energy_reference", there.energy, "J")
    return tuple(start), TIMESTEP * (count - 1)
