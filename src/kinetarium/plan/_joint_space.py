"""Configurations of an arm among obstacles: edges, RRT-Connect and shortcuts, as Numba kernels.

RRT-Connect (Kuffner and LaValle, "RRT-Connect: an efficient approach to single-query path
planning", 2000) grows two trees, from start and goal, towards random configurations and then
towards each other. Distances are weighted with the levers of the joints, so that they bound how
far a point of the arm moves.
"""

from math import ceil, inf, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetarium.dynamics.chain import ChainArrays
from kinetarium.dynamics.forward import place
from kinetarium.reach.collision.check import collides, no_last_contact, sinks
from kinetarium.reach.collision.piece_arrays import PieceArrays
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.compiled import compiled

REACH = 0.5
"""Longest edge that is added to a tree in one step, as the motion of a point [m]."""


class ArmArrays(NamedTuple):
    """An arm among obstacles, for kernels.

    Attributes:
        chain: The chain.
        pieces: Its pieces, and the obstacles in the base's frame.
        floor: A solid plane in the base's frame, as in `sinks`; distance -inf if there is none.
        levers: How far any point moves, at most, per unit of each joint [m/rad or 1],
            shape (joints,).
        step: How far any point may move between two checked configurations [m].
    """

    chain: ChainArrays
    pieces: PieceArrays
    floor: Array
    levers: Array
    step: float


@compiled
def levers(chain: ChainArrays, pieces: PieceArrays, q: Array) -> Array:
    """Return how far any point moves, at most, per unit of each joint [m/rad or 1].

    The largest distance of a moved piece from the joint's axis in many configurations. Balls around
    the bodies are larger than the bodies by more than what the configurations miss.

    Args:
        q: Random configurations [rad or m], shape (n, joints).

    Returns:
        The levers, shape (joints,).
    """
    joints = q.shape[1]
    X, result = np.empty((joints + 2, 3, 4)), np.where(chain.prismatic, 1.0, 1e-3)
    for n in range(len(q)):
        place(chain, q[n], X)
        for b in range(1, joints + 2):
            tool = b == joints + 1
            ball = pieces.bodies[b]
            solid = not tool and ball[3] >= 0.0
            for j in range(min(b, joints)):
                if chain.prismatic[j]:
                    continue
                F, square, along = X[j + 1], 0.0, 0.0
                for row in range(3):
                    gap = X[b, row, 3] - F[row, 3]
                    if solid:
                        for k in range(3):
                            gap += X[b, row, k] * ball[k]
                    square += gap * gap
                    along += gap * F[row, 2]
                away = sqrt(max(square - along * along, 0.0)) + (ball[3] if solid else 0.0)
                result[j] = max(result[j], away)
    return result


@compiled
def blocked(arm: ArmArrays, q: Array, X: Array, last_contact: NDArray[np.int64]) -> bool:
    """Return whether a configuration collides.

    Args:
        q: Joint positions [rad or m], shape (joints,).
        X: Written to: the chain's frames, shape (joints + 2, 3, 4).
        last_contact: As in `collides`; updated.
    """
    place(arm.chain, q, X)
    if collides(arm.pieces, X, q, last_contact):
        return True
    return sinks(arm.pieces, X, arm.floor)


@compiled
def blocked_many(arm: ArmArrays, q: Array) -> NDArray[np.bool_]:
    """Return whether configurations, shape (n, joints), collide, shape (n,)."""
    X, last_contact = np.empty((q.shape[1] + 2, 3, 4)), no_last_contact()
    result = np.empty(len(q), np.bool_)
    for n in range(len(q)):
        result[n] = blocked(arm, q[n], X, last_contact)
    return result


@compiled
def contact(arm: ArmArrays, q: Array) -> NDArray[np.int64]:
    """Return the two bodies that touch at q, -1 and the floor's if it is that, or -1 twice."""
    X, last_contact = np.empty((len(q) + 2, 3, 4)), no_last_contact()
    place(arm.chain, q, X)
    if collides(arm.pieces, X, q, last_contact):
        pair = arm.pieces.pairs[last_contact[0]]
        return np.array([pair[0], pair[1]])
    below = len(arm.pieces.bodies) - 1 if sinks(arm.pieces, X, arm.floor) else -1
    return np.array([-1, below])


@compiled
def free_edge(arm: ArmArrays, a: Array, b: Array) -> bool:
    """Return whether the straight line between two free configurations is free.

    No point of the arm moves farther than the step between two configurations that are checked.
    They are checked from coarse to fine, since a collision is mostly as long as many steps.
    """
    way = 0.0
    for j in range(len(a)):
        way += arm.levers[j] * abs(b[j] - a[j])
    count = ceil(way / arm.step)
    X, last_contact = np.empty((len(a) + 2, 3, 4)), no_last_contact()
    q = np.empty(len(a))
    stride = 1
    while 2 * stride < count:
        stride *= 2
    while stride > 0:
        for k in range(stride, count, 2 * stride):
            for j in range(len(a)):
                q[j] = a[j] + (b[j] - a[j]) * (k / count)
            if blocked(arm, q, X, last_contact):
                return False
        stride //= 2
    return True


@compiled
def distance(levers: Array, a: Array, b: Array) -> float:
    """Return the distance of two configurations, weighted with the levers [m]."""
    square = 0.0
    for j in range(len(a)):
        square += (levers[j] * (b[j] - a[j])) ** 2
    return sqrt(square)


