"""Forward kinematics, Jacobian and manipulability by their definitions, in NumPy."""

import numpy as np

from kinetarium.dynamics.chain import ChainArrays
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import pose


def link_frames(chain: ChainArrays, q: Array) -> Array:
    """Return the poses of the base link's frame, the joints' and the tool's."""
    X = pose()
    places = [X]
    for i, position in enumerate(q):
        along = np.array([0.0, 0.0, position])
        motion = pose(along) if chain.prismatic[i] else pose(rotation=so3.exp(along))
        X = X @ np.vstack([chain.frames[i], [0, 0, 0, 1]]) @ motion
        places.append(X)
    return np.array([*places, X @ np.vstack([chain.frames[-1], [0, 0, 0, 1]])])


def jacobian(chain: ChainArrays, q: Array) -> Array:
    """Return the tool's twist [v; w] per joint rate in base axes, shape (6, joints)."""
    _, *joints, tool = link_frames(chain, q)
    columns = []
    for X, slides in zip(joints, chain.prismatic, strict=True):
        axis = X[:3, 2]
        if slides:
            columns.append([*axis, 0, 0, 0])
        else:
            columns.append([*np.cross(axis, tool[:3, 3] - X[:3, 3]), *axis])
    return np.array(columns).T


def manipulability(chain: ChainArrays, q: Array) -> float:
    """Return sqrt(det(J J')) [m^3] (Yoshikawa, "Manipulability of robotic mechanisms", 1985)."""
    J = jacobian(chain, q)
    return float(np.sqrt(max(np.linalg.det(J @ J.T), 0.0)))
