"""Configurations of an arm among obstacles: edges, RRT-Connect and shortcuts, as Numba kernels.

RRT-Connect (Kuffner and LaValle, "RRT-Connect: an efficient approach to single-query path
planning", 2000) grows two trees, from start and goal, towards random configurations and then
towards each other. Distances are weighted with the levers of the joints, so that they bound how
far a point of the arm moves.
"""

from math import inf, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetarium.dynamics.chain import ChainArrays
from kinetarium.dynamics.forward import place
from kinetarium.reach.collision.check import collides, no_last_contact, sinks
from kinetarium.reach.collision.piece_arrays import PieceArrays
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.compiled import compiled
from kinetarium.spatial.kernels import cross, dot, minus

REACH = 1.0
"""Longest edge that is added to a tree in one step, as the motion of a point [m]."""

COARSE = 4
"""Checks on an edge, one less, before the exact ones."""
AHEAD = 0.95
"""How far ahead of what is covered the next check is, over what the one before covers."""


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

    Every configuration on the line is so near to a checked one that no point of the arm is farther
    than half of the step from where it was checked. With s from 0 to 1 along the line, a point
    moves by at most v h + A h^2 / 2 within h, where v bounds its speed at the checked
    configuration and A its acceleration.
    """
    X, last_contact = np.empty((len(a) + 2, 3, 4)), no_last_contact()
    q, way = np.empty(len(a)), b - a
    # A collision is mostly long: a few checks find it first.
    for k in range(1, COARSE):
        _between(a, way, _scattered(k), q)
        if blocked(arm, q, X, last_contact):
            return False
    bend, slack = _acceleration(arm, way), 0.5 * arm.step
    place(arm.chain, a, X)
    span = _span(_speed(arm, way, X), bend, slack)
    done = span
    while done < 1.0:
        ahead = AHEAD * span
        while True:
            s = min(done + ahead, 1.0)
            _between(a, way, s, q)
            if blocked(arm, q, X, last_contact):
                return False
            span = _span(_speed(arm, way, X), bend, slack)
            if s - span <= done:
                break
            ahead = 0.5 * min(ahead, span)
        done = s + span
    return True


@compiled
def _between(a: Array, way: Array, s: float, q: Array) -> None:
    for j in range(len(a)):
        q[j] = a[j] + s * way[j]


@compiled
def _scattered(k: int) -> float:
    """Return the k-th number of the sequence 1/2, 1/4, 3/4, 1/8 ... (van der Corput)."""
    s, place_value = 0.0, 0.5
    while k > 0:
        s += place_value * (k % 2)
        place_value *= 0.5
        k //= 2
    return s


@compiled
def _span(speed: float, bend: float, slack: float) -> float:
    """Return the h with speed h + bend h^2 / 2 = slack."""
    if speed <= 0.0 and bend <= 0.0:
        return inf
    return 2.0 * slack / (speed + sqrt(speed * speed + 2.0 * bend * slack))


@compiled
def _acceleration(arm: ArmArrays, way: Array) -> float:
    """Return a bound of the acceleration of all points when the joints move by `way` in unit time.

    A joint's part of the velocity, at most |way| times its lever, is turned by the joints before it
    and by itself, and changed by joints after it, each by its own part.
    """
    bound, turning = 0.0, 0.0
    for j in range(len(way)):
        speed = arm.levers[j] * abs(way[j])
        bound += speed * turning
        if not arm.chain.prismatic[j]:
            turning += abs(way[j])
        bound += speed * turning
    return bound


@compiled
def _speed(arm: ArmArrays, way: Array, X: Array) -> float:
    """Return the greatest speed of any point when the joints move by `way` in unit time.

    Args:
        X: The chain's frames, as `place` writes them, shape (joints + 2, 3, 4).
    """
    bodies = arm.pieces.bodies
    v, w, p = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    most = 0.0
    for j in range(len(way)):
        F = X[j + 1]
        o = (F[0, 3], F[1, 3], F[2, 3])
        u = cross(w, minus(o, p))
        v, p = (v[0] + u[0], v[1] + u[1], v[2] + u[2]), o
        d = way[j]
        if arm.chain.prismatic[j]:
            v = (v[0] + d * F[0, 2], v[1] + d * F[1, 2], v[2] + d * F[2, 2])
        else:
            w = (w[0] + d * F[0, 2], w[1] + d * F[1, 2], w[2] + d * F[2, 2])
        ball = bodies[j + 1]
        if ball[3] < 0.0:
            continue
        c = (
            F[0, 0] * ball[0] + F[0, 1] * ball[1] + F[0, 2] * ball[2],
            F[1, 0] * ball[0] + F[1, 1] * ball[1] + F[1, 2] * ball[2],
            F[2, 0] * ball[0] + F[2, 1] * ball[1] + F[2, 2] * ball[2],
        )
        u = cross(w, c)
        u = (v[0] + u[0], v[1] + u[1], v[2] + u[2])
        most = max(most, sqrt(dot(u, u)) + ball[3] * sqrt(dot(w, w)))
    return most


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
