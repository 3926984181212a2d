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
from kinetarium.reach.placement.stance import plane_seen_from
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.compiled import compiled
from kinetarium.spatial.rotation import inverse_pose, pose, rotation_about

FIRST_GROUP = 3
"""Poses that are solved for a candidate before it may be dropped."""
VARIANTS = 4
"""Variants of a pose that are tried at a time, after the first."""
JUDGED = 1000
"""Greatest number of judged bases that are kept."""


class Goals(NamedTuple):
    """What is to be reached: for each pose one or several variants, any of which will do.

    Attributes:
        poses: Variants of the poses in the plane's frame, pose by pose, shape (m, 4, 4).
        starts: First variant of each pose, and the end, shape (n + 1,).
    """

    poses: Array
    starts: NDArray[np.int64]


def exact_goals(poses: Array) -> Goals:
    """Return goals without variants for poses in the plane's frame, shape (n, 4, 4)."""
    return Goals(poses, np.arange(len(poses) + 1))


class BestBase(NamedTuple):
    """The best base so far, and those that were judged.

    Attributes:
        base: x, y [m] and yaw [rad], shape (3,).
        score: Reached poses and the sum of their manipulabilities [m^3], shape (2,).
        q: Joint positions for each pose, NaN where it is not reached [rad or m],
            shape (n, joints).
        w: Manipulabilities, negative where a pose is not reached [m^3], shape (n,).
        order: Indices of poses, those first that were missed last, shape (n,).
        counts: Solves and judged bases so far, shape (2,).
        judged: The bases that were not dropped, as long as there is room: x, y [m], yaw [rad],
            reached poses and sum of manipulabilities [m^3], shape (JUDGED, 5).
    """

    base: Array
    score: Array
    q: Array
    w: Array
    order: NDArray[np.int64]
    counts: NDArray[np.int64]
    judged: Array


def no_best_base(count: int, *, joints: int) -> BestBase:
    """Return the initial state of the search for a number of poses."""
    return BestBase(
        np.zeros(3),
        np.array([-1.0, -1.0]),
        np.full((count, joints), np.nan),
        np.full(count, -1.0),
        np.arange(count),
        np.zeros(2, dtype=np.int64),
        np.empty((JUDGED, 5)),
    )


class SearchBuffers(NamedTuple):
    """Scratch arrays.

    Attributes:
        q: Solutions for the poses [rad or m], shape (n, joints).
        w: Their manipulabilities [m^3], shape (n,).
        X_BT: Variants to solve for, rows [R p], shape (VARIANTS * n, 3, 4).
        row_q: Their solutions [rad or m], shape (VARIANTS * n, joints).
        row_w: Their manipulabilities [m^3], shape (VARIANTS * n,).
        row_pose: The pose of each variant, shape (VARIANTS * n,).
        todo: Poses to solve for, shape (n,).
        X: Frames of the chain, shape (joints + 2, 3, 4).
    """

    q: Array
    w: Array
    X_BT: Array
    row_q: Array
    row_w: Array
    row_pose: NDArray[np.int64]
    todo: NDArray[np.int64]
    X: Array


