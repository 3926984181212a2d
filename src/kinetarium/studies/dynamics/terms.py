"""The terms of the equation of motion, M(q) a + c(q, v) + g(q) = tau, at many states."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from kinetarium.spatial.arrays import Array


class Quantity(StrEnum):
    """What is compared; a row of the results each."""

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
    """How far the least eigenvalue of M is below zero."""
    SKEW = "skew"
    """The symmetric part of Mdot - 2 C."""
    ROUNDTRIP = "roundtrip"
    """An acceleration, its forces, and the acceleration that they cause."""
    DERIVATIVE = "derivative"
    """Finite differences of tau against Pinocchio's analytic derivatives."""
    ENERGY = "energy"
    """Energy that a free motion gains or loses."""
    FREE_MOTION = "free_motion"
    """Joint positions along a free motion, against the reference's."""


TERMS = (Quantity.M, Quantity.G, Quantity.C, Quantity.TAU)


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """The terms of one back-end, a state in each row.

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
        """Give the values of M, g, c or tau."""
        values: Array = getattr(self, quantity.value)
        return values

    def of_joints(self, joints: list[int]) -> "Terms":
        """Give the terms in some of the joints, by number, in that order."""
        pick = np.array(joints, dtype=np.intp)
        M = self.M[:, pick[:, None], pick]
        return Terms(M, self.g[:, pick], self.c[:, pick], self.tau[:, pick])

    def first(self, count: int) -> "Terms":
        """Give the terms at the first so many states."""
        return Terms(self.M[:count], self.g[:count], self.c[:count], self.tau[:count])


def scales(terms: Terms) -> dict[Quantity, float]:
    """Give what errors are held against: the greatest entry of M, and of all forces.

    Gravity or Coriolis forces may vanish, on a wheel for instance; their
    errors are still small only beside the forces they are added to.
    """
    force = float(max(np.abs(values).max(initial=0.0) for values in (terms.tau, terms.g, terms.c)))
    inertia = float(np.abs(terms.M).max(initial=0.0))
    return {quantity: inertia if quantity is Quantity.M else force for quantity in TERMS}


def largest(values: Array) -> Array:
    """Give the largest magnitude at each state, shape (n,); infinite where it is no number."""
    flat = np.abs(values.reshape(len(values), -1)).max(axis=1, initial=0.0)
    return np.where(np.isnan(flat), np.inf, flat)


def joint_numbers(names: tuple[str, ...], among: tuple[str, ...]) -> list[int]:
    """Give the position of each name among others."""
    place = {name: i for i, name in enumerate(among)}
    return [place[name] for name in names]
