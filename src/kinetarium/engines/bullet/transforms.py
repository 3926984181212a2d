"""The edge between Kinetarium's poses and Bullet's: quaternions xyzw, bodies at their centres."""

from collections.abc import Sequence

import numpy as np

from kinetarium.model.robot import Inertia
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import pose, quaternion_from_rotation, rotation_from_quaternion


def position(X: Array) -> list[float]:
    """Give the position of a pose [m]."""
    return [float(x) for x in X[:3, 3]]


def quaternion_xyzw(X: Array) -> list[float]:
    """Give the rotation of a pose as a quaternion in Bullet's order."""
    w, x, y, z = quaternion_from_rotation(X[:3, :3])
    return [float(x), float(y), float(z), float(w)]


def rotation(quaternion: Sequence[float]) -> Array:
    """Give the rotation matrix, shape (3, 3), of a quaternion in Bullet's order."""
    x, y, z, w = quaternion
    return rotation_from_quaternion((w, x, y, z))


def principal(inertia: Inertia | None) -> tuple[Array, Array]:
    """Give the principal moments, shape (3,), and the pose X_LI of their frame, shape (4, 4).

    The frame lies at the centre of mass. It keeps the link's axes where those
    are principal already, so that nothing is lost in turning, and is the link's
    own where there is no mass.
    """
    if inertia is None:
        return np.zeros(3), pose()
    moments = np.diagonal(inertia.moment)
    if np.array_equal(inertia.moment, np.diag(moments)):
        return moments, pose(inertia.center)
    moments, R = np.linalg.eigh(inertia.moment)
    R[:, 0] *= np.linalg.det(R)
    return moments, pose(inertia.center, R)
