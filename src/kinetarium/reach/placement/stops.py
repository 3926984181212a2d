"""place_stops: the smallest number of bases that reach all poses between them.

Bases on a raster, where the robot has room, are tried by exact inverse kinematics; a base that
cannot reach more than one that was tried before is left out, which does not change the answer.
The smallest cover is a problem of integers that SciPy solves exactly (HiGHS), and the order of the
stops the shortest way from one to the next.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations
from math import cos, dist, sin

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetarium.errors import KinetariumError
from kinetarium.reach.collision.arm_in_scene import ArmInScene, carry
from kinetarium.reach.ik.solver import solve_many
from kinetarium.reach.placement.base_placement import BasePlacement
from kinetarium.reach.placement.files import TaskPoses, checked_task
from kinetarium.reach.placement.plane import Objective
from kinetarium.reach.placement.query import Placer
from kinetarium.reach.placement.robust import POINTS, BaseError, headed, solve_variants, variants_of
from kinetarium.reach.placement.search import pose_seen_from
from kinetarium.reach.placement.stance import Room, has_room, have_room, plane_seen_from
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.compiled import compiled
from kinetarium.spatial.rotation import inverse_pose

STEPS = (0.05, 0.025)
"""Distances of neighbouring candidates [m]; the second only for what the first does not reach."""
HEADINGS = 8
MOST_ORDERED = 7
"""Stops up to which every order is tried."""
MOST_GROUPS = 1000
EXACTLY = BaseError(0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Stops:
    """Bases that reach all poses between them, in the order in which they are visited.

    Attributes:
        bases: The bases; each with its solutions for all poses that it reaches.
        stop_of: The stop from which each pose is reached, -1 if there is none, shape (n,).
        length: Length of the way through all stops, straight from one to the next [m].
    """

    bases: tuple[BasePlacement, ...]
    stop_of: NDArray[np.int64]
    length: float


def place_stops(
    placer: Placer,
    poses: ArrayLike | TaskPoses,
    *,
    error: BaseError = EXACTLY,
    objective: Objective = Objective.COUNT,
    groups: ArrayLike | None = None,
    start: tuple[float, float] | None = None,
) -> Stops:
    """Find the smallest number of bases that reach all poses.

    Args:
        placer: Map, robot, plane and obstacles.
        poses: Poses X_WT of the tool, shape (n, 4, 4), or poses with tolerances.
        error: The box of errors of the robot's root, which every stop forgives.
        objective: What configurations at the stops are chosen by.
        groups: For each pose the number of its group; poses of a group are reached from one
            stop, shape (n,). By default each is on its own.
        start: Position x, y from which the robot sets off [m].

    Raises:
        KinetariumError: If a pose is invalid, or no base reaches any group of poses.
    """
    goals, rolls = checked_task(poses).goals(inverse_pose(placer.plane.frame))
    size = len(goals.starts) - 1
    labels = np.arange(size) if groups is None else np.asarray(groups)
    if not size or labels.shape != (size,):
        raise KinetariumError("stops need at least one pose, and one group for each")
    _, group = np.unique(labels, return_inverse=True)
    count = int(group.max()) + 1
    if count > MOST_GROUPS:
        raise KinetariumError(f"stops are found for at most {MOST_GROUPS} groups of poses")
    order = np.argsort(group, kind="stable")
    X_PT = variants_of(goals)[order]
    starts = np.searchsorted(group[order], np.arange(count + 1))
    bases, reach = np.zeros((0, 3)), np.zeros((0, count), dtype=np.bool_)
    for step in STEPS:
        missing = np.asarray(~reach.any(axis=0))
        if missing.any():
            found = _tried(placer, X_PT, starts=starts, error=error, step=step, only=missing)
            bases, reach = np.vstack([bases, found[0]]), np.vstack([reach, found[1]])
    if not reach.any():
        raise KinetariumError("no base was found from which the robot reaches any of the poses")
    chosen = smallest_cover(reach)
    placed = [
        placer.at(base, goals, rolls=rolls, objective=Objective(objective))
        for base in bases[chosen]
    ]
    places = [(float(one.X_WR[0, 3]), float(one.X_WR[1, 3])) for one in placed]
    tour, length = shortest_way(places, start=start)
    stop_of = np.full(size, -1)
    for stop, n in reversed(list(enumerate(tour))):
        stop_of[reach[chosen[n]][group]] = stop
    return Stops(tuple(placed[n] for n in tour), stop_of, length)


def _tried(
    placer: Placer,
    X_PT: Array,
    *,
    starts: NDArray[np.int64],
    error: BaseError,
    step: float,
    only: NDArray[np.bool_],
) -> tuple[Array, NDArray[np.bool_]]:
    """Return bases, shape (k, 3), and which groups each reaches, shape (k, groups)."""
    x, y, _ = placer.scores(X_PT[:, 0], step=step)
    hope = np.ones((len(only), len(x), len(y)), dtype=np.bool_)
    for g in range(len(only)):
        for variants in X_PT[starts[g] : starts[g + 1]]:
            # A rotation about the tool's axis is all one to the map; tolerances are small.
            hope[g] &= placer.scores(variants[:1], raster=(x, y))[2] > 0.0
    rows = hope.reshape(len(only), -1).T
    some = np.flatnonzero(rows[:, only].any(axis=1))
    some = some[np.argsort(-rows[some].sum(axis=1), kind="stable")]
    places = np.column_stack([x[some // len(y)], y[some % len(y)]])
    headings = headed(places, headings=HEADINGS).reshape(HEADINGS, -1, 3).transpose(1, 0, 2)
    free = have_room(placer.room, headings.reshape(-1, 3)).reshape(headings.shape[:2])
    candidates, hopes = headings[free], np.repeat(rows[some], free.sum(axis=1), axis=0)
    offsets = error.offsets(POINTS, placer.stance.X_RB)
    reach = np.zeros((len(candidates), len(only)), dtype=np.bool_)
    args = (candidates, hopes, offsets, placer.arm.effort, reach)
    try_bases(placer.scene, placer.room, X_PT, starts, *args)
    used = reach.any(axis=1)
    return candidates[used], reach[used]


@compiled
def try_bases(
    scene: ArmInScene,
    room: Room,
    poses: Array,
    starts: NDArray[np.int64],
    candidates: Array,
    hopes: NDArray[np.bool_],
    offsets: Array,
    effort: int,
    reach: NDArray[np.bool_],
) -> None:
    """Find which groups of poses bases reach under all errors, unless another reaches them all.

    Args:
        poses: Variants of the poses of the tool in the plane's frame, group by group, shape
            (n, variants, 4, 4).
        starts: First pose of each group, and the end, shape (groups + 1,).
        candidates: Bases x, y [m] and yaw [rad], shape (k, 3).
        hopes: The groups that each may reach by the map, shape (k, groups).
        offsets: Errors in the frame of the base, x, y [m] and yaw [rad], shape (m, 3).
        effort: As in `solve_many`.
        reach: Output, shape (k, groups); false for bases that were not tried.
    """
    groups, joints = len(starts) - 1, len(scene.ik.chain.lower)
    longest = 0
    for g in range(groups):
        longest = max(longest, starts[g + 1] - starts[g])
    q, w = np.empty((longest, joints)), np.empty(longest)
    X_BT, X_BP = np.empty((longest, 3, 4)), np.empty((3, 4))
    tried = np.empty(len(candidates), dtype=np.int64)
    count = 0
    for n in range(len(candidates)):
        if _is_covered(hopes[n], reach, tried, count):
            continue
        alive = hopes[n].copy()
        for m in range(len(offsets)):
            c, s = cos(candidates[n, 2]), sin(candidates[n, 2])
            x = candidates[n, 0] + c * offsets[m, 0] - s * offsets[m, 1]
            y = candidates[n, 1] + s * offsets[m, 0] + c * offsets[m, 1]
            turn = candidates[n, 2] + offsets[m, 2]
            plane_seen_from(x, y, turn, X_BP)
            if not has_room(room, X_BP):
                alive[:] = False
                break
            carry(scene.in_plane, scene.ik.pieces, X_BP)
            c, s = cos(turn), sin(turn)
            for g in range(groups):
                size = starts[g + 1] - starts[g]
                # The first pose alone: where it is missed the others are not solved for.
                start, end = 0, 1
                while alive[g] and start < size:
                    for k in range(start, end):
                        pose_seen_from(poses[starts[g] + k, 0], x, y, c, s, X_BT[k])
                    solve_many(scene.ik, X_BT[start:end], effort, False, q[start:end], w[start:end])
                    for k in range(start, end):
                        if w[k] < 0.0:
                            variants = poses[starts[g] + k]
                            w[k] = solve_variants(scene, variants, x, y, turn, effort)
                        if w[k] < 0.0:
                            alive[g] = False
                            break
                    start, end = end, size
            if _is_covered(alive, reach, tried, count):
                alive[:] = False
                break
        reach[n] = alive
        if alive.any():
            tried[count] = n
            count += 1


@compiled
def _is_covered(
    wanted: NDArray[np.bool_], reach: NDArray[np.bool_], tried: NDArray[np.int64], count: int
) -> bool:
    """Return whether a base that was tried reaches all that is wanted."""
    for i in range(count):
        whole = True
        for g in range(len(wanted)):
            if wanted[g] and not reach[tried[i], g]:
                whole = False
                break
        if whole:
            return True
    return False


def smallest_cover(reach: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the fewest rows that have all columns that any row has.

    Args:
        reach: What each row has, shape (rows, columns).

    Returns:
        Indices of rows, in increasing order.
    """
    # Imported here, since SciPy's solvers take 0.2 s to load.
    from scipy.optimize import Bounds, LinearConstraint, milp

    wanted = reach[:, reach.any(axis=0)].astype(np.float64)
    # Of covers with as few rows, one whose rows have more is better: columns twice are a choice.
    cost = 1.0 - 0.5 * wanted.sum(axis=1) / (wanted.size + 1.0)
    solved = milp(
        cost,
        integrality=np.ones(len(wanted)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(wanted.T, lb=1),
    )
    if solved.x is None:
        raise KinetariumError(f"the smallest cover was not found: {solved.message}")
    return np.flatnonzero(solved.x > 0.5)


def shortest_way(
    places: list[tuple[float, float]], *, start: tuple[float, float] | None = None
) -> tuple[list[int], float]:
    """Return the order of places on the shortest way through all, and its length [m].

    Every order is tried for a few; for more, each next is the nearest.

    Args:
        places: Positions x, y [m].
        start: Where the way begins; by default at the first place.
    """

    def length(order: Sequence[int]) -> float:
        way = [places[n] for n in order]
        return sum(dist(a, b) for a, b in pairwise([start, *way] if start else way))

    if len(places) <= MOST_ORDERED:
        best = min(permutations(range(len(places))), key=length)
        return list(best), length(best)
    ways = [_nearest_next(places, first) for first in range(len(places))]
    nearest = min(ways, key=length)
    return nearest, length(nearest)


def _nearest_next(places: list[tuple[float, float]], first: int) -> list[int]:
    way, left = [first], set(range(len(places))) - {first}
    while left:
        here = places[way[-1]]
        way.append(min(left, key=lambda n: dist(here, places[n])))
        left.remove(way[-1])
    return way
