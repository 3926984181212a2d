"""Reachability maps as volumes of bytes: one grade from 0 to 255 for each voxel."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetarium.model.load import catalogue_names
from kinetarium.reach.maps.files import ReachMap, open_map
from kinetarium.reach.maps.recipe import FULL, MapKind, graded_grid
from kinetarium.spatial.arrays import Array
from kinetarium.storage.strict_json import strict_json
from kinetarium.studio.http import HttpError
from kinetarium.studio.streams import compressed

MOST_PER_AXIS = 160
"""Maximum voxels along an axis; larger maps are reduced to blocks with their best value."""

_FULL = 255


@dataclass(frozen=True, slots=True, eq=False)
class Volume:
    """A field of a map in space.

    Attributes:
        grades: 0 where nothing is reached, else 1 to 255, shape (x, y, z).
        lower: The corner of the first voxel in the map's frame [m], shape (3,).
        voxel: Edge of a voxel [m].
        greatest: The value of the grade 255.
        unit: Its unit.
    """

    grades: NDArray[np.uint8]
    lower: tuple[float, float, float]
    voxel: float
    greatest: float
    unit: str


def describe_volumes(path: Path) -> dict[str, Any]:
    """Return the fields of a map, as JSON data."""
    reach_map = open_map(path)
    recipe = reach_map.recipe
    return {
        "kind": str(recipe.kind),
        "robot": recipe.robot,
        "tool": recipe.tool,
        "base": recipe.base_link,
        "voxel": recipe.voxel,
        "poses": recipe.poses,
        "fields": list(reach_map.fields),
        "shown": recipe.kind is MapKind.CAPABILITY and recipe.robot in catalogue_names(),
    }


def read_volume(path: Path, field: str) -> Volume | None:
    """Return a field of a map as a volume, or None if it has no such field."""
    reach_map = open_map(path)
    if field not in reach_map.fields:
        return None
    values = np.asarray(reach_map.fields[field], dtype=np.float64)
    if reach_map.recipe.kind is MapKind.IRM4:
        return _graded(reach_map, field, values)
    lower = reach_map.grid.lower
    greatest, unit = float(values.max(initial=0.0)), reach_map.units[field]
    if field == "reachable":
        greatest, unit = float(reach_map.recipe.poses), f"of {reach_map.recipe.poses} poses"
    return _volume(
        values, (lower, lower, lower), voxel=reach_map.grid.size, greatest=greatest, unit=unit
    )


def _graded(reach_map: ReachMap, field: str, values: Array) -> Volume:
    """Return a graded map over base position and height, at its best tilt."""
    grid = graded_grid(reach_map.recipe)
    best = values.max(axis=1).transpose(1, 2, 0)
    greatest = float(FULL) if field == "reach" else float(best.max(initial=0.0))
    lower = (grid.lower, grid.lower, grid.bottom)
    return _volume(best, lower, voxel=grid.size, greatest=greatest, unit=reach_map.units[field])


def _volume(
    values: Array, lower: tuple[float, float, float], *, voxel: float, greatest: float, unit: str
) -> Volume:
    block = -(-max(values.shape) // MOST_PER_AXIS)
    if block > 1:
        padding = [(0, -size % block) for size in values.shape]
        x, y, z = (size // block for size in np.pad(values, padding).shape)
        values = np.pad(values, padding).reshape(x, block, y, block, z, block).max(axis=(1, 3, 5))
    share = np.clip(values / greatest if greatest > 0 else values, 0.0, 1.0)
    # Everything reachable is visible.
    grades = np.where(values > 0, np.maximum(np.rint(share * _FULL), 1), 0).astype(np.uint8)
    return Volume(grades, lower, voxel * block, greatest, unit)


Cuts = tuple[float, float, float, float, float, float, float]
"""The visible part of a volume: from and to along x, y and z, and the lowest grade, 0 to 1."""

HALF: Cuts = (0.0, 1.0, 0.5, 1.0, 0.0, 1.0, 0.0)
"""The half towards the default viewpoint is cut away."""


def volume_file(path: Path, field: str, *, cuts: Cuts = HALF) -> bytes:
    """Return a field of a map: length of the head [bytes, u32], head as JSON, gzip'd grades."""
    volume = read_volume(path, field)
    if volume is None:
        raise HttpError(404, "no such field")
    info = describe_volumes(path)
    head = {
        "title": f"{field}: {info['kind']} of {info['robot']} at {info['tool']}, voxels of"
        f" {info['voxel']:g} m, {info['poses']} poses each",
        "shape": volume.grades.shape,
        "lower": volume.lower,
        "voxel": volume.voxel,
        "greatest": volume.greatest,
        "unit": volume.unit,
        "cuts": cuts,
    }
    text = strict_json(head, indent=None).encode()
    # In a texture x varies fastest.
    data = compressed(volume.grades.tobytes(order="F"))
    return len(text).to_bytes(4, "little") + text + data
