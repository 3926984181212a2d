"""Random states and the terms of the equation of motion; integrators."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from kinetarium.dynamics import random_positions
from kinetarium.model.robot import Joint, JointType, RobotModel
from kinetarium.spatial.arrays import Array

_FASTEST = 3.0
"""Maximum random velocity [rad/s or m/s]; less if a joint is slower."""
_QUICKEST = 5.0
"""Maximum random acceleration [rad/s^2 or m/s^2]."""
_MOST_TURN, _MOST_TRAVEL = 8 * np.pi, 100.0
"""Widest ranges in which a joint is sampled from end to end [rad], [m]. Wider ones, such as
+-1e9, mean none: positions lose their digits there, and all are the same to a turning joint."""
_TURN, _TRAVEL = np.pi, 1.0
"""Farthest that a joint with a wider range is sampled from its position nearest to zero, as one
without limits is [rad], [m]."""
POSITIONS = (0.0, 0.0665)
"""Joint angles of the numbers printed in the report on the two-link arm [rad]."""
VELOCITIES = (1.0, 2.0)
"""Joint velocities at which its Coriolis forces are shown [rad/s]; the report has none."""


@dataclass(frozen=True, slots=True, eq=False)
class States:
    """Positions, velocities and accelerations, a state in each row.

    Attributes:
        q: Joint positions [rad or m], shape (n, joints).
        v: Joint velocities [rad/s or m/s], shape (n, joints).
        a: Joint accelerations [rad/s^2 or m/s^2], shape (n, joints).
    """

    q: Array
    v: Array
    a: Array

    def __len__(self) -> int:
        """Return the number of states."""
        return len(self.q)

    def first(self, count: int) -> "States":
        """Return the first n states, or all if there are fewer."""
        return States(self.q[:count], self.v[:count], self.a[:count])


def draw_states(model: RobotModel, *, count: int, seed: int) -> States:
    """Draw random states inside the joint limits; mimic joints are independent.

    A joint whose limits are several turns apart, or 100 m, is as one without limits.

    Args:
        count: Number of states.
        seed: Seed of the random numbers.
    """
    rng = np.random.default_rng(seed)
    uncoupled = replace(model, joints=tuple(map(_sampled, model.joints)))
    fastest = [min(joint.limits.velocity or np.inf, _FASTEST) for joint in model.moving_joints]
    shape = (count, len(fastest))
    return States(
        q=random_positions(uncoupled, rng, count=count),
        v=rng.uniform(-1.0, 1.0, shape) * fastest,
        a=rng.uniform(-_QUICKEST, _QUICKEST, shape),
    )


def _sampled(joint: Joint) -> Joint:
    """Return a joint that follows no other, with the limits between which it is sampled."""
    slides = joint.type is JointType.PRISMATIC
    most, reach = (_MOST_TRAVEL, _TRAVEL) if slides else (_MOST_TURN, _TURN)
    lower, upper = joint.limits.lower, joint.limits.upper
    if most < upper - lower < np.inf:
        middle = min(max(lower, 0.0), upper)
        lower, upper = max(lower, middle - reach), min(upper, middle + reach)
    limits = replace(joint.limits, lower=lower, upper=upper)
    return replace(joint, mimic=None, limits=limits)


class Quantity(StrEnum):
    """The compared quantities; each is a row of the results."""

    M = "M"
    """The mass matrix."""
    G = "g"
    """The forces of gravity."""
    C = "c"
    """The Coriolis and centrifugal forces C(q, v) v."""
    TAU = "tau"
    """The forces of inverse dynamics."""
    SYMMETRY = "symmetry"
    """M - M'."""
    POSITIVE_DEFINITE = "positive_definite"
    """Amount by which the least eigenvalue of M is below zero."""
    SKEW = "skew"
    """The symmetric part of Mdot - 2 C."""
    ROUNDTRIP = "roundtrip"
    """From an acceleration to forces, and back to the acceleration they cause."""
    DERIVATIVE = "derivative"
    """Finite differences of tau compared with Pinocchio's analytic derivatives."""
    ENERGY = "energy"
    """Energy error of a free motion."""
    FREE_MOTION = "free_motion"
    """Joint positions along a free motion, compared with the reference's."""


