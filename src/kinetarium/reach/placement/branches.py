"""All configurations that reach poses from one base, and continuous paths between them.

Two configurations are on one branch if the arm moves from one to the other while its tool moves
straight from pose to pose. This is decided by tracking: the tool's pose is interpolated, and the
configuration corrected after every small step by damped least squares. A step that moves a joint
far is halved; if that does not help, the path ends there: at a joint limit, in a singularity or
at an obstacle. The tracked configurations are solutions, verified like all others.
"""

from dataclasses import dataclass
from math import atan2, cos, inf, pi, sin, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetarium.dynamics.chain import ChainArrays, SerialChain
from kinetarium.dynamics.forward import differentiate, place
from kinetarium.reach.collision.arm_in_scene import ArmInScene, move_base
from kinetarium.reach.collision.check import collides, no_last_contact
from kinetarium.reach.collision.piece_arrays import PieceArrays
from kinetarium.reach.ik.generic import (
    DAMPING,
    LEAST,
    descend,
    eliminate,
    error,
    fill,
    hold_at_limits,
    move,
    nearest,
    rank,
)
from kinetarium.reach.ik.generic import out_of_reach as too_far
from kinetarium.reach.ik.solver import solve_many
from kinetarium.reach.ik.start_table import EXACT, StartTable, start_table
from kinetarium.reach.placement.plane import Objective
from kinetarium.reach.placement.search import BestBase, Goals, base_pose
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.compiled import compiled
from kinetarium.spatial.rotation import inverse_pose

MOST = 32
"""Greatest number of configurations of a pose that are kept."""
STARTS = 96
"""Starts of the search for the configurations of a pose, divided among its variants."""
SAME = 0.02
"""Configurations count as equal if no joint differs by more [rad or m]."""
LENGTH, ANGLE = 0.02, 0.1
"""Longest step of the tool along a path [m, rad]."""
JUMP = 0.1
"""Greatest motion of a joint in such a step [rad or m]; a longer one is divided."""
FINEST = 1.0 / 4096
"""Smallest part of a path between two poses into which it is divided."""
CORRECTIONS = 12
"""Greatest number of corrections after a step."""
NEAR = 0.2
"""Distance at which a joint may have been stopped by its limit [rad]."""
MISSED = 1
"""Poses that a base may have missed in the first search, whose effort is small."""
TURNING = 5.0
"""Rotation of the tool per length [rad/m]: a tool of 0.2 m turns as fast as it moves."""
MARGINS = frozenset({Objective.LIMITS, Objective.SINGULARITY, Objective.CLEARANCE})
FARTHEST = 0.5
"""Greatest clearance that is measured [m]."""
HALVINGS = 12
"""Bisections of a clearance: to 0.12 mm."""


@compiled
def solutions(
    chain: ChainArrays,
    table: StartTable,
    pieces: PieceArrays,
    X_BT: Array,
    starts: NDArray[np.int64],
    found: Array,
) -> NDArray[np.int64]:
    """Find the distinct configurations of poses.

    Args:
        X_BT: Variants of the poses in the base link's frame, shape (m, 3 or 4, 4).
        starts: First variant of each pose, and the end, shape (n + 1,).
        found: Output: joint positions [rad or m], shape (n, MOST, joints).

    Returns:
        How many each pose has, shape (n,).
    """
    joints, size = len(chain.lower), len(table.starts)
    q, last_contact = np.empty(joints), no_last_contact()
    nearness = np.empty(size, np.float32)
    X, J, A = np.empty((joints + 2, 3, 4)), np.empty((6, joints)), np.empty((6, 7))
    counts = np.zeros(len(starts) - 1, np.int64)
    for n in range(len(counts)):
        for variant in range(starts[n], starts[n + 1]):
            if too_far(X_BT[variant], table):
                continue
            rank(X_BT[variant], table, nearness)
            for _ in range(min(STARTS, size)):
                nearest(table, nearness, q)
                if counts[n] == MOST or not descend(X_BT[variant], table.length, chain, q, X, J, A):
                    continue
                if _is_known(found[n], counts[n], q) or collides(pieces, X, q, last_contact):
                    continue
                found[n, counts[n]] = q
                counts[n] += 1
    return counts


