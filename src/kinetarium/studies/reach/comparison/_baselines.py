"""Published base placement methods, and the numerical solver of their evaluation."""

from math import atan2, pi

import numpy as np
from numpy.typing import NDArray

from kinetarium.dynamics.chain import ChainArrays
from kinetarium.dynamics.forward import differentiate, place, volume
from kinetarium.reach.arm import Arm
from kinetarium.reach.collision.arm_in_scene import ArmInScene
from kinetarium.reach.collision.check import collides, no_last_contact
from kinetarium.reach.collision.piece_arrays import PieceArrays
from kinetarium.reach.maps.recipe import GradedGrid
from kinetarium.reach.placement.search import (
    bases_facing,
    exact_goals,
    no_best_base,
    search_bases,
)
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.compiled import compiled

TOP = 10
"""K of Algorithm 2."""
TURNS: Array = np.arange(8) * np.float64(pi / 4)
"""Yaw angles of the base at each of the K positions, relative to facing the poses [rad]."""
WITHOUT_END = 1 << 60


def algorithm_2(
    arm: Arm, scene: ArmInScene, *, poses: Array, x: Array, y: Array, scores: Array
) -> Array:
    """Choose among the best positions of a unified map by the sum of manipulabilities.

    Lines 12 to 19 of Algorithm 2 of the paper.

    Args:
        poses: Poses of the tool in the plane's frame, shape (n, 4, 4).
        x: Coordinates x of the map [m].
        y: Coordinates y of the map [m].
        scores: The unified map, shape (len(x), len(y)).

    Returns:
        The base: x, y [m] and yaw [rad], shape (3,).
    """
    top = np.argsort(-scores.ravel(), kind="stable")[:TOP]
    places = np.column_stack([x[top // len(y)], y[top % len(y)]])
    return _best_of(arm, scene, poses=poses, places=places, by_count=False)


def brute_force(arm: Arm, scene: ArmInScene, *, poses: Array, x: Array, y: Array) -> Array:
    """Score every position of a raster with every yaw: the upper bound of all maps there.

    Args:
        poses: Poses of the tool in the plane's frame, shape (n, 4, 4).
        x: Coordinates x of the raster [m].
        y: Coordinates y of the raster [m].

    Returns:
        The base: x, y [m] and yaw [rad], shape (3,).
    """
    places = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2)
    # Near positions first: the earlier a good base is found, the sooner others are dropped.
    far = np.linalg.norm(places - poses[:, :2, 3].mean(axis=0), axis=1)
    places = places[np.argsort(far, kind="stable")]
    return _best_of(arm, scene, poses=poses, places=places, by_count=True)


def _best_of(arm: Arm, scene: ArmInScene, *, poses: Array, places: Array, by_count: bool) -> Array:
    """Return the best of all positions and yaw angles."""
    candidates = bases_facing(places, poses[:, :2, 3].mean(axis=0), turns=TURNS)
    best, none = no_best_base(len(poses), joints=len(arm.chain.joints)), np.zeros((0, 3))
    efforts, most, goals = (arm.effort, 0), (WITHOUT_END, 0), exact_goals(poses)
    search_bases(scene, goals, candidates, none, np.ones(3), efforts, by_count, most, best)
    return best.base


def random_base(rng: np.random.Generator, *, half: float) -> Array:
    """Draw a base from a square of half an edge length [m]: x, y [m] and yaw [rad]."""
    return rng.uniform([-half, -half, -pi], [half, half, pi])


def transformed_voxels(
    values: NDArray[np.float32], centers: Array, *, poses: Array, size: float, x: Array, y: Array
) -> Array:
    """Map bases by moving every voxel of a 3-D map to every pose, as Reuleaux does.

    Makhal and Goins, "Reuleaux: robot base placement by reachability analysis", 2018.

    Args:
        values: The 3-D map, shape (count, count, count).
        centers: Centres of its voxels in the tool's frame [m], shape (count^3, 3).
        poses: Poses of the tool in the plane's frame, shape (n, 4, 4).
        size: Edge length of a voxel [m].
        x: Coordinates x of the raster, evenly spaced [m].
        y: Coordinates y of the raster, evenly spaced [m].

    Returns:
        The sum over poses of the voxels that lie in the plane, shape (len(x), len(y)).
    """
    total = np.zeros((len(x), len(y)))
    _add_voxels(values.reshape(-1), centers, poses, size, x, y, total)
    return total


@compiled
def _add_voxels(
    values: NDArray[np.float32],
    centers: Array,
    poses: Array,
    size: float,
    x: Array,
    y: Array,
    total: Array,
) -> None:
    step_x, step_y = x[1] - x[0], y[1] - y[0]
    for n in range(len(poses)):
        X = poses[n]
        for k in range(len(values)):
            if values[k] <= 0.0:
                continue
            c = centers[k]
            z = X[2, 0] * c[0] + X[2, 1] * c[1] + X[2, 2] * c[2] + X[2, 3]
            if abs(z) > size / 2:
                continue
            px = X[0, 0] * c[0] + X[0, 1] * c[1] + X[0, 2] * c[2] + X[0, 3]
            py = X[1, 0] * c[0] + X[1, 1] * c[1] + X[1, 2] * c[2] + X[1, 3]
            i, j = int(np.rint((px - x[0]) / step_x)), int(np.rint((py - y[0]) / step_y))
            if 0 <= i < len(x) and 0 <= j < len(y):
                total[i, j] += values[k]


def sampled_map(arm: Arm, grid: GradedGrid, *, samples: int, seed: int) -> NDArray[np.uint8]:
    """Compute a binary 4-D map from random configurations alone, as RM4D does.

    Args:
        arm: The arm; configurations in collision are left out.
        samples: Number of configurations.
        seed: Their seed.

    Returns:
        1 where a configuration fell into a cell, shape (layers, tilts, side, side).
    """
    cells = np.zeros((grid.layers, grid.tilts, grid.side, grid.side), np.uint8)
    chain = arm.chain.arrays
    lower = np.maximum(chain.lower, chain.middle - pi)
    upper = np.minimum(chain.upper, chain.middle + pi)
    _sample(chain, arm.ik.pieces, grid, lower, upper, samples, seed, cells)
    return cells


@compiled
def _sample(
    chain: ChainArrays,
    pieces: PieceArrays,
    grid: GradedGrid,
    lower: Array,
    upper: Array,
    samples: int,
    seed: int,
    cells: NDArray[np.uint8],
) -> None:
    np.random.seed(seed)  # noqa: NPY002 - Numba has this generator only
    joints = len(lower)
    q, X, last_contact = np.empty(joints), np.empty((joints + 2, 3, 4)), no_last_contact()
    for _ in range(samples):
        for i in range(joints):
            q[i] = lower[i] + np.random.random() * (upper[i] - lower[i])  # noqa: NPY002
        place(chain, q, X)
        T = X[joints + 1]
        # The base in a frame below the tool, with x along the horizontal part of the tool's z axis.
        turn = atan2(T[1, 2], T[0, 2])
        c, s = np.cos(turn), np.sin(turn)
        tilt = min(int(np.arccos(min(max(T[2, 2], -1.0), 1.0)) * (grid.tilts / pi)), grid.tilts - 1)
        layer = int(np.floor((T[2, 3] - grid.bottom) / grid.size))
        i = int(np.floor((-(c * T[0, 3] + s * T[1, 3]) - grid.lower) / grid.size))
        j = int(np.floor((-(c * T[1, 3] - s * T[0, 3]) - grid.lower) / grid.size))
        inside = 0 <= layer < grid.layers and 0 <= i < grid.side and 0 <= j < grid.side
        if not inside or cells[layer, tilt, i, j]:
            continue
        if not collides(pieces, X, q, last_contact):
            cells[layer, tilt, i, j] = 1


STEPS = 100
"""Maximum number of iterations, KDL's default."""
NEAR = 1e-5
"""Tolerance of a reached pose [m, rad], KDL's default."""
SINGULAR = 1e-5
"""Singular values below count as zero, KDL's default."""


@compiled
def solve_numerically(
    chain: ChainArrays, pieces: PieceArrays, X_BT: Array, q: Array, w: Array
) -> None:
    """Solve for many poses, each from one start, the middle of the joint ranges.

    Args:
        pieces: The bodies to check for collisions.
        X_BT: Poses of the tool in the base link's frame, shape (n, 4, 4).
        q: Output: joint positions, or NaN [rad or m], shape (n, joints).
        w: Output: manipulabilities, or -1 [m^3], shape (n,).
    """
    joints = len(chain.lower)
    X, J, e = np.empty((joints + 2, 3, 4)), np.empty((6, joints)), np.empty(6)
    last_contact = no_last_contact()
    for n in range(len(X_BT)):
        w[n] = -1.0
        trial = chain.middle.copy()
        for _ in range(STEPS):
            place(chain, trial, X)
            _gap(X[joints + 1], X_BT[n], e)
            if np.abs(e).max() < NEAR:
                if not collides(pieces, X, trial, last_contact):
                    differentiate(chain, X, J)
                    w[n] = volume(J)
                break
            differentiate(chain, X, J)
            U, S, V = np.linalg.svd(J, False)
            y = U.T @ e
            for k in range(len(S)):
                y[k] = y[k] / S[k] if S[k] > SINGULAR else 0.0
            trial += V.T @ y
            for i in range(joints):
                trial[i] = min(max(trial[i], chain.lower[i]), chain.upper[i])
        q[n] = np.nan
        if w[n] >= 0.0:
            q[n] = trial


@compiled
def _gap(X: Array, Y: Array, e: Array) -> None:
    """Write the twist that takes one pose to another in a unit of time (KDL's diff)."""
    for i in range(3):
        e[i] = Y[i, 3] - X[i, 3]
    R = np.ascontiguousarray(Y[:3, :3]) @ np.ascontiguousarray(X[:3, :3]).T
    axis = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    sine, cosine = 0.5 * np.linalg.norm(axis), 0.5 * (R[0, 0] + R[1, 1] + R[2, 2] - 1.0)
    angle = np.arctan2(sine, cosine)
    for i in range(3):
        e[3 + i] = axis[i] * (angle / (2.0 * sine) if sine > 1e-12 else 0.5)
