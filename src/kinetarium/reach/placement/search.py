"""The search for the best base by exact inverse kinematics, as Numba kernels.

A candidate is dropped as soon as it cannot be the best any more, and poses that were
missed are tried first at the next one, so that most candidates cost a few solves. Bases are
expressed in the frame of their plane, whose z axis is theirs.
"""

from math import cos, sin
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetarium.reach.collision.arm_in_scene import ArmInScene, move_base
from kinetarium.reach.ik.solver import solve_many
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.compiled import compiled
from kinetarium.spatial.rotation import inverse_pose, pose, rotation_about

FIRST_GROUP = 3
"""Poses that are solved for a candidate before it may be dropped."""


class BestBase(NamedTuple):
    """The best base so far.

    Attributes:
        base: x, y [m] and yaw [rad], shape (3,).
        score: Reached poses and the sum of their manipulabilities [m^3], shape (2,).
        order: Indices of poses, those first that were missed last, shape (n,).
        solves: Solves so far, shape (1,).
    """

    base: Array
    score: Array
    order: NDArray[np.int64]
    solves: NDArray[np.int64]


def no_best_base(count: int) -> BestBase:
    """Return the initial state of the search for a number of poses."""
    return BestBase(
        np.zeros(3), np.array([-1.0, -1.0]), np.arange(count), np.zeros(1, dtype=np.int64)
    )


class SearchBuffers(NamedTuple):
    """Scratch arrays: poses, rows [R p], their solutions and manipulabilities, and frames."""

    X_BT: Array
    q: Array
    w: Array
    X: Array


@compiled
def search_buffers(scene: ArmInScene, count: int) -> SearchBuffers:
    """Return the scratch arrays for a number of poses."""
    joints = len(scene.ik.chain.lower)
    return SearchBuffers(
        np.empty((count, 3, 4)),
        np.empty((count, joints)),
        np.empty(count),
        np.empty((joints + 2, 3, 4)),
    )


@compiled
def pose_seen_from(pose: Array, x: float, y: float, c: float, s: float, X_BT: Array) -> None:
    """Write a pose in the frame of a base.

    Args:
        pose: The pose of the tool in the plane's frame, shape (4, 4).
        x: Coordinate x of the base in the plane's frame [m].
        y: Its coordinate y [m].
        c: Cosine of its yaw.
        s: Sine of its yaw.
        X_BT: Output, shape (3, 4).
    """
    for column in range(3):
        X_BT[0, column] = c * pose[0, column] + s * pose[1, column]
        X_BT[1, column] = c * pose[1, column] - s * pose[0, column]
        X_BT[2, column] = pose[2, column]
    dx, dy = pose[0, 3] - x, pose[1, 3] - y
    X_BT[0, 3], X_BT[1, 3], X_BT[2, 3] = c * dx + s * dy, c * dy - s * dx, pose[2, 3]


@compiled
def move_base_to(scene: ArmInScene, x: float, y: float, yaw: float, X_BP: Array, X: Array) -> bool:
    """Move the base; return whether it is clear of obstacles."""
    c, s = cos(yaw), sin(yaw)
    X_BP[0, 0], X_BP[0, 1], X_BP[0, 2], X_BP[0, 3] = c, s, 0.0, -(c * x + s * y)
    X_BP[1, 0], X_BP[1, 1], X_BP[1, 2], X_BP[1, 3] = -s, c, 0.0, s * x - c * y
    X_BP[2, 0], X_BP[2, 1], X_BP[2, 2], X_BP[2, 3] = 0.0, 0.0, 1.0, 0.0
    return move_base(scene, X_BP, X)