@compiled
def _is_known(found: Array, count: int, q: Array) -> bool:
    for i in range(count):
        gap = 0.0
        for j in range(len(q)):
            gap = max(gap, abs(found[i, j] - q[j]))
        if gap <= SAME:
            return True
    return False


@compiled
def track(
    chain: ChainArrays,
    length: float,
    pieces: PieceArrays,
    X_BT: Array,
    starts: NDArray[np.int64],
    rolls: NDArray[np.int64],
    first: int,
    fastest: Array,
    speeds: tuple[float, float],
    q: Array,
    strain: Array,
) -> int:
    """Follow one branch from pose to pose as far as possible.

    Args:
        length: The length that is weighted like one radian [m].
        X_BT: Variants of the poses in the base link's frame, shape (m, 3 or 4, 4).
        starts: First variant of each pose, and the end, shape (n + 1,).
        rolls: How many consecutive variants of a pose differ by a rotation about the tool's z
            axis alone; if more than one, this rotation is free, shape (n,).
        first: The pose to start from.
        fastest: Speed limits of the joints [rad/s or m/s], shape (joints,).
        speeds: Speed of the tool [m/s, rad/s].
        q: Joint positions of the first pose; output: those of the poses after it
            [rad or m], shape (n, joints).
        strain: Output: the greatest joint speed on the way to each pose, relative to its limit,
            shape (n,).

    Returns:
        The last pose that was reached.
    """
    joints = len(chain.lower)
    X, J, A = np.empty((joints + 2, 3, 4)), np.empty((6, joints)), np.empty((6, 7))
    trial, now, last_contact = np.empty(joints), np.empty(joints), no_last_contact()
    begin, goal, target = np.empty((3, 4)), np.empty((3, 4)), np.empty((3, 4))
    for n in range(first + 1, len(starts) - 1):
        free, arrived = rolls[n] > 1, False
        for variant in range(starts[n], starts[n + 1], rolls[n]):
            now[:] = q[n - 1]
            place(chain, now, X)
            begin[:] = X[joints + 1]
            goal[:] = X_BT[variant, :3]
            if free:
                _turn_least(begin, goal)
            shift, turn = error(begin, goal, A)
            motion = A[:, 6].copy()
            steps = max(sqrt(shift) / LENGTH, sqrt(turn) / ANGLE, 1.0)
            seconds = max(sqrt(shift) / speeds[0], sqrt(turn) / speeds[1], 1e-9)
            widest = 1.0 / np.ceil(steps)
            s, h, worst = 0.0, widest, 0.0
            while s < 1.0 and h >= FINEST:
                h = min(h, 1.0 - s)
                _interpolate(begin, motion, s + h, target)
                trial[:] = now
                sound = _correct(target, length, chain, free, trial, X, J, A)
                step, rate = 0.0, 0.0
                for j in range(joints):
                    gap = abs(trial[j] - now[j])
                    step = max(step, gap)
                    rate = max(rate, gap / (h * seconds * fastest[j]))
                if not sound or step > JUMP or collides(pieces, X, trial, last_contact):
                    h *= 0.5
                    continue
                now[:] = trial
                worst = max(worst, rate)
                s = 1.0 if s + h > 1.0 - 1e-12 else s + h
                h = min(2.0 * h, widest)
            if s == 1.0:
                q[n] = now
                strain[n] = worst
                arrived = True
                break
        if not arrived:
            return n - 1
    return len(starts) - 2


