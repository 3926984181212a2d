"""Ways of a base on a lattice of poses by A*, as a Numba kernel.

The lattice has 16 headings, whose directions are those of the vectors (1, 0), (2, 1), (1, 1) and
so forth, so that straight steps end on lattice points (Pivtoraiko and Kelly, "Efficient
constrained path planning via search in state lattices", 2005). It is fixed to the goal, which is
therefore met exactly. A motion is checked only when it is about to be used.
"""

from heapq import heappop, heappush
from math import atan2, cos, hypot, inf, pi, sin

import numpy as np
from numpy.typing import NDArray

from kinetarium.plan._legs import (
    LAST_TURN,
    OPTIONS,
    REVERSE,
    SAME,
    STOP,
    TURN,
    Drivable,
    connection,
    free_connection,
    free_motion,
    turned,
)
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.compiled import compiled

CELL = 0.1
"""Distance of lattice points [m]."""
HEADINGS = 16
VECTORS = np.array([
    (1, 0), (2, 1), (1, 1), (1, 2), (0, 1), (-1, 2), (-1, 1), (-2, 1),
    (-1, 0), (-2, -1), (-1, -1), (-1, -2), (0, -1), (1, -2), (1, -1), (2, -1),
])  # fmt: skip
"""Directions of the headings, and the steps along them, in cells."""
ANGLES = np.arctan2(VECTORS[:, 1], VECTORS[:, 0]) % (2 * pi)
AROUND = 0.16
"""Distance up to which the start is connected to lattice points [m]."""
SLIGHT = 0.2
"""Turns below this do not count in estimates: the lattice has no smaller ones [rad]."""
EAGER = 1.5
"""Weight of the estimate of the cost that is left (Pohl, "Heuristic search viewed as path finding
in a graph", 1970): with 1.5 half of the time is needed, and ways differ by 1 % on the average."""