@compiled
def judge_base(
    scene: ArmInScene,
    poses: Array,
    x: float,
    y: float,
    yaw: float,
    effort: int,
    by_count: bool,
    best: BestBase,
    buffers: SearchBuffers,
) -> None:
    """Score one base and keep it if it is the best.

    Args:
        poses: Poses of the tool in the plane's frame, shape (n, 4, 4).
        x: Coordinate x of the base [m].
        y: Its coordinate y [m].
        yaw: Its yaw [rad].
        effort: As in `solve_many`.
        by_count: Whether reached poses count before manipulability.
        best: The best base so far; updated.
        buffers: Scratch arrays.
    """
    if not move_base_to(scene, x, y, yaw, buffers.X_BT[0], buffers.X):
        return
    c, s = cos(yaw), sin(yaw)
    order, w, count = best.order, buffers.w, len(poses)
    allowed = count - best.score[0]
    reached, missed, total = 0, 0, 0.0
    # Growing groups: a bad base is dropped early, and few calls are made for a good one.
    start, size = 0, FIRST_GROUP
    while start < count:
        end = min(start + size, count)
        for k in range(start, end):
            pose_seen_from(poses[order[k]], x, y, c, s, buffers.X_BT[k])
        solve_many(
            scene.ik, buffers.X_BT[start:end], effort, False, buffers.q[start:end], w[start:end]
        )
        best.solves[0] += end - start
        for k in range(start, end):
            if w[k] >= 0.0:
                reached += 1
                total += w[k]
            else:
                missed += 1
                n = order[k]
                for i in range(k, 0, -1):
                    order[i] = order[i - 1]
                order[0] = n
        if by_count and missed > allowed:
            return
        start, size = end, 2 * size
    if by_count:
        better = reached > best.score[0] or (reached == best.score[0] and total > best.score[1])
    else:
        better = total > best.score[1]
    if better:
        best.base[0], best.base[1], best.base[2] = x, y, yaw
        best.score[0], best.score[1] = reached, total


@compiled
def search_bases(
    scene: ArmInScene,
    poses: Array,
    candidates: Array,
    steps: Array,
    widths: Array,
    effort: int,
    by_count: bool,
    solves: tuple[int, int],
    best: BestBase,
) -> None:
    """Score candidates one after the other, then refine the best by random steps.

    Args:
        poses: Poses of the tool in the plane's frame, shape (n, 4, 4).
        candidates: Bases x, y [m] and yaw [rad], shape (m, 3).
        steps: Steps in x, y and yaw between -1 and 1, shape (k, 3).
        widths: The largest step [m, m, rad], shape (3,); steps shrink to a tenth of it.
        effort: As in `solve_many`.
        by_count: Whether reached poses count before manipulability.
        solves: Limits on the solves for candidates and for steps.
        best: The best base so far; updated.
    """
    buffers = search_buffers(scene, len(poses))
    begun = best.solves[0]
    for n in range(len(candidates) + len(steps)):
        k = n - len(candidates)
        if k == 0:
            begun = best.solves[0]
        done = best.solves[0] - begun
        if k < 0:
            if done >= solves[0]:
                continue
            x, y, yaw = candidates[n, 0], candidates[n, 1], candidates[n, 2]
        else:
            if done >= solves[1]:
                return
            scale = 1.0 - 0.9 * done / solves[1]
            x = best.base[0] + scale * widths[0] * steps[k, 0]
            y = best.base[1] + scale * widths[1] * steps[k, 1]
            yaw = best.base[2] + scale * widths[2] * steps[k, 2]
        # Called in one place only, so that it is compiled once.
        judge_base(scene, poses, x, y, yaw, effort, by_count, best, buffers)


def bases_facing(places: Array, focus: Array, *, turns: Array) -> Array:
    """Return bases that face a point, and others rotated away from it.

    Args:
        places: Positions x, y [m], shape (n, 2).
        focus: The point x, y [m], shape (2,).
        turns: Angles to rotate away [rad], each for every position, shape (k,).

    Returns:
        Bases x, y [m] and yaw [rad], shape (n * k, 3).
    """
    yaw = np.arctan2(focus[1] - places[:, 1], focus[0] - places[:, 0])[:, None] + turns
    return np.column_stack([np.repeat(places, len(turns), axis=0), yaw.ravel()])


def base_pose(base: Array) -> Array:
    """Return the pose X_PB of a base, x, y [m] and yaw [rad], in the plane's frame."""
    return pose((base[0], base[1], 0.0), rotation_about((0, 0, 1), base[2]))


def solve_at_base(
    scene: ArmInScene, poses: Array, *, base: Array, effort: int
) -> tuple[Array, Array]:
    """Solve for all poses at one base.

    Args:
        poses: Poses of the tool in the plane's frame, shape (n, 4, 4).
        base: x, y [m] and yaw [rad], shape (3,).
        effort: As in `solve_many`.

    Returns:
        Joint positions, NaN where a pose is not reached [rad or m], shape (n, joints), and
        manipulabilities, negative there [m^3], shape (n,).
    """
    joints = len(scene.ik.chain.lower)
    q, w = np.full((len(poses), joints), np.nan), np.full(len(poses), -1.0)
    X_BP = inverse_pose(base_pose(base))
    if move_base(scene, X_BP[:3], np.empty((joints + 2, 3, 4))):
        solve_many(scene.ik, X_BP @ poses, effort, False, q, w)
    return q, w