@compiled
def _turn_least(begin: Array, goal: Array) -> None:
    """Rotate a goal about its z axis so that the rotation from the beginning is the least."""
    # The part of begin's axes in the plane across the goal's z axis, as an angle in that plane.
    c = s = 0.0
    for k in range(3):
        c += begin[k, 0] * goal[k, 0] + begin[k, 1] * goal[k, 1]
        s += begin[k, 0] * goal[k, 1] - begin[k, 1] * goal[k, 0]
    angle = atan2(s, c)
    c, s = cos(angle), sin(angle)
    for k in range(3):
        x, y = goal[k, 0], goal[k, 1]
        goal[k, 0], goal[k, 1] = c * x + s * y, c * y - s * x


@compiled
def _interpolate(begin: Array, motion: Array, s: float, target: Array) -> None:
    """Write the pose at a part of a motion: straight, at a constant rate about a fixed axis."""
    wx, wy, wz = s * motion[3], s * motion[4], s * motion[5]
    angle = sqrt(wx * wx + wy * wy + wz * wz)
    a = sin(angle) / angle if angle > 1e-9 else 1.0
    b = 2.0 * (sin(0.5 * angle) / angle) ** 2 if angle > 1e-9 else 0.5
    for k in range(3):
        x, y, z = begin[0, k], begin[1, k], begin[2, k]
        # Rodrigues: v + a (w x v) + b (w x (w x v)).
        cx, cy, cz = wy * z - wz * y, wz * x - wx * z, wx * y - wy * x
        target[0, k] = x + a * cx + b * (wy * cz - wz * cy)
        target[1, k] = y + a * cy + b * (wz * cx - wx * cz)
        target[2, k] = z + a * cz + b * (wx * cy - wy * cx)
        target[k, 3] = begin[k, 3] + s * motion[k]


@compiled
def _correct(
    X_BT: Array,
    length: float,
    chain: ChainArrays,
    free: bool,
    q: Array,
    X: Array,
    J: Array,
    A: Array,
) -> bool:
    """Correct a configuration until it reaches a pose; see `generic.descend`.

    Args:
        X_BT: The pose of the tool in the base link's frame, shape (3, 4).
        free: Whether the tool may be rotated about its z axis.
    """
    count, weight = len(q), 1.0 / length
    for _ in range(CORRECTIONS):
        place(chain, q, X)
        shift, turn = error(X[count + 1], X_BT, A)
        x, y, z = X[count + 1, 0, 2], X[count + 1, 1, 2], X[count + 1, 2, 2]
        if free:
            along = x * A[3, 6] + y * A[4, 6] + z * A[5, 6]
            turn = max(turn - along * along, 0.0)
            A[3, 6] -= along * x
            A[4, 6] -= along * y
            A[5, 6] -= along * z
        if shift <= EXACT * EXACT and turn <= EXACT * EXACT:
            return True
        differentiate(chain, X, J)
        for row in range(3):
            A[row, 6] *= weight
            for j in range(count):
                J[row, j] *= weight
        for j in range(count):
            if free:
                along = x * J[3, j] + y * J[4, j] + z * J[5, j]
                J[3, j] -= along * x
                J[4, j] -= along * y
                J[5, j] -= along * z
        hold_at_limits(chain, q, J, A)
        total = weight * weight * shift + turn
        fill(J, DAMPING * total + LEAST, A)
        if free:  # J and e have no part along the axis: let the matrix be the identity there
            A[3, 3] += x * x
            A[4, 3] += y * x
            A[4, 4] += y * y
            A[5, 3] += z * x
            A[5, 4] += z * y
            A[5, 5] += z * z
        eliminate(A)
        move(chain, q, J, A)
    return False


