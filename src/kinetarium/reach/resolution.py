"""How the success of the source's method hangs on the voxels and the poses per voxel.

The source names it as its limitation: a slice takes over the scores of voxels as they are.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kinetarium.model.robot import RobotModel
from kinetarium.reach.base_search import serve
from kinetarium.reach.baselines import algorithm_2
from kinetarium.reach.build import build_map
from kinetarium.reach.map_files import MapFileError, ReachMap, open_map
from kinetarium.reach.placement import Placer
from kinetarium.reach.plane import FLOOR
from kinetarium.reach.recipe import MapKind
from kinetarium.reach.union import union_of_slices
from kinetarium.spatial.arrays import Array

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
    """Give the success of the source's method with coarser and coarser maps.

    Args:
        finest: The finest map, an irm3.
        tasks: Sets of poses, each of shape (n, 4, 4).
        placer: The arm and its site.
        robot: The robot.
        x: Coordinates x of the raster of bases [m].
        y: Coordinates y of the raster [m].
        folder: Where the maps are kept.
        workers: How many shards of a map are made side by side.
        progress: Told how the maps get on.

    Returns:
        Voxel size [m], poses per voxel and mean success of each map.
    """
    arm, site, recipe = placer.arm, placer.site, finest.recipe
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
                scores = union_of_slices(values, poses, plane=FLOOR, grid=found.grid, x=x, y=y)
                base = algorithm_2(arm, site, poses=poses, x=x, y=y, scores=scores)
                _, w = serve(site, poses, base=base, effort=arm.full_effort)
                success.append(float((w >= 0.0).mean()))
            rows.append({"voxel_m": voxel, "poses": count, "success": float(np.mean(success))})
    return rows


def kept_map(
    robot: RobotModel,
    path: Path,
    *,
    kind: MapKind = MapKind.IRM3,
    voxel: float = 0.0,
    poses: int = 0,
    workers: int,
    progress: Progress,
) -> ReachMap:
    """Open a map of a robot if it is there, and build it if not; see `build_map`."""
    try:
        found = open_map(path)
        recipe = found.recipe
        same = recipe.robot_sha256 == robot.source.sha256 and recipe.kind is kind
        if same and voxel in (0.0, recipe.voxel) and poses in (0, recipe.poses):
            return found
    except MapFileError:
        pass
    told = partial(progress, path.name)
    return build_map(
        robot, path, kind=kind, voxel=voxel, poses=poses, workers=workers, progress=told
    )