TERMS = (Quantity.M, Quantity.G, Quantity.C, Quantity.TAU)


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """The terms of one backend, a state in each row.

    Attributes:
        M: Mass matrices [kg m^2, kg m, kg], shape (n, joints, joints).
        g: Forces of gravity [N m or N], shape (n, joints).
        c: Coriolis and centrifugal forces [N m or N], shape (n, joints).
        tau: Forces of inverse dynamics [N m or N], shape (n, joints).
    """

    M: Array
    g: Array
    c: Array
    tau: Array

    def __getitem__(self, quantity: Quantity) -> Array:
        """Return the values of M, g, c or tau."""
        values: Array = getattr(self, quantity.value)
        return values

    def of_joints(self, joints: list[int]) -> "Terms":
        """Return the terms in some of the joints, by number, in that order."""
        pick = np.array(joints, dtype=np.intp)
        M = self.M[:, pick[:, None], pick]
        return Terms(M, self.g[:, pick], self.c[:, pick], self.tau[:, pick])

    def first(self, count: int) -> "Terms":
        """Return the terms at the first n states."""
        return Terms(self.M[:count], self.g[:count], self.c[:count], self.tau[:count])


def scales(terms: Terms) -> dict[Quantity, float]:
    """Return the scales of errors: the greatest entry of M, and of all forces.

    Gravity or Coriolis forces may be zero, for example of a wheel; their errors
    are then relative to the forces they are added to.
    """
    force = float(max(np.abs(values).max(initial=0.0) for values in (terms.tau, terms.g, terms.c)))
    inertia = float(np.abs(terms.M).max(initial=0.0))
    return {quantity: inertia if quantity is Quantity.M else force for quantity in TERMS}


def largest(values: Array) -> Array:
    """Return the largest magnitude at each state, shape (n,); infinite for NaN."""
    flat = np.abs(values.reshape(len(values), -1)).max(axis=1, initial=0.0)
    return np.where(np.isnan(flat), np.inf, flat)


Acceleration = Callable[[Array, Array], Array]
"""Computes a at positions and velocities."""


def semi_implicit_euler(
    acceleration: Acceleration, q: Array, *, timestep: float, steps: int
) -> tuple[Array, Array]:
    """Integrate a motion from rest by semi-implicit Euler: v += h a(q, v), q += h v.

    Args:
        acceleration: Computes a.
        q: Initial positions [rad or m], shape (joints,).
        timestep: Time step h [s].
        steps: Number of steps.

    Returns:
        Positions and velocities at the start and after each step, shape (steps + 1, joints) each.
    """
    positions, velocities = np.zeros((2, steps + 1, len(q)))
    positions[0] = q
    for i in range(steps):
        step = timestep * acceleration(positions[i], velocities[i])
        velocities[i + 1] = velocities[i] + step
        positions[i + 1] = positions[i] + timestep * velocities[i + 1]
    return positions, velocities


def runge_kutta(
    acceleration: Acceleration, q: Array, *, timestep: float, steps: int
) -> tuple[Array, Array]:
    """Integrate a motion from rest by the classical Runge-Kutta method (Kutta, 1901).

    Arguments and results are those of `semi_implicit_euler`.
    """
    n = len(q)
    states = np.zeros((steps + 1, 2 * n))
    states[0, :n] = q

    def rate(x: Array) -> Array:
        return np.concatenate([x[n:], acceleration(x[:n], x[n:])])

    for i in range(steps):
        x = states[i]
        k1 = rate(x)
        k2 = rate(x + timestep / 2 * k1)
        k3 = rate(x + timestep / 2 * k2)
        k4 = rate(x + timestep * k3)
        states[i + 1] = x + timestep / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return states[:, :n], states[:, n:]