@compiled
def clearances(pieces: PieceArrays, chain: ChainArrays, q: Array) -> Array:
    """Return the distance of configurations [rad or m], shape (n, joints), from the obstacles.

    The pieces are grown until they touch; at most FARTHEST [m], shape (n,).
    """
    X, last_contact = np.empty((q.shape[1] + 2, 3, 4)), no_last_contact()
    last, sizes = len(pieces.bodies) - 1, pieces.sizes.copy()
    clusters, bodies = pieces.clusters.copy(), pieces.bodies.copy()
    pairs = pieces.pairs[pieces.pairs[:, 1] == last]
    grown = PieceArrays(
        pieces.places, sizes, pieces.corners, pieces.cluster_starts, clusters, pieces.body_starts,
        bodies, pieces.frames, pairs, pieces.apart, pieces.spans,
    )  # fmt: skip
    result = np.empty(len(q))
    for n in range(len(q)):
        place(chain, q[n], X)
        near, far = 0.0, FARTHEST
        by = FARTHEST
        for _ in range(HALVINGS + 1):
            for i in range(len(sizes)):
                for k in range(4, 7):
                    sizes[i, k] = pieces.sizes[i, k] + 0.5 * by
            clusters[:, 3] = pieces.clusters[:, 3] + 0.5 * by
            bodies[:, 3] = pieces.bodies[:, 3] + 0.5 * by
            if collides(grown, X, q[n], last_contact):
                far = by
            else:
                near = by
            by = 0.5 * (near + far)
            if near == far:
                break
        result[n] = near
    return result


@compiled
def jacobians(chain: ChainArrays, length: float, q: Array) -> Array:
    """Return the Jacobians of the tool, translations over a length, shape (n, 6, joints)."""
    joints = q.shape[1]
    X, J = np.empty((joints + 2, 3, 4)), np.empty((len(q), 6, joints))
    for n in range(len(q)):
        place(chain, q[n], X)
        differentiate(chain, X, J[n])
        J[n, :3] /= length
    return J


def limit_margins(chain: ChainArrays, q: Array) -> Array:
    """Return how far the joints that turn are from their limits, the nearest of them.

    Args:
        q: Joint positions [rad or m], shape (..., joints).

    Returns:
        Distances [rad], shape (...); infinite without limits.
    """
    margins = np.where(chain.prismatic, inf, np.minimum(q - chain.lower, chain.upper - q))
    return np.asarray(margins.min(axis=-1))


@dataclass(frozen=True, slots=True)
class Flip:
    """A change of the arm's configuration that cannot be avoided between two poses.

    Attributes:
        before: Number of the pose before it.
        after: Number of the pose after it.
        joint: The joint that moves most.
        positions: Its positions before and after [rad or m].
    """

    before: int
    after: int
    joint: str
    positions: tuple[float, float]

    def __str__(self) -> str:
        """Return the flip in words."""
        return f"{self.joint.removesuffix('_joint')} flip between {self.before} and {self.after}"


class Examined(NamedTuple):
    """A base with the configurations that were chosen.

    Attributes:
        base: x, y [m] and yaw [rad], shape (3,).
        q: Joint positions for each pose, NaN where it is not reached, shape (n, joints).
        w: Manipulabilities, negative where a pose is not reached [m^3], shape (n,).
        flips: Changes of the configuration.
        strain: The greatest joint speed on the way to each pose, shape (n,).
        rank: Greater is better: reached poses, flips, ways that are too fast, margin.
    """

    base: Array
    q: Array
    w: Array
    flips: tuple[Flip, ...]
    strain: Array
    rank: tuple[float, ...]


class _Way(NamedTuple):
    """A part of a branch: configurations pose by pose, and the strain on the way to each."""

    q: Array
    strain: Array