@compiled
def connect_trees(
    arm: ArmArrays, start: Array, goal: Array, box: Array, samples: Array
) -> tuple[Array, int]:
    """Find a path between two free configurations by RRT-Connect.

    Args:
        start: A free configuration [rad or m], shape (joints,).
        goal: Another one.
        box: Least and greatest positions that are sampled, shape (2, joints).
        samples: Random numbers from [0, 1), one row for each try, shape (tries, joints).

    Returns:
        The corners of a path, shape (n, joints), none if there is none; and the nodes of the
        trees.
    """
    joints, most = len(start), 4 * len(samples) + 2
    trees = np.empty((2, most, joints))
    parents = np.full((2, most), -1)
    counts = np.ones(2, np.int64)
    trees[0, 0], trees[1, 0] = start, goal
    target = np.empty(joints)
    for n in range(len(samples)):
        for j in range(joints):
            target[j] = box[0, j] + samples[n, j] * (box[1, j] - box[0, j])
        # The smaller tree grows; the other one is to meet it.
        tree = 0 if counts[0] <= counts[1] else 1
        grown, _ = _extend(arm, trees[tree], parents[tree], counts, tree, target)
        if grown < 0:
            continue
        target[:] = trees[tree, grown]
        other = 1 - tree
        met = True
        while met:
            end, there = _extend(arm, trees[other], parents[other], counts, other, target)
            if there:
                ends = (grown, end) if tree == 0 else (end, grown)
                return _trace(trees, parents, ends[0], ends[1]), counts.sum()
            met = end >= 0
        if counts.max() >= most - 2:
            break
    return np.empty((0, joints)), counts.sum()


@compiled
def _extend(
    arm: ArmArrays,
    nodes: Array,
    parents: NDArray[np.int64],
    counts: NDArray[np.int64],
    tree: int,
    target: Array,
) -> tuple[int, bool]:
    """Add a node towards a target; return it, or -1, and whether it is the target."""
    count = counts[tree]
    if count >= len(nodes):
        return -1, False
    nearest, least = 0, inf
    for n in range(count):
        away = distance(arm.levers, nodes[n], target)
        if away < least:
            nearest, least = n, away
    share = min(1.0, REACH / least) if least > 0.0 else 1.0
    new = nodes[count]
    for j in range(len(target)):
        new[j] = (
            target[j]
            if share == 1.0
            else nodes[nearest, j] + share * (target[j] - nodes[nearest, j])
        )
    X, last_contact = np.empty((len(target) + 2, 3, 4)), no_last_contact()
    if blocked(arm, new, X, last_contact) or not free_edge(arm, nodes[nearest], new):
        return -1, False
    parents[count] = nearest
    counts[tree] += 1
    return count, share == 1.0


@compiled
def _trace(trees: Array, parents: NDArray[np.int64], from_start: int, from_goal: int) -> Array:
    """Return the path through two nodes in the same place, one of each tree."""
    first = 0
    n = from_start
    while n >= 0:
        first += 1
        n = parents[0, n]
    second = 0
    n = parents[1, from_goal]
    while n >= 0:
        second += 1
        n = parents[1, n]
    path = np.empty((first + second, trees.shape[2]))
    n = from_start
    for k in range(first - 1, -1, -1):
        path[k] = trees[0, n]
        n = parents[0, n]
    n = parents[1, from_goal]
    for k in range(first, first + second):
        path[k] = trees[1, n]
        n = parents[1, n]
    return path


@compiled
def shorten(arm: ArmArrays, path: Array, samples: Array) -> Array:
    """Replace parts of a free path by straight lines.

    First corners are left out, the farthest that can be seen next; then a line between two random
    points of the path is tried for each row of samples.

    Args:
        path: Corners, shape (n, joints).
        samples: Random numbers from [0, 1), shape (tries, >= 2).
    """
    path = _seen(arm, path)
    for n in range(len(samples)):
        if len(path) < 3:
            break
        total = 0.0
        for k in range(len(path) - 1):
            total += distance(arm.levers, path[k], path[k + 1])
        low = min(samples[n, 0], samples[n, 1]) * total
        high = max(samples[n, 0], samples[n, 1]) * total
        i, a = _at(arm.levers, path, low)
        j, b = _at(arm.levers, path, high)
        if i == j or not free_edge(arm, a, b):
            continue
        shorter = np.empty((i + 1 + 2 + len(path) - 1 - j, path.shape[1]))
        shorter[: i + 1] = path[: i + 1]
        shorter[i + 1], shorter[i + 2] = a, b
        shorter[i + 3 :] = path[j + 1 :]
        path = shorter
    return _seen(arm, path)


@compiled
def _seen(arm: ArmArrays, path: Array) -> Array:
    """Leave out the corners between one and the farthest that it sees."""
    kept = np.empty_like(path)
    kept[0] = path[0]
    count, i = 1, 0
    while i < len(path) - 1:
        j = len(path) - 1
        while j > i + 1 and not free_edge(arm, path[i], path[j]):
            j -= 1
        kept[count] = path[j]
        count, i = count + 1, j
    return kept[:count].copy()


@compiled
def _at(levers: Array, path: Array, way: float) -> tuple[int, Array]:
    """Return the edge and the point at a distance from the start of a path."""
    for k in range(len(path) - 1):
        length = distance(levers, path[k], path[k + 1])
        if way < length:
            return k, path[k] + (path[k + 1] - path[k]) * (way / length)
        way -= length
    return len(path) - 2, path[len(path) - 1].copy()
