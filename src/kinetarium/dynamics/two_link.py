"""The two-link arm in closed form: a reference that needs no library."""

from dataclasses import dataclass
from math import cos, sin

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.spatial.arrays import Array
from kinetarium.spatial.gravity import GRAVITY


@dataclass(frozen=True, slots=True)
class TwoLink:
    """A planar arm of two links that a positive angle lowers.

    At q = 0 both links lie along x; the joints turn about y and gravity acts
    along -z. The default numbers are the upper arm and the forearm of a UR5
    whose wrist has no mass. The terms are those of Spong, Hutchinson and
    Vidyasagar, "Robot Modeling and Control", 2006, section 7.3, with the signs of
    the angles and of gravity reversed.

    Attributes:
        masses: Masses of the links [kg].
        length: Distance between the joints [m].
        centers: Distances from each joint to its link's centre of mass [m].
        moments: Moments of inertia about y at the centres of mass [kg m^2].
        gravity: Acceleration of gravity [m/s^2].
    """

    masses: tuple[float, float] = (8.393, 2.275)
    length: float = 0.425
    centers: tuple[float, float] = (0.28, 0.25)
    moments: tuple[float, float] = (0.22689067591, 0.049443313556)
    gravity: float = GRAVITY

    def mass_matrix(self, q: ArrayLike) -> Array:
        """Return M [kg m^2] at the angles q [rad], shape (2, 2)."""
        _, q2 = np.asarray(q)
        (m1, m2), l1, (c1, c2), (i1, i2) = self.masses, self.length, self.centers, self.moments
        m22 = m2 * c2**2 + i2
        m12 = m22 + m2 * l1 * c2 * cos(q2)
        m11 = m1 * c1**2 + m2 * (l1**2 + c2**2 + 2 * l1 * c2 * cos(q2)) + i1 + i2
        return np.array([[m11, m12], [m12, m22]])

    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Return C [kg m^2/s] at angles q [rad] and rates v [rad/s], shape (2, 2)."""
        (_, q2), (v1, v2) = np.asarray(q), np.asarray(v)
        h = -self.masses[1] * self.length * self.centers[1] * sin(q2)
        return np.array([[h * v2, h * (v1 + v2)], [-h * v1, 0.0]])

    def gravity_forces(self, q: ArrayLike) -> Array:
        """Return g [N m] at the angles q [rad], shape (2,)."""
        q1, q2 = np.asarray(q)
        (m1, m2), (c1, c2) = self.masses, self.centers
        forearm = m2 * c2 * cos(q1 + q2)
        upper_arm = (m1 * c1 + m2 * self.length) * cos(q1)
        return -self.gravity * np.array([upper_arm + forearm, forearm])

    def inverse_dynamics(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """Return tau = M a + C v + g [N m], shape (2,)."""
        a, v = np.asarray(a, dtype=np.float64), np.asarray(v, dtype=np.float64)
        inertial: Array = self.mass_matrix(q) @ a + self.coriolis_matrix(q, v) @ v
        return inertial + self.gravity_forces(q)