class Examiner:
    """Looks at all configurations of good bases: for their margins, or for one branch."""

    def __init__(
        self,
        chain: SerialChain,
        scene: ArmInScene,
        *,
        goals: Goals,
        rolls: NDArray[np.int64],
        objective: Objective,
        speed: float,
        effort: int,
    ) -> None:
        """Prepare the search for configurations.

        Args:
            rolls: See `track`.
            speed: Speed of the tool along one branch [m/s]; 0 for poses without an order.
            effort: As in `solve_many`.
        """
        self._chain, self._scene, self._goals, self._rolls = chain, scene, goals, rolls
        self._objective, self._speed, self._effort = objective, speed, effort
        table = scene.ik.table
        self._table = table if len(table.starts) else start_table(chain.arrays, seed=0)
        limits = [chain.model.joint(name).limits.velocity for name in chain.joints]
        self._fastest = np.array([limit if limit > 0 else inf for limit in limits])

    def best(self, found: BestBase, *, steps: Array) -> Examined:
        """Examine the best bases of a search, then others about the best of them.

        Args:
            steps: Steps to the others, x, y [m] and yaw [rad], which are shrunk to a tenth,
                shape (k, 3); as many of the best bases are examined.
        """
        judged = found.judged[: found.counts[1]]
        # The base that was found may reach more than was seen when it was judged.
        good = judged[judged[:, 3] >= judged[:, 3].max() - MISSED]
        good = good[np.lexsort((-good[:, 4], -good[:, 3]))][: len(steps), :3]
        best = self.examine(found.base)
        for base in good:
            best = max(best, self.examine(base), key=lambda each: each.rank)
        for step, shrink in zip(steps, np.linspace(1.0, 0.1, len(steps)), strict=True):
            near = self.examine(best.base + shrink * step)
            best = max(best, near, key=lambda each: each.rank)
        return best

    def examine(self, base: Array) -> Examined:
        """Choose a configuration for each pose at one base."""
        chain, joints = self._chain.arrays, len(self._chain.joints)
        count = len(self._goals.starts) - 1
        q, strain = np.full((count, joints), np.nan), np.full(count, np.nan)
        X_BP = inverse_pose(base_pose(base))
        none = Examined(base, q, np.full(count, -1.0), (), strain, (-1.0,))
        if not move_base(self._scene, X_BP[:3], np.empty((joints + 2, 3, 4))):
            return none
        X_BT = X_BP @ self._goals.poses
        flips: tuple[Flip, ...] = ()
        if self._speed:
            flips = self._along(X_BT, q=q, strain=strain)
        else:
            for n in range(count):
                found = self._configurations(X_BT, n)
                if len(found):
                    q[n] = found[self._margins(found).argmax()]
        some = np.flatnonzero(~np.isnan(q[:, 0]))
        if not len(some):
            return none
        w = np.full(count, -1.0)
        J = jacobians(chain, 1.0, q[some])
        w[some] = np.sqrt(np.maximum(np.linalg.det(J @ J.mT), 0.0))
        margin = self._margins(q[some]).min() if self._objective in MARGINS else w[some].sum()
        slow = int(np.count_nonzero(strain > 1.0))
        return Examined(base, q, w, flips, strain, (len(some), -len(flips), -slow, float(margin)))

    def _configurations(self, X_BT: Array, n: int) -> Array:
        """Return the configurations of a pose, shape (k, joints)."""
        ik, starts = self._scene.ik, self._goals.starts
        X = X_BT[starts[n] : starts[n + 1]]
        found = np.empty((1, MOST, len(self._chain.joints)))
        ends = np.array([0, len(X)])
        [count] = solutions(ik.chain, self._table, ik.pieces, X, ends, found)
        if not count:
            # The closed form, or a search with more starts, finds what this one may miss.
            q, w = np.empty((len(X), found.shape[2])), np.empty(len(X))
            solve_many(ik, X, self._effort, False, q, w)
            return q[w >= 0.0][:1]
        return found[0, :count]

    def _along(self, X_BT: Array, *, q: Array, strain: Array) -> tuple[Flip, ...]:
        """Follow branches as far as possible, each from the pose after the last one's end.

        The longest branch from each pose gives the fewest flips: what a later start reaches, the
        rest of an earlier branch reaches as well. Poses that are out of reach are passed by.

        Args:
            X_BT: Variants of the poses in the base's frame, shape (m, 4, 4).
            q: Output: the chosen configurations, shape (n, joints).
            strain: Output: see `BasePlacement`, shape (n,).
        """
        left = list(range(len(q)))
        flips: list[tuple[int, int]] = []
        begin, ways = 0, list[_Way]()
        while True:
            ways = [self._extended(way, X_BT, left[begin:]) for way in ways]
            longest = max((len(way.q) for way in ways), default=0)
            ways = [way for way in ways if len(way.q) == longest]
            end = begin + longest
            if ways:
                best = max(ways, key=self._way_rank)
                q[left[begin:end]], strain[left[begin:end]] = best
            if end == len(left):
                break
            found = self._configurations(X_BT, left[end])
            if not len(found):
                del left[end]  # the branch may continue beyond it
                continue
            if ways:
                flips.append((left[end - 1], left[end]))
                found = self._wound(found, q[left[end - 1]])
            begin, ways = end, [_Way(start[None], np.full(1, np.nan)) for start in found]
        return tuple(self._flip(before, after, q) for before, after in flips)

    def _wound(self, found: Array, near: Array) -> Array:
        """Turn joints by full turns towards a configuration, where their limits allow it."""
        chain = self._chain.arrays
        turned = found + 2 * pi * np.rint((near - found) / (2 * pi)) * ~chain.prismatic
        return np.where((turned >= chain.lower) & (turned <= chain.upper), turned, found)

    def _flip(self, before: int, after: int, q: Array) -> Flip:
        joint = int(np.abs(q[after] - q[before]).argmax())
        ends = float(q[before, joint]), float(q[after, joint])
        return Flip(before, after, self._chain.joints[joint], ends)

    def _way_rank(self, way: "_Way") -> tuple[float, float]:
        return -float(np.count_nonzero(way.strain > 1.0)), float(self._margins(way.q).min())

    def _extended(self, way: "_Way", X_BT: Array, own: list[int]) -> "_Way":
        """Follow a branch from its end.

        A joint that has arrived at a limit starts a full turn away from it, if all of the branch
        stays within the limits then.

        Args:
            X_BT: Variants of the poses in the base's frame, shape (m, 4, 4).
            own: The poses from the first of the branch on, without those that are passed by.
        """
        chain, turning = self._chain.arrays, ~self._chain.arrays.prismatic
        for _ in range(len(turning) + 1):
            way = self._tracked(way, X_BT, own)
            if len(way.q) == len(own):
                break
            room = way.q[-1] - chain.lower, chain.upper - way.q[-1]
            turns = 2 * pi * ((room[0] < NEAR) * 1.0 - (room[1] < NEAR)) * turning
            turned = way.q + turns
            inside = ((turned >= chain.lower) & (turned <= chain.upper)).all(axis=0)
            if not (inside & (turns != 0.0)).any():
                break
            way = way._replace(q=np.where(inside, turned, way.q))
        return way

    def _tracked(self, way: "_Way", X_BT: Array, own: list[int]) -> "_Way":
        starts, ahead = self._goals.starts, own[len(way.q) - 1 :]
        rows = np.concatenate([np.arange(starts[n], starts[n + 1]) for n in ahead])
        sizes = np.cumsum([0, *(starts[n + 1] - starts[n] for n in ahead)])
        q, strain = np.empty((len(ahead), way.q.shape[1])), np.full(len(ahead), np.nan)
        q[0] = way.q[-1]
        ik = self._scene.ik
        end = 1 + track(
            ik.chain, self._table.length, ik.pieces, np.ascontiguousarray(X_BT[rows]), sizes,
            self._rolls[ahead], 0, self._fastest, (self._speed, TURNING * self._speed), q, strain,
        )  # fmt: skip
        return _Way(np.concatenate([way.q, q[1:end]]), np.concatenate([way.strain, strain[1:end]]))

    def _margins(self, q: Array) -> Array:
        """Return the margins of configurations, shape (n, joints), by the objective."""
        ik = self._scene.ik
        match self._objective:
            case Objective.LIMITS:
                return limit_margins(ik.chain, q)
            case Objective.CLEARANCE:
                found: Array = clearances(ik.pieces, ik.chain, q)
                return found
            case _:
                J = jacobians(ik.chain, self._table.length, q)
                return np.asarray(np.linalg.svd(J, compute_uv=False)[:, -1])
