"""pybullet, loaded with the first scene and kept from writing to the terminal."""

from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from kinetarium.engines.base.engine import quiet
from kinetarium.errors import KinetariumError
from kinetarium.model.robot import Inertia
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import pose, quaternion_from_rotation, rotation_from_quaternion


@cache
def load() -> Any:
    """Import pybullet, which greets on the error stream."""
    with quiet():
        import pybullet
    return pybullet


class BulletClient:
    """One world of pybullet: its functions, with the world's number already given."""

    def __init__(self) -> None:
        """Open a world.

        Raises:
            KinetariumError: If too many are open.
        """
        p = load()
        self.number = int(p.connect(p.DIRECT))
        if self.number < 0:
            raise KinetariumError("pybullet takes no more simulations at once; close some first")

    def __getattr__(self, name: str) -> Any:
        """Return a function or constant of pybullet, and keep it for the next time."""
        attribute = getattr(load(), name)
        if callable(attribute):
            attribute = partial(attribute, physicsClientId=self.number)
        setattr(self, name, attribute)
        return attribute

    def bare(self, name: str) -> Any:
        """Return a function as pybullet has it, for loops that feel the difference.

        It takes the world's number as its last argument.
        """
        return getattr(load(), name)


def position(X: Array) -> list[float]:
    """Return the position of a pose [m]."""
    return [float(x) for x in X[:3, 3]]


def quaternion_xyzw(X: Array) -> list[float]:
    """Return the rotation of a pose as a quaternion in Bullet's order."""
    w, x, y, z = quaternion_from_rotation(X[:3, :3])
    return [float(x), float(y), float(z), float(w)]


def rotation(quaternion: Sequence[float]) -> Array:
    """Return the rotation matrix, shape (3, 3), of a quaternion in Bullet's order."""
    x, y, z, w = quaternion
    return rotation_from_quaternion((w, x, y, z))


def principal(inertia: Inertia | None) -> tuple[Array, Array]:
    """Return the principal moments, shape (3,), and the pose X_LI of their frame, shape (4, 4).

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
