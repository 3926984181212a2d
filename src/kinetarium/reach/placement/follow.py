"""follow: a mobile base that drives while its arm follows a trajectory.

At every tick the base knows the poses of the next moments. It plans a position from
which all of them are reached, by the map and exact inverse kinematics, and drives there at
its speed limits; if the current pose would be lost on the way, it searches for a nearby step
that keeps it. The paper names this as future work.
"""

from dataclasses import dataclass
from math import hypot, pi
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetarium.errors import KinetariumError
from kinetarium.reach.ik.solve import checked_poses
from kinetarium.reach.placement.query import STEPS, Placer
from kinetarium.reach.placement.search import (
    bases_facing,
    exact_goals,
    no_best_base,
    search_bases,
    solve_at_base,
)
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose

AHEAD = 1.5
"""Planning horizon [s]."""
SAMPLES = 8
"""Poses within the horizon that are scored, the current one first."""
SOLVES = 80
"""IK solves for a new plan."""
LAST_STEPS = 400
"""Greatest number of steps that are tried to keep the current pose."""


@dataclass(frozen=True, slots=True)
class BaseSpeedLimits:
    """Speed limits of a mobile base.

    Attributes:
        speed: Its greatest speed [m/s].
        turning: Its greatest yaw rate [rad/s].
    """

    speed: float = 1.0
    turning: float = 2.0


SMALL_BASE = BaseSpeedLimits()
"""A small mobile base."""


@dataclass(frozen=True, slots=True, eq=False)
class Following:
    """The motion of the base and the poses that were reached.

    Attributes:
        times: Times [s], shape (n,).
        bases: Base x, y [m] and yaw [rad] in the plane's frame, shape (n, 3).
        reached: Whether the pose of each time was reached, shape (n,).
        joints: Joint positions, NaN where it was not [rad or m], shape (n, joints).
        manipulability: Manipulabilities, NaN where it was not [m^3], shape (n,).
        plans: Computing time of each tick [s], shape (n,).
    """

    times: Array
    bases: Array
    reached: NDArray[np.bool_]
    joints: Array
    manipulability: Array
    plans: Array

    @property
    def rate(self) -> float:
        """Ticks per second that the planning sustains [1/s]."""
        return float(1.0 / self.plans.mean())


def follow(
    placer: Placer,
    times: ArrayLike,
    *,
    poses: ArrayLike,
    limits: BaseSpeedLimits = SMALL_BASE,
) -> Following:
    """Drive a base so that the arm reaches each pose of a trajectory at its time.

    Args:
        placer: Map, robot, plane and obstacles.
        times: Increasing times [s], shape (n,).
        poses: Poses X_WT of the tool, shape (n, 4, 4).
        limits: The speed limits of the base.

    Raises:
        KinetariumError: If a pose is invalid, or no base reaches the first ones.
    """
    t, X_WT = np.asarray(times, dtype=np.float64), checked_poses(poses)
    if t.shape != (len(X_WT),) or not len(t) or not (np.diff(t) > 0).all():
        raise KinetariumError("a trajectory needs one time per pose, and increasing times")
    X_PT = inverse_pose(placer.plane.frame) @ X_WT
    window = _ahead(t, 0)
    start = placer.place(X_WT[window])
    X_PB = inverse_pose(placer.plane.frame) @ start.X_WB
    base = np.array([X_PB[0, 3], X_PB[1, 3], start.yaw])
    bases, plans = np.empty((len(t), 3)), np.empty(len(t))
    q, w = np.empty((len(t), len(placer.arm.chain.joints))), np.empty(len(t))
    goal = base
    for n in range(len(t)):
        begin = perf_counter()
        dt = t[n] - t[n - 1] if n else 0.0
        goal = _plan(placer, X_PT[_ahead(t, n)], goal)
        base = _moved(base, goal, most=dt, limits=limits)
        now, effort = X_PT[n : n + 1], placer.arm.full_effort
        q[n : n + 1], w[n : n + 1] = solve_at_base(placer.scene, now, base=base, effort=effort)
        if w[n] < 0.0:
            base = _kept(placer, now, base, most=dt, limits=limits)
            q[n : n + 1], w[n : n + 1] = solve_at_base(placer.scene, now, base=base, effort=effort)
        bases[n] = base
        plans[n] = perf_counter() - begin
    reached = w >= 0.0
    return Following(t, bases, reached, q, np.where(reached, w, np.nan), plans)


def _ahead(t: Array, n: int) -> NDArray[np.int64]:
    """Return indices of poses within the horizon, the current one first."""
    end = int(np.searchsorted(t, t[n] + AHEAD, side="right")) - 1
    return np.unique(np.linspace(n, end, SAMPLES).round().astype(np.int64))


def _plan(placer: Placer, poses: Array, goal: Array) -> Array:
    """Keep the goal while it reaches all poses ahead; otherwise search for another near it."""
    scene, efforts, most = placer.scene, (placer.arm.effort, 0), (SOLVES, 0)
    best = no_best_base(len(poses), joints=len(placer.arm.chain.joints))
    goals, none, widths = exact_goals(poses), np.zeros((0, 3)), np.ones(3)
    search_bases(scene, goals, goal[None], none, widths, efforts, True, most, best)
    if best.score[0] == len(poses):
        return goal
    x, y, scores = placer.scores(poses)
    # Of positions with equal scores the nearer is better.
    far = np.hypot(x[:, None] - goal[0], y[None] - goal[1])
    top = np.argsort((far - 2.0 * scores).ravel(), kind="stable")[: SOLVES // 2]
    places = np.column_stack([x[top // len(y)], y[top % len(y)]])
    candidates = bases_facing(places, poses[:, :2, 3].mean(axis=0), turns=np.zeros(1))
    search_bases(scene, goals, candidates, none, widths, efforts, True, most, best)
    return best.base


def _moved(base: Array, goal: Array, *, most: float, limits: BaseSpeedLimits) -> Array:
    """Return the base after driving towards a goal for a time [s]."""
    gap = goal - base
    gap[2] = (gap[2] + pi) % (2 * pi) - pi
    along = min(1.0, limits.speed * most / max(hypot(gap[0], gap[1]), 1e-12))
    turn = min(max(gap[2], -limits.turning * most), limits.turning * most)
    return np.asarray(base + np.array([along * gap[0], along * gap[1], turn]))


def _kept(
    placer: Placer, poses: Array, base: Array, *, most: float, limits: BaseSpeedLimits
) -> Array:
    """Search for a step within the speed limits that reaches the current pose."""
    best = no_best_base(1, joints=len(placer.arm.chain.joints))
    best.base[:] = base
    widths = np.array([limits.speed * most, limits.speed * most, limits.turning * most]) / 2
    steps, solves, efforts = STEPS[:LAST_STEPS], (0, LAST_STEPS), (placer.arm.full_effort, 0)
    goals, none = exact_goals(poses), np.zeros((0, 3))
    search_bases(placer.scene, goals, none, steps, widths, efforts, True, solves, best)
    return best.base if best.score[0] > 0 else base
