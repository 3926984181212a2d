"""How the success of the source's method hangs on the voxels and the poses per voxel.

The source names it as its limitation: a slice takes over the scores of voxels as they are.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kinetarium.dynamics.chain import ChainArrays
from kinetarium.dynamics.forward import differentiate, place, volume
from kinetarium.model.robot import RobotModel
from kinetarium.reach.collision.check import collides, no_last_contact
from kinetarium.reach.collision.piece_arrays import PieceArrays
from kinetarium.reach.maps.build import build_map
from kinetarium.reach.maps.files import MapFileError, ReachMap, open_map
from kinetarium.reach.maps.recipe import MapKind
from kinetarium.reach.placement.plane import FLOOR
from kinetarium.reach.placement.query import Placer
from kinetarium.reach.placement.score_raster import sum_of_slices
from kinetarium.reach.placement.search import solve_at_base
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.compiled import compiled
from kinetarium.studies.reach.baselines import algorithm_2

Progress = Callable[[str, int, int], None]
"""Told what is being done, and how many parts of how many are done."""

COARSER = (1, 2, 4)
"""By how much the voxels are larger than the finest map's."""
FEWER = (1, 2, 5)
"""By how much the poses per voxel are fewer."""


def success_by_resolution(
    finest: ReachMap,
    tasks: list[Array],
    *,
    placer: Placer,
    robot: RobotModel,
    x: Array,
    y: Array,
    folder: Path,
    workers: int,
    progress: Progress,
) -> list[dict[str, Any]]:
    """Return the success of the source's method with coarser and coarser maps.

    Args:
        finest: The finest map, an irm3.
        tasks: Sets of poses, each of shape (n, 4, 4).
        placer: The arm and its site.
        x: Coordinates x of the raster of bases [m].
        y: Coordinates y of the raster [m].
        folder: Where the maps are kept.
        workers: How many shards of a map are made side by side.
        progress: Told how the maps get on.

    Returns:
        Voxel size [m], poses per voxel and mean success of each map.
    """
    arm, scene, recipe = placer.arm, placer.scene, finest.recipe
    rows = []
    for coarser in COARSER:
        for fewer in FEWER:
            voxel, count = recipe.voxel * coarser, max(recipe.poses // fewer, 1)
            path = folder / f"irm3-{coarser}-{fewer}.rmap"
            found = finest
            if (coarser, fewer) != (1, 1):
                found = kept_map(
                    robot, path, voxel=voxel, poses=count, workers=workers, progress=progress
                )
            values = found.fields["manipulability"]
            success = []
            for poses in tasks:
                scores = sum_of_slices(values, poses, plane=FLOOR, grid=found.grid, x=x, y=y)
                base = algorithm_2(arm, scene, poses=poses, x=x, y=y, scores=scores)
                _, w = solve_at_base(scene, poses, base=base, effort=arm.full_effort)
                success.append(float((w >= 0.0).mean()))
            rows.append({"voxel_m": voxel, "poses": count, "success": float(np.mean(success))})
    return rows


def kept_map(
    robot: RobotModel,
    path: Path,
    *,
    kind: MapKind = MapKind.IRM3,
    voxel: float | None = None,
    poses: int | None = None,
    workers: int,
    progress: Progress,
) -> ReachMap:
    """Open a map of a robot if it is there, and build it if not; see `build_map`."""
    try:
        found = open_map(path)
        recipe = found.recipe
        same = recipe.robot_sha256 == robot.source.sha256 and recipe.kind is kind
        if same and voxel in (None, recipe.voxel) and poses in (None, recipe.poses):
            return found
    except MapFileError:
        pass
    told = partial(progress, path.name)
    return build_map(
        robot, path, kind=kind, voxel=voxel, poses=poses, workers=workers, progress=told
    )


STEPS = 100
"""Iterations, as is KDL's default."""
NEAR = 1e-5
"""How far the tool may be from where it is asked for [m, rad]; likewise."""
SINGULAR = 1e-5
"""Singular values below are taken for zero; likewise."""


@compiled
def solve_numerically(
    chain: ChainArrays, pieces: PieceArrays, X_BT: Array, q: Array, w: Array
) -> None:
    """Solve for many poses, each from the one start.

    Args:
        pieces: What must not touch.
        X_BT: Poses of the tool in the base link's frame, shape (n, 4, 4).
        q: Written to: joint positions, or NaN [rad or m], shape (n, joints).
        w: Written to: manipulabilities, or -1 [m^3], shape (n,).
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
