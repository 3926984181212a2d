"""What kernels compute, by the plain definitions in NumPy: the tests compare the two."""

from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from itertools import pairwise, product
from math import atan2, cos, inf, pi, sin

import numpy as np

from kinetarium.dynamics.chain import ChainArrays, link_frames
from kinetarium.legs.mechanism.pantograph import LegKind, PantographLeg
from kinetarium.reach.maps.grid import VoxelGrid
from kinetarium.reach.placement.plane import BasePlane
from kinetarium.spatial.arrays import Array


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


def slice_reference(
    values: np.ndarray, X_WT: Array, *, plane: BasePlane, grid: VoxelGrid, x: Array, y: Array
) -> np.ndarray:
    """Cut a 3-D map by a plane, point by point.

    Args:
        values: The map, one value per voxel, shape (count, count, count).
        X_WT: Pose of the tool that the map hangs on, shape (4, 4).
        plane: The plane of bases.
        grid: The map's grid in the tool's frame.
        x: World coordinates x of the points [m], shape (n,).
        y: World coordinates y of the points [m], shape (m,).

    Returns:
        The value of the voxel that holds each point of the plane, 0 outside, shape (n, m).
    """
    R, p = X_WT[:3, :3], X_WT[:3, 3]
    slope_x, slope_y = plane.slopes
    below = (plane.height_at(p[0], p[1]) - p[2]) * R[2]
    u, v = (x - p[0])[:, None, None], (y - p[1])[None, :, None]
    p_T = (below + (R[0] + slope_x * R[2]) * u) + (R[1] + slope_y * R[2]) * v
    voxels = grid.indices(p_T)
    i, j, k = np.moveaxis(voxels, -1, 0)
    inside = (voxels.min(axis=-1) >= 0) & (voxels.max(axis=-1) < grid.count)
    i, j, k = np.where(inside, (i, j, k), 0)
    return np.where(inside, values[i, j, k], np.float32(0))


def link_transforms(leg: PantographLeg, q: Array) -> Array:
    """Return the poses of links 1 to 9 in the leg frame, shape (9, 4, 4).

    Products of matrices as the paper's Tables 4 and 5 list them, one pose at a time.

    Args:
        q: One set of joint values, shape (3,).
    """
    x, c, v = (float(value) for value in q)
    alpha1, alpha2, alpha3 = (float(angle) for angle in leg.passive_angles(q))
    side = c if leg.kind is LegKind.TTT2 else 0.0
    frame = np.eye(4)
    if leg.kind is LegKind.TTT1:
        frame = _translation(0.0, c, 0.0)
    elif leg.kind is LegKind.TTR:
        frame = _turn_z(c)
    a = _translation(0.0, 0.0, v)
    b = _translation(x, side, leg.rail_height)
    foot = _translation(
        leg.gain * x, leg.gain * side, (1 - leg.gain) * v + leg.gain * leg.rail_height
    )
    thigh = _turn_x(alpha3) @ _turn_y(alpha1)
    shank = _turn_x(alpha3) @ _turn_y(alpha2)
    own = [np.eye(4), a, b, a @ thigh, b @ thigh, b @ shank, foot @ shank, foot]
    return np.array([np.eye(4), *(frame @ X for X in own)])


def _translation(x: float, y: float, z: float) -> Array:
    X = np.eye(4)
    X[:3, 3] = x, y, z
    return X


def _turn_x(angle: float) -> Array:
    c, s = cos(angle), sin(angle)
    return np.array([[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1.0]])


def _turn_y(angle: float) -> Array:
    c, s = cos(angle), sin(angle)
    return np.array([[c, 0, s, 0], [0, 1, 0, 0], [-s, 0, c, 0], [0, 0, 0, 1.0]])


def _turn_z(angle: float) -> Array:
    c, s = cos(angle), sin(angle)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])


def lattice_cost(
    start: Array,
    goal: Array,
    *,
    box: Array,
    free: Callable[[Array, Array], bool],
    sideways: bool = False,
) -> float:
    """Return the cost of the cheapest way of a base on the lattice, by Dijkstra's algorithm.

    Args:
        start: Pose of the steered frame: x, y [m], heading [rad].
        goal: The same at the end; the lattice is fixed to it.
        box: Least and greatest cells in the goal's frame, shape (2, 2).
        free: Whether a turn in place or a straight leg between two poses is free.
        sideways: Whether the base moves in any direction.
    """
    steps = [(1, 0), (2, 1), (1, 1), (1, 2)]
    for _ in range(3):
        steps += [(-y, x) for x, y in steps[-4:]]
    angles = [atan2(y, x) for x, y in steps]
    R = np.array([[cos(goal[2]), -sin(goal[2])], [sin(goal[2]), cos(goal[2])]])

    def placed(i: int, j: int, k: int) -> Array:
        return np.array([*(goal[:2] + R @ [0.1 * i, 0.1 * j]), goal[2] + angles[k]])

    def gap(a: float, b: float) -> float:
        return abs((b - a + pi) % (2 * pi) - pi)

    def legs(a: Array, b: Array) -> Iterator[tuple[float, list[Array]]]:
        """Turn, straight leg and turn: their cost and the poses between."""
        way = b[:2] - a[:2]
        away = float(np.hypot(*way))
        ahead = atan2(way[1], way[0])
        headings = [(ahead, 1.0), (ahead + pi, 2.0)] if away > 1e-6 else [(a[2], 1.0)]
        if sideways and away > 1e-6:
            headings += [(a[2], 1.0), (b[2], 1.0)]
        for heading, factor in headings:
            turns = [gap(a[2], heading), gap(heading, b[2])]
            stops = sum(turn > 1e-6 for turn in turns) + (away > 1e-6)
            poses = [a, np.array([a[0], a[1], heading]), np.array([b[0], b[1], heading]), b]
            yield factor * away + 0.5 * sum(turns) + 0.3 * stops, poses

    count = 0
    queue: list[tuple[float, int, tuple[int, int, int, bool], list[Array]]] = []
    for i, j in product(*(range(box[0, n], box[1, n] + 1) for n in range(2))):
        if np.linalg.norm(placed(i, j, 0)[:2] - start[:2]) <= 0.16:
            for k in range(16):
                for cost, poses in legs(start, placed(i, j, k)):
                    heappush(queue, (cost, count := count + 1, (i, j, k, False), poses))
    done = set()
    while queue:
        cost, _, node, poses = heappop(queue)
        if node in done or not all(free(a, b) for a, b in pairwise(poses)):
            continue
        done.add(node)
        i, j, k, straight = node
        if (i, j, k) == (0, 0, 0):
            return cost
        here = placed(i, j, k)
        for h in ((k + 1) % 16, (k - 1) % 16):
            last = 1.0 if (i, j, h) == (0, 0, 0) else 0.0
            more = 0.5 * gap(angles[k], angles[h]) + 0.6 * straight + last
            new = (i, j, h, False)
            heappush(queue, (cost + more, count := count + 1, new, [here, placed(i, j, h)]))
        for d, (x, y) in enumerate(steps):
            if not sideways and d not in (k, (k + 8) % 16):
                continue
            u, v = i + x, j + y
            if box[0, 0] <= u <= box[1, 0] and box[0, 1] <= v <= box[1, 1]:
                more = 0.1 * float(np.hypot(x, y)) * (1.0 if sideways or d == k else 2.0)
                new = (u, v, k, True)
                heappush(queue, (cost + more, count := count + 1, new, [here, placed(u, v, k)]))
    return inf
