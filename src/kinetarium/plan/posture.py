"""Postures in which an arm travels: folded, so that little of it reaches."""

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.dynamics.chain import link_frames, ranges
from kinetarium.plan.arm_path import PlanningRobot, checked_q, place_arm
from kinetarium.reach.collision.arm_in_scene import Obstacles
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import pose

_DRAWS = 600
"""Random postures of the first round."""
_ROUNDS = np.geomspace(0.2, 0.02, 10)
"""Deviations about the best posture in later rounds, as shares of the joints' ranges."""
_NEIGHBOURS = 40
"""Postures of each later round."""
_AWAY = 0.05
"""Share of a joint's range that stays free at both ends."""
_LOCKED = 1e-9
"""Range that a joint without one is given [rad or m]."""
_DETOUR = 0.1
"""Reach to the sides that is worth as much as a way through the whole range of every joint [m]."""


def narrow_posture(robot: PlanningRobot, *, near: ArrayLike, height: float = 0.0) -> Array | None:
    """Return the posture in which the arm reaches least to the sides.

    With it a base comes close to what is as high as the arm, such as high tables. The result is the
    same in every call.

    Args:
        robot: The robot.
        near: The usual posture [rad or m], shape (joints,); of postures that reach equally far the
            nearer one is preferred.
        height: Height of the base link above the ground [m].

    Returns:
        The posture, shape (joints,), or None if all that are tried collide.
    """
    usual = checked_q(near, robot)
    placed = place_arm(robot, pose((0.0, 0.0, height)), obstacles=Obstacles(ground=True))
    lower, upper = ranges(robot.chain.arrays)
    span = np.maximum(upper - lower, _LOCKED)
    aside = _AWAY * (upper - lower)
    lower, upper = lower + aside, upper - aside
    rng = np.random.default_rng(0)

    def best(q: Array) -> tuple[float, Array] | None:
        free = q[~placed.collides(q)]
        away = np.linalg.norm((free - usual) / span, axis=1) / np.sqrt(len(usual))
        costs = [
            side_reach(robot, row) + _DETOUR * more for row, more in zip(free, away, strict=True)
        ]
        return min(zip(costs, free, strict=True), key=lambda pair: pair[0]) if costs else None

    found = best(np.vstack([usual, rng.uniform(lower, upper, (_DRAWS, len(usual)))]))
    if found is None:
        return None
    for share in _ROUNDS:
        beside = found[1] + share * span * rng.normal(size=(_NEIGHBOURS, len(usual)))
        better = best(np.clip(beside, lower, upper))
        if better and better[0] < found[0]:
            found = better
    return found[1]


def side_reach(robot: PlanningRobot, q: ArrayLike) -> float:
    """Return how far an arm reaches to the sides from its first joint, at most [m].

    It is measured to upright boxes around its convex pieces.
    """
    pieces, X = robot.pieces, link_frames(robot.chain.arrays, checked_q(q, robot))
    clusters = np.repeat(np.arange(len(pieces.bodies)), np.diff(pieces.body_starts))
    owner = np.repeat(clusters, np.diff(pieces.cluster_starts))
    moves = (owner > 0) & (owner < len(X) - 1)
    owner, sizes = owner[moves], pieces.sizes[moves]
    places = X[owner, :2, :3] @ pieces.places[moves]
    centres = places[:, :, 3] + X[owner, :2, 3] - X[1, :2, 3]
    half = (np.abs(places[:, :, :3]) @ sizes[:, :3, None])[..., 0]
    corners = np.abs(centres) + half + sizes[:, 3:5].sum(axis=1, keepdims=True)
    return float(np.linalg.norm(corners, axis=1).max(initial=0.0))