@compiled
def search_buffers(scene: ArmInScene, count: int) -> SearchBuffers:
    """Return the scratch arrays for a number of poses."""
    joints, rows = len(scene.ik.chain.lower), VARIANTS * count
    return SearchBuffers(
        np.empty((count, joints)),
        np.empty(count),
        np.empty((rows, 3, 4)),
        np.empty((rows, joints)),
        np.empty(rows),
        np.empty(rows, dtype=np.int64),
        np.empty(count, dtype=np.int64),
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
    plane_seen_from(x, y, yaw, X_BP)
    return move_base(scene, X_BP, X)


@compiled
def judge_base(
    scene: ArmInScene,
    goals: Goals,
    x: float,
    y: float,
    yaw: float,
    effort: int,
    by_count: bool,
    complete: bool,
    best: BestBase,
    buffers: SearchBuffers,
) -> None:
    """Score one base and keep it if it is the best.

    Args:
        x: Coordinate x of the base [m].
        y: Its coordinate y [m].
        yaw: Its yaw [rad].
        effort: As in `solve_many`.
        by_count: Whether reached poses count before manipulability.
        complete: Whether this is the best base, whose missed poses are tried again.
        best: The best base so far; updated.
        buffers: Scratch arrays.
    """
    if not move_base_to(scene, x, y, yaw, buffers.X_BT[0], buffers.X):
        return
    order, todo, w, count = best.order, buffers.todo, buffers.w, len(best.order)
    end_of_list = 0
    for k in range(count):
        if not complete or best.w[order[k]] < 0.0:
            todo[end_of_list] = order[k]
            end_of_list += 1
    allowed = count - best.score[0]
    reached, missed, total = 0, 0, 0.0
    # Growing groups: a bad base is dropped early, and few calls are made for a good one.
    start, size = 0, count if complete else FIRST_GROUP
    while start < end_of_list:
        end = min(start + size, end_of_list)
        _solve_group(scene, goals, x, y, yaw, effort, start, end, buffers)
        best.counts[0] += end - start
        for k in range(start, end):
            n = todo[k]
            if w[n] >= 0.0:
                reached += 1
                total += w[n]
            elif not complete:
                missed += 1
                for i in range(k, 0, -1):
                    order[i] = order[i - 1]
                order[0] = n
        if by_count and missed > allowed:
            return
        start, size = end, 2 * size
    if complete:
        for k in range(end_of_list):
            best.q[todo[k]], best.w[todo[k]] = buffers.q[todo[k]], w[todo[k]]
        best.score[0] += reached
        best.score[1] += total
        return
    if best.counts[1] < len(best.judged):
        row = best.judged[best.counts[1]]
        row[0], row[1], row[2], row[3], row[4] = x, y, yaw, reached, total
        best.counts[1] += 1
    if by_count:
        better = reached > best.score[0] or (reached == best.score[0] and total > best.score[1])
    else:
        better = total > best.score[1]
    if better:
        best.base[0], best.base[1], best.base[2] = x, y, yaw
        best.score[0], best.score[1] = reached, total
        best.q[:], best.w[:] = buffers.q, w


@compiled
def _solve_group(
    scene: ArmInScene,
    goals: Goals,
    x: float,
    y: float,
    yaw: float,
    effort: int,
    start: int,
    end: int,
    buffers: SearchBuffers,
) -> None:
    """Solve for some of the poses to do, their first variants first."""
    c, s = cos(yaw), sin(yaw)
    todo, q, w = buffers.todo, buffers.q, buffers.w
    for k in range(start, end):
        q[todo[k]], w[todo[k]] = np.nan, -1.0
    first, some = 0, 1
    while True:
        rows = 0
        for k in range(start, end):
            n = todo[k]
            if w[n] >= 0.0:
                continue
            variant = goals.starts[n] + first
            for i in range(variant, min(variant + some, goals.starts[n + 1])):
                pose_seen_from(goals.poses[i], x, y, c, s, buffers.X_BT[rows])
                buffers.row_pose[rows] = n
                rows += 1
        if rows == 0:
            return
        row_q, row_w = buffers.row_q, buffers.row_w
        solve_many(scene.ik, buffers.X_BT[:rows], effort, False, row_q[:rows], row_w[:rows])
        for row in range(rows):
            n = buffers.row_pose[row]
            if row_w[row] >= 0.0 and w[n] < 0.0:
                q[n], w[n] = row_q[row], row_w[row]
        first, some = first + some, VARIANTS


@compiled
def search_bases(
    scene: ArmInScene,
    goals: Goals,
    candidates: Array,
    steps: Array,
    widths: Array,
    efforts: tuple[int, int],
    by_count: bool,
    solves: tuple[int, int],
    best: BestBase,
) -> None:
    """Score candidates one after the other, then refine the best by random steps.

    Args:
        candidates: Bases x, y [m] and yaw [rad], shape (m, 3).
        steps: Steps in x, y and yaw between -1 and 1, shape (k, 3).
        widths: The largest step [m, m, rad], shape (3,); steps shrink to a tenth of it.
        efforts: As in `solve_many`, for all bases, and for the poses that the best one misses,
            which are tried again; not if 0.
        by_count: Whether reached poses count before manipulability.
        solves: Limits on the solves for candidates and for steps.
        best: The best base so far; updated.
    """
    buffers = search_buffers(scene, len(best.order))
    begun = best.counts[0]
    last = len(candidates) + len(steps)
    for n in range(last + 1):
        k, complete, effort = n - len(candidates), n == last, efforts[0]
        if k == 0:
            begun = best.counts[0]
        done = best.counts[0] - begun
        if complete:
            if efforts[1] == 0 or best.score[0] < 0.0:
                return
            x, y, yaw = best.base[0], best.base[1], best.base[2]
            effort = efforts[1]
        elif k < 0:
            if done >= solves[0]:
                continue
            x, y, yaw = candidates[n, 0], candidates[n, 1], candidates[n, 2]
        else:
            if done >= solves[1]:
                continue
            scale = 1.0 - 0.9 * done / solves[1]
            x = best.base[0] + scale * widths[0] * steps[k, 0]
            y = best.base[1] + scale * widths[1] * steps[k, 1]
            yaw = best.base[2] + scale * widths[2] * steps[k, 2]
        # Called in one place only, so that it is compiled once.
        judge_base(scene, goals, x, y, yaw, effort, by_count, complete, best, buffers)


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
