"""The ten inertial parameters of a rigid body, in which its dynamics are linear.

pi = [m, m c, I_O], I_O = I_C + m (c'c 1 - c c') the moment about the frame's
origin as [xx, xy, yy, xz, yz, zz]; bodies fixed together add up in them.
"""

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.model.robot import Inertia
from kinetarium.spatial.arrays import Array, frozen

PARAMETER_NAMES = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
_ROWS, _COLUMNS = (0, 0, 1, 0, 1, 2), (0, 1, 1, 2, 2, 2)


def inertial_parameters(inertia: Inertia | None) -> Array:
    """Return the parameters of a body in its link's frame, zeros for None, shape (10,)."""
    if inertia is None:
        return np.zeros(10)
    moment = inertia.moment + steiner(inertia.mass, inertia.center)
    return np.array([inertia.mass, *(inertia.mass * inertia.center), *moment[_ROWS, _COLUMNS]])


def inertia_of(parameters: ArrayLike) -> Inertia | None:
    """Return the body of some parameters, shape (10,); None where there is no mass."""
    pi = np.asarray(parameters, dtype=np.float64)
    mass = float(pi[0])
    if mass == 0.0:
        return None
    center = pi[1:4] / mass
    moment = np.zeros((3, 3))
    moment[_ROWS, _COLUMNS] = moment[_COLUMNS, _ROWS] = pi[4:]
    return Inertia(mass, frozen(center), frozen(moment - steiner(mass, center)))


def moved(inertia: Inertia, X_BL: Array) -> Inertia:
    """Return an inertia of link frame L in the frame B."""
    R_BL = X_BL[:3, :3]
    center = R_BL @ inertia.center + X_BL[:3, 3]
    return Inertia(inertia.mass, frozen(center), frozen(R_BL @ inertia.moment @ R_BL.T))


def steiner(mass: float, center: Array) -> Array:
    """Return the moment of a point mass about the origin (parallel axis theorem)."""
    moment: Array = mass * (center @ center * np.eye(3) - np.outer(center, center))
    return moment
