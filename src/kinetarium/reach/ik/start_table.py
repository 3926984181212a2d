"""StartTable: the starts of the numerical search, and bounds that exclude unreachable poses."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetarium.dynamics import forward
from kinetarium.dynamics.chain import ChainArrays, link_frames, ranges
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose

SIZE = 512
"""Configurations of the table."""
SHORTEST = 1e-3
"""The least length that is weighted like one radian [m]."""
ROUNDS = 50
"""Iterations in which the points on the axes are moved towards their neighbours."""


class StartTable(NamedTuple):
    """Random configurations of a chain with the poses they reach, and bounds of its reach.

    Attributes:
        starts: Joint positions within the limits [rad or m], shape (starts, joints).
        keys: For each configuration R and, over the squared length, p of the tool and
            -|p|^2 / 2, so that the nearness of a pose is one scalar product; in single
            precision, which is enough for ranking and twice as fast, shape (13, starts).
        length: The length that is weighted like one radian [m].
        near: A point on the first axis, in the base link's frame [m], shape (3,).
        far: A point on the last axis, in the tool's frame [m], shape (3,).
        reach: The least and the greatest distance between the two [m], shape (2,).
    """

    starts: Array
    keys: NDArray[np.float32]
    length: float
    near: Array
    far: Array
    reach: Array


def no_starts(joints: int) -> StartTable:
    """Return a placeholder table for a chain with a closed form."""
    return StartTable(
        np.zeros((0, joints)),
        np.zeros((13, 0), np.float32),
        1.0,
        np.zeros(3),
        np.zeros(3),
        np.zeros(2),
    )


def start_table(chain: ChainArrays, *, seed: int) -> StartTable:
    """Fill the table of a chain.

    Args:
        seed: Seed of the configurations.
    """
    rng = np.random.default_rng(seed)
    lower, upper = ranges(chain)
    starts = rng.uniform(lower, upper, (SIZE, len(lower)))
    poses = forward.poses(chain, starts)
    p = poses[:, :3, 3]
    length = max(float(np.linalg.norm(p - p.mean(axis=0), axis=1).mean()) / 2, SHORTEST)
    places = np.column_stack([p, -np.vecdot(p, p) / 2]) / length**2
    keys = np.vstack([poses[:, :3, :3].reshape(-1, 9).T, places.T])
    # Row-major, since the search runs along rows.
    return StartTable(starts, np.ascontiguousarray(keys, dtype=np.float32), length, *_bounds(chain))


def _bounds(chain: ChainArrays) -> tuple[Array, Array, Array]:
    """Bound the distance between a point on the first and one on the last revolute axis.

    A point on an axis is fixed in both links of the joint, so that the distance between
    points on consecutive axes is constant: their polygon bounds the reach.
    """
    places = link_frames(chain, np.zeros(len(chain.prismatic)))
    turning = np.flatnonzero(~chain.prismatic) + 1
    slide = np.maximum(-chain.lower, chain.upper)[chain.prismatic].sum()
    if not len(turning):
        return places[1, :3, 3].copy(), np.zeros(3), np.array([0.0, np.inf])
    origins, axes = places[turning, :3, 3], places[turning, :3, 2]
    points = origins.copy()
    for _ in range(ROUNDS):
        for i in range(len(points)):
            sides = points[[k for k in (i - 1, i + 1) if 0 <= k < len(points)]]
            if not len(sides):
                continue
            along = (sides - origins[i]) @ axes[i]
            away = np.linalg.norm(sides - origins[i] - np.outer(along, axes[i]), axis=1)
            # The point of the axis on the shortest path between its neighbours: unfold the two
            # half planes into one.
            weights = away[::-1] if away.sum() > 0 else np.ones(len(sides))
            points[i] = origins[i] + (weights @ along / weights.sum()) * axes[i]
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    total = lengths.sum() + slide
    least = max(2 * lengths.max(initial=0.0) - total, 0.0)
    far = (inverse_pose(places[-1]) @ [*points[-1], 1.0])[:3]
    return points[0], far, np.array([least, total])


EXACT = 1e-7
"""Tolerance of a reached pose [m, rad]."""
NONE = -1.0
"""The manipulability of a pose without a solution."""
