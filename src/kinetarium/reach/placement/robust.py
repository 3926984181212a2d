"""Bases that forgive: all poses are reached although the base stops somewhere else in a box.

A base is judged under the corners of the box of its errors and at the pose itself: at each the
whole robot must have room, and every pose must have a solution. Errors and poses that refused
the last bases are tried first at the next one, so that most bases cost a few solves. What was
found is then checked at more points of the box, its faces and its inside.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from math import atan2, cos, hypot, pi, sin
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetarium.errors import KinetariumError
from kinetarium.reach.collision.arm_in_scene import ArmInScene, carry
from kinetarium.reach.ik.solver import solve_many
from kinetarium.reach.placement.search import Goals, pose_seen_from
from kinetarium.reach.placement.stance import Room, has_room, plane_seen_from
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.compiled import compiled
from kinetarium.spatial.rotation import inverse_pose, pose, rotation_about, wrapped

APART, TURNED = 0.15, pi / 6
"""Bases are different if they are farther apart than this [m], or turned by more [rad]."""
CORNERS = np.array([(0.0, 0.0, 0.0), *product((-1.0, 1.0), repeat=3)])
"""Errors at which bases are judged, in half widths of the box."""
POINTS = np.vstack(
    [
        np.array(list(product((-1.0, 0.0, 1.0), repeat=3))),
        np.random.default_rng(0).uniform(-1.0, 1.0, (48, 3)),
    ]
)
"""Errors at which those that were found are checked."""
MOST_ERROR = 1.0
"""Largest half width of a box of errors [m, rad]."""
WANTED = 4
"""Bases that are found beyond those asked for, so that the best can be chosen."""


@dataclass(frozen=True, slots=True)
class BaseError:
    """The box of errors of a base: half its widths, in the frame of the robot's root.

    Attributes:
        x: Along the root's x axis [m].
        y: Along its y axis [m].
        yaw: About its z axis [rad].
    """

    x: float
    y: float
    yaw: float

    def __post_init__(self) -> None:
        """Refuse what is not an error of a base.

        Raises:
            KinetariumError: If a width is negative, not finite or larger than 1.
        """
        if not all(0.0 <= width <= MOST_ERROR for width in (self.x, self.y, self.yaw)):
            raise KinetariumError(
                f"a base error must be three numbers from 0 to {MOST_ERROR:g} [m, m, rad]"
            )

    def offsets(self, points: Array, X_RB: Array) -> Array:
        """Return where the base link stands at points of the box, in its own frame.

        Args:
            points: Points in half widths, shape (n, 3).
            X_RB: Pose of the base link in the root's frame, shape (4, 4).

        Returns:
            x, y [m] and yaw [rad], shape (n, 3); equal ones once.
        """
        X_BR, found = inverse_pose(X_RB), []
        for x, y, yaw in np.unique(points * [self.x, self.y, self.yaw] + 0.0, axis=0):
            X = X_BR @ pose((x, y, 0.0), rotation_about((0, 0, 1), yaw)) @ X_RB
            found.append((X[0, 3], X[1, 3], atan2(X[1, 0], X[0, 0])))
        # The pose itself first, then the corners: most bases are refused there.
        found.sort(key=lambda row: -hypot(*row[:2]) - abs(row[2]))
        return np.array([found[-1], *found[:-1]])


class RobustSearch(NamedTuple):
    """Bases that were found, and what refused the last ones.

    Attributes:
        found: Bases that were accepted: x, y [m], yaw [rad], the least manipulability over
            the errors [m^3] and the number of alternatives, shape (want, 5).
        chosen: The best alternative of each, shape (want,).
        near: The base that was refused last of all: x, y [m], yaw [rad] and the number of
            errors it passed, shape (4,).
        counts: Accepted bases, solves and bases with room so far, shape (3,).
        errors: Indices of errors, those first that refused a base last, shape (m,).
        poses: Indices of poses within each alternative, likewise, shape (alternatives, n).
    """

    found: Array
    chosen: NDArray[np.int64]
    near: Array
    counts: NDArray[np.int64]
    errors: NDArray[np.int64]
    poses: NDArray[np.int64]


def no_robust_base(want: int, *, errors: int, shape: tuple[int, int]) -> RobustSearch:
    """Return the initial state of a search.

    Args:
        want: Number of bases after which it ends.
        errors: Number of errors.
        shape: Number of alternatives, and of poses of each.
    """
    return RobustSearch(
        np.zeros((want, 5)),
        np.zeros(want, dtype=np.int64),
        np.array([0.0, 0.0, 0.0, -1.0]),
        np.zeros(3, dtype=np.int64),
        np.arange(errors),
        np.tile(np.arange(shape[1]), (shape[0], 1)),
    )


@compiled
def search_robust(
    scene: ArmInScene,
    room: Room,
    poses: Array,
    candidates: Array,
    offsets: Array,
    effort: int,
    most: int,
    state: RobustSearch,
) -> None:
    """Judge bases until enough are accepted.

    Args:
        poses: Variants of the poses of the tool in the plane's frame, any of which will do,
            shape (alternatives, n, variants, 4, 4); any alternative will do, all poses of
            which are reached under all errors.
        candidates: Bases x, y [m] and yaw [rad], shape (k, 3).
        offsets: Errors in the frame of the base, x, y [m] and yaw [rad], shape (m, 3).
        effort: As in `solve_many`.
        most: Limit on the solves.
        state: What was found before; updated.
    """
    ways, count, joints = poses.shape[0], poses.shape[1], len(scene.ik.chain.lower)
    q, w = np.empty((count, joints)), np.empty(count)
    X_BT, X_BP = np.empty((count, 3, 4)), np.empty((3, 4))
    alive, least = np.empty(ways, dtype=np.bool_), np.empty(ways)
    for n in range(len(candidates)):
        if state.counts[0] == len(state.found) or state.counts[1] >= most:
            return
        x, y, yaw = candidates[n, 0], candidates[n, 1], candidates[n, 2]
        if _is_known(state, x, y, yaw):
            continue
        plane_seen_from(x, y, yaw, X_BP)
        if not has_room(room, X_BP):
            continue
        state.counts[2] += 1
        alive[:], least[:] = True, np.inf
        left, passed = ways, 0
        for m in range(len(offsets)):
            e = state.errors[m]
            c, s = cos(yaw), sin(yaw)
            bx = x + c * offsets[e, 0] - s * offsets[e, 1]
            by = y + s * offsets[e, 0] + c * offsets[e, 1]
            turn = yaw + offsets[e, 2]
            plane_seen_from(bx, by, turn, X_BP)
            if has_room(room, X_BP):
                carry(scene.in_plane, scene.ik.pieces, X_BP)
                c, s = cos(turn), sin(turn)
                for a in range(ways):
                    if not alive[a]:
                        continue
                    # The pose that was missed last alone, then the others at once.
                    start, end = 0, 1
                    while start < count:
                        for k in range(start, end):
                            pose_seen_from(poses[a, state.poses[a, k], 0], bx, by, c, s, X_BT[k])
                        solve_many(
                            scene.ik, X_BT[start:end], effort, False, q[start:end], w[start:end]
                        )
                        state.counts[1] += end - start
                        for k in range(start, end):
                            if w[k] < 0.0:
                                variants = poses[a, state.poses[a, k]]
                                w[k] = solve_variants(scene, variants, bx, by, turn, effort)
                            if w[k] < 0.0:
                                _to_front(state.poses[a], k)
                                alive[a] = False
                                left -= 1
                                break
                            least[a] = min(least[a], w[k])
                        if not alive[a]:
                            break
                        start, end = end, count
            else:
                left = 0
            if left == 0:
                _to_front(state.errors, m)
                break
            passed += 1
        if left > 0:
            best = 0
            for a in range(ways):
                if alive[a] and (not alive[best] or least[a] > least[best]):
                    best = a
            row = state.found[state.counts[0]]
            row[0], row[1], row[2], row[3], row[4] = x, y, yaw, least[best], left
            state.chosen[state.counts[0]] = best
            state.counts[0] += 1
        elif passed > state.near[3]:
            state.near[0], state.near[1], state.near[2], state.near[3] = x, y, yaw, passed


@compiled
def solve_variants(
    scene: ArmInScene, variants: Array, x: float, y: float, yaw: float, effort: int
) -> float:
    """Return the manipulability of a solution for a variant of a pose after the first.

    Args:
        variants: Poses of the tool in the plane's frame, shape (variants, 4, 4).
        x: Coordinate x of the base, to which the obstacles are moved [m].
        y: Its coordinate y [m].
        yaw: Its yaw [rad].
        effort: As in `solve_many`.

    Returns:
        The manipulability; negative if no variant is reached [m^3].
    """
    q, w = np.empty((1, len(scene.ik.chain.lower))), np.full(1, -1.0)
    X_BT, c, s = np.empty((1, 3, 4)), cos(yaw), sin(yaw)
    for v in range(1, len(variants)):
        pose_seen_from(variants[v], x, y, c, s, X_BT[0])
        solve_many(scene.ik, X_BT, effort, False, q, w)
        if w[0] >= 0.0:
            break
    found: float = w[0]
    return found


@compiled
def _to_front(order: NDArray[np.int64], k: int) -> None:
    first = order[k]
    for i in range(k, 0, -1):
        order[i] = order[i - 1]
    order[0] = first


@compiled
def _is_known(state: RobustSearch, x: float, y: float, yaw: float) -> bool:
    """Return whether a base is near one that was found."""
    for i in range(state.counts[0]):
        turn = abs((yaw - state.found[i, 2] + pi) % (2.0 * pi) - pi)
        if turn < TURNED and hypot(x - state.found[i, 0], y - state.found[i, 1]) < APART:
            return True
    return False


@compiled
def poses_kept(
    scene: ArmInScene, room: Room, poses: Array, base: Array, offsets: Array, effort: int
) -> NDArray[np.bool_]:
    """Return whether each pose is reached under each error.

    Args:
        poses: Variants of the poses in the plane's frame, shape (n, variants, 4, 4).
        base: x, y [m] and yaw [rad], shape (3,).
        offsets: Errors in the frame of the base, shape (m, 3).
        effort: As in `solve_many`.

    Returns:
        Shape (m, n); none where the robot has no room.
    """
    count, joints = len(poses), len(scene.ik.chain.lower)
    q, w = np.empty((count, joints)), np.empty(count)
    X_BT, X_BP = np.empty((count, 3, 4)), np.empty((3, 4))
    kept = np.zeros((len(offsets), count), dtype=np.bool_)
    c, s = cos(base[2]), sin(base[2])
    for m in range(len(offsets)):
        x = base[0] + c * offsets[m, 0] - s * offsets[m, 1]
        y = base[1] + s * offsets[m, 0] + c * offsets[m, 1]
        turn = base[2] + offsets[m, 2]
        plane_seen_from(x, y, turn, X_BP)
        if not has_room(room, X_BP):
            continue
        carry(scene.in_plane, scene.ik.pieces, X_BP)
        for k in range(count):
            pose_seen_from(poses[k, 0], x, y, cos(turn), sin(turn), X_BT[k])
        solve_many(scene.ik, X_BT, effort, False, q, w)
        for k in range(count):
            if w[k] < 0.0:
                w[k] = solve_variants(scene, poses[k], x, y, turn, effort)
            kept[m, k] = w[k] >= 0.0
    return kept


class RobustBase(NamedTuple):
    """A base with the errors that it forgives.

    Attributes:
        base: x, y [m] and yaw [rad], shape (3,).
        chosen: The best alternative.
        kept: Whether each of its poses is reached under each error, shape (errors, n).
    """

    base: Array
    chosen: int
    kept: NDArray[np.bool_]

    @property
    def is_robust(self) -> bool:
        """Whether the chosen alternative is reached under all errors."""
        return bool(self.kept.all())


class Trial(NamedTuple):
    """One round of a search: candidates and how hard each is tried.

    Attributes:
        candidates: Bases x, y [m] and yaw [rad], shape (k, 3).
        effort: As in `solve_many`.
        solves: Limit on the solves.
    """

    candidates: Array
    effort: int
    solves: int


def find_robust(
    scene: ArmInScene,
    room: Room,
    *,
    poses: Array,
    error: BaseError,
    X_RB: Array,
    trials: Iterable[Trial],
    k: int,
) -> list[RobustBase]:
    """Find bases that forgive errors; if there is none, one that forgives most of them.

    Args:
        poses: Variants of the poses of the tool in the plane's frame, shape
            (alternatives, n, variants, 4, 4).
        X_RB: Pose of the base link in the root's frame, shape (4, 4).
        trials: Rounds, each tried only if those before did not find enough.
        k: Number of bases.

    Returns:
        The bases, best first; empty if the robot has no room anywhere.
    """
    corners, points = error.offsets(CORNERS, X_RB), error.offsets(POINTS, X_RB)
    accepted: list[RobustBase] = []
    nearest, passed, effort = np.zeros(3), -1.0, 1

    def checked(base: Array, chosen: int) -> RobustBase:
        return RobustBase(
            base, chosen, poses_kept(scene, room, poses[chosen], base, points, effort)
        )

    for trial in trials:
        effort = trial.effort
        state = no_robust_base(k + WANTED, errors=len(corners), shape=poses.shape[:2])
        args = (trial.candidates, corners, effort, trial.solves, state)
        search_robust(scene, room, poses, *args)
        if state.near[3] > passed:
            nearest, passed = state.near[:3], state.near[3]
        # More alternatives first, then farther from singularities under every error.
        found = state.found[: state.counts[0]]
        for n in np.lexsort((-found[:, 3], -found[:, 4])):
            one = checked(found[n, :3], int(state.chosen[n]))
            if one.is_robust and not any(_are_near(one.base, each.base) for each in accepted):
                accepted.append(one)
            if len(accepted) == k:
                return accepted
    if accepted or passed < 0:
        return accepted
    return [max((checked(nearest, way) for way in range(len(poses))), key=lambda b: b.kept.mean())]


def _are_near(a: Array, b: Array) -> bool:
    turn = abs(wrapped(a[2] - b[2]))
    return bool(turn < TURNED and hypot(*(a - b)[:2]) < APART)


def variants_of(goals: Goals) -> Array:
    """Return the variants of poses as one array, shape (n, variants, 4, 4).

    Where a pose has fewer variants than another, its first stands for those it does not have.
    """
    sizes = np.diff(goals.starts)
    numbers = goals.starts[:-1, None] + np.arange(sizes.max())
    return goals.poses[np.where(numbers < goals.starts[1:, None], numbers, goals.starts[:-1, None])]


def eroded(scores: Array) -> Array:
    """Return the least of each score and its eight neighbours, shape (n, m); 0 outside."""
    wide = np.pad(scores, 1)
    n, m = scores.shape
    parts = [wide[i : i + n, j : j + m] for i in range(3) for j in range(3)]
    return np.asarray(np.minimum.reduce(parts))


def headed(places: Array, *, headings: int) -> Array:
    """Return bases at positions, best first, with all headings, neighbours with different ones.

    Args:
        places: Positions x, y [m], shape (n, 2).
        headings: Number of headings.

    Returns:
        Bases x, y [m] and yaw [rad], shape (n * headings, 3), all positions once, then again.
    """
    # A step that has no factor in common with powers of two visits every heading.
    numbers = (5 * np.arange(len(places))[None] + np.arange(headings)[:, None]) % headings
    yaw = 2 * pi * numbers / headings - pi
    rows = np.broadcast_to(places, (headings, *places.shape))
    return np.concatenate([rows, yaw[..., None]], axis=2).reshape(-1, 3)