@compiled
def search(
    base: Drivable, start: Array, goal: Array, box: NDArray[np.int64], guided: bool, most: int
) -> tuple[Array, float, int]:
    """Find a way on the lattice.

    Args:
        start: The pose at the start, shape (3,).
        goal: The pose at the end.
        box: Least and greatest coordinates of lattice points, in cells in the goal's frame,
            shape (2, 2).
        guided: Whether to be guided by the cost without obstacles, which mostly finds a way after
            fewer checks; otherwise the cheapest way on the lattice is found (Dijkstra).
        most: Lattice poses that are reached before the search is given up.

    Returns:
        Poses from start to goal, shape (n, 3), none if there is no way; the cost; and how many
        lattice poses were reached.
    """
    wide, long = box[1, 0] - box[0, 0] + 1, box[1, 1] - box[0, 1] + 1
    count = wide * long * HEADINGS * 2
    came, done = np.full(count, -1), np.zeros(count, np.bool_)
    a, b = np.empty(3), np.empty(3)
    # Entries: estimate, cost, node, the node before or -1 - option from the start.
    queue = [(0.0, 0.0, 0, 0)]
    queue.pop()
    c, s = cos(goal[2]), sin(goal[2])
    dx, dy = start[0] - goal[0], start[1] - goal[1]
    i0, j0 = round((c * dx + s * dy) / CELL), round((c * dy - s * dx) / CELL)
    for i in range(max(i0 - 2, box[0, 0]), min(i0 + 2, box[1, 0]) + 1):
        for j in range(max(j0 - 2, box[0, 1]), min(j0 + 2, box[1, 1]) + 1):
            for k in range(HEADINGS):
                node = _node(i, j, k, box)
                _pose(node, box, goal, b)
                if hypot(b[0] - start[0], b[1] - start[1]) > AROUND:
                    continue
                guess = _guess(base, b, goal) if guided else 0.0
                for option in range(OPTIONS):
                    _, cost = connection(base, start, b, option)
                    if cost < inf:
                        heappush(queue, (cost + guess, cost, node, -1 - option))
    reached = 0
    while len(queue) and reached < most:
        _, cost, node, before = heappop(queue)
        if done[node]:
            continue
        _pose(node, box, goal, b)
        if before < 0:
            poses, _ = connection(base, start, b, -1 - before)
            if not free_connection(base, poses):
                continue
        else:
            _pose(before, box, goal, a)
            if not free_motion(base, a, b):
                continue
        done[node], came[node] = True, before
        reached += 1
        i, j, k, straight = _place(node, box)
        if i == 0 and j == 0 and k == 0:
            return _trace(base, start, goal, box, came, node), cost, reached
        for move in range(2 + HEADINGS):
            if move < 2:
                h, u, v = (k + 2 * move - 1) % HEADINGS, i, j
                more = TURN * abs(turned(ANGLES[k], ANGLES[h])) + 2 * STOP * straight
                if u == 0 and v == 0 and h == 0:
                    more += LAST_TURN
            else:
                d = move - 2
                if not base.sideways and d != k and d != (k + HEADINGS // 2) % HEADINGS:
                    continue
                h, u, v = k, i + VECTORS[d, 0], j + VECTORS[d, 1]
                more = CELL * hypot(VECTORS[d, 0], VECTORS[d, 1])
                if not base.sideways and d != k:
                    more *= REVERSE
            if u < box[0, 0] or u > box[1, 0] or v < box[0, 1] or v > box[1, 1]:
                continue
            new = _node(u, v, h, box) + (move >= 2)
            # What was found before may be blocked: only a checked way excludes another one.
            if done[new]:
                continue
            total, guess = cost + more, 0.0
            if guided:
                _pose(new, box, goal, a)
                guess = _guess(base, a, goal)
            heappush(queue, (total + guess, total, new, node))
    return np.empty((0, 3)), inf, reached


@compiled
def _node(i: int, j: int, k: int, box: NDArray[np.int64]) -> int:
    """Return the number of a lattice pose, reached by a turn; by a straight step it is one more."""
    long = box[1, 1] - box[0, 1] + 1
    node: int = (((i - box[0, 0]) * long + j - box[0, 1]) * HEADINGS + k) * 2
    return node


@compiled
def _place(node: int, box: NDArray[np.int64]) -> tuple[int, int, int, int]:
    """Return the cell and the heading of a node, and 1 if it was reached by a straight step."""
    long = box[1, 1] - box[0, 1] + 1
    cell = node // 2 // HEADINGS
    return cell // long + box[0, 0], cell % long + box[0, 1], node // 2 % HEADINGS, node % 2


@compiled
def _pose(node: int, box: NDArray[np.int64], goal: Array, pose: Array) -> None:
    """Write the pose of a node."""
    i, j, k, _ = _place(node, box)
    c, s = cos(goal[2]), sin(goal[2])
    pose[0], pose[1] = goal[0] + CELL * (c * i - s * j), goal[1] + CELL * (s * i + c * j)
    pose[2] = goal[2] + ANGLES[k]


@compiled
def _guess(base: Drivable, a: Array, goal: Array) -> float:
    """Return an estimate of the cost that is left: that of turn, straight leg and turn."""
    dx, dy = goal[0] - a[0], goal[1] - a[1]
    away = hypot(dx, dy)
    direct = TURN * abs(turned(a[2], goal[2]))
    if base.sideways or away <= SAME:
        return EAGER * (away + direct)
    ahead = atan2(dy, dx)
    best = inf
    for option in range(2):
        heading = ahead + pi * option
        first, last = abs(turned(a[2], heading)), abs(turned(heading, goal[2]))
        stops = (first > SLIGHT) + (last > SLIGHT)
        cost = away * (REVERSE if option else 1.0) + TURN * (first + last) + 2 * STOP * stops
        best = min(best, cost)
    return EAGER * best


@compiled
def _trace(
    base: Drivable,
    start: Array,
    goal: Array,
    box: NDArray[np.int64],
    came: NDArray[np.int64],
    node: int,
) -> Array:
    """Return the poses from the start to a node."""
    count, n = 1, node
    while came[n] >= 0:
        n = came[n]
        count += 1
    poses = np.empty((count + 3, 3))
    for k in range(count + 2, 2, -1):
        _pose(node, box, goal, poses[k])
        before, node = came[node], came[node]
    first, _ = connection(base, start, poses[3], -1 - before)
    poses[:3] = first[:3]
    return poses
