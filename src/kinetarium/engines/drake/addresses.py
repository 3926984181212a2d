"""Where the things of a scene lie in Drake's state vector [q; v]."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinetarium.engines.drake.build import DrakeWorld

Indices = NDArray[np.intp]

# Drake writes what floats as [quaternion; position] and [w; v], both in world axes.
_POSE = np.array([4, 5, 6, 0, 1, 2, 3])
_TWIST = np.array([3, 4, 5, 0, 1, 2])


@dataclass(frozen=True, slots=True, eq=False)
class Addresses:
    """Indices into the state vector.

    Attributes:
        v: Of the velocity of each joint, shape (n,).
        twists: Of the twist [v; w] of each floating solid, shape (f, 6).
        quaternions: Of the first number of its quaternion, by floating solid.
        positions: Number of positions, which stand before all velocities.
        gather: Of q, v, poses and twists one after the other, shape (m,).
        scatter: Where each entry of the state vector stands in those, shape (m,).
    """

    v: Indices
    twists: Indices
    quaternions: tuple[int, ...]
    positions: int
    gather: Indices
    scatter: Indices

    @classmethod
    def of(cls, world: DrakeWorld) -> "Addresses":
        """Look up a scene in the plant built from it."""
        nq = world.plant.num_positions()
        q = np.array([joint.position_start() for joint in world.joints], dtype=np.intp)
        v = np.array([nq + joint.velocity_start() for joint in world.joints], dtype=np.intp)
        poses = [joint.position_start() + _POSE for joint in world.floating]
        twists = [nq + joint.velocity_start() + _TWIST for joint in world.floating]
        gather = np.concatenate([q, v, *poses, *twists])
        return cls(
            v,
            np.array(twists, dtype=np.intp).reshape(-1, 6),
            tuple(joint.position_start() for joint in world.floating),
            nq,
            gather,
            np.argsort(gather),
        )
