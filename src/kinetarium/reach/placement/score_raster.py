"""Scores of base positions on a raster: sums of the maps of single poses."""

from dataclasses import dataclass
from math import acos, floor, pi, sqrt
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetarium.errors import KinetariumError
from kinetarium.reach.ik.solve import checked_poses
from kinetarium.reach.maps.files import MapFileError, ReachMap
from kinetarium.reach.maps.grid import VoxelGrid
from kinetarium.reach.maps.recipe import FULL, GradedGrid, MapKind, graded_grid
from kinetarium.reach.maps.slice import slice_values
from kinetarium.reach.placement.files import write_result
from kinetarium.reach.placement.plane import FLOOR, BasePlane
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.compiled import compiled
from kinetarium.spatial.rotation import inverse_pose

MOST_POINTS = 400
"""Greatest number of points along a side; poses that are far apart get a coarser raster."""
GRADES = np.arange(FULL + 1) / np.float64(FULL)
"""The fraction of reachable poses of each grade."""


def base_raster(poses: Array, *, radius: float, step: float) -> tuple[Array, Array]:
    """Return a raster of all positions from which one of the poses may be reached.

    Args:
        poses: Poses of the tool, shape (n, 4, 4).
        radius: Greatest distance of a base from a pose along an axis [m].
        step: Distance of neighbouring points [m].

    Returns:
        The coordinates x and y of its points [m].
    """
    axes = []
    for axis in range(2):
        p = poses[:, axis, 3]
        middle, half = (p.min() + p.max()) / 2, (p.max() - p.min()) / 2 + radius
        count = min(int(2 * half / step), MOST_POINTS)
        axes.append(middle + np.linspace(-half, half, count))
    return axes[0], axes[1]


def sum_of_slices(
    values: NDArray[np.float32],
    poses: Array,
    *,
    plane: BasePlane,
    grid: VoxelGrid,
    x: Array,
    y: Array,
) -> Array:
    """Add up the slices of a 3-D map for all poses (lines 6 to 11 of Algorithm 2).

    Args:
        values: The map, shape (count, count, count).
        poses: Poses of the tool in the world, shape (n, 4, 4).
        x: World coordinates x of the raster [m].
        y: World coordinates y of the raster [m].

    Returns:
        The sum at each point, shape (len(x), len(y)).
    """
    total = np.zeros((len(x), len(y)))
    for X_WT in poses:
        total += slice_values(values, X_WT, plane=plane, grid=grid, x=x, y=y)
    return total


class Cells(NamedTuple):
    """The cells of a graded map that contain the points of a raster for one pose.

    Attributes:
        layer: Cell of the height.
        tilt: Cell of the angle theta.
        i: Cells of x*, 0 outside, shape (n, m).
        j: Cells of y*, 0 outside, shape (n, m).
        inside: Whether a point is inside the map, shape (n, m).
    """

    layer: int
    tilt: int
    i: NDArray[np.int64]
    j: NDArray[np.int64]
    inside: NDArray[np.bool_]

    def values(self, field: NDArray[Any]) -> Array:
        """Return the values of a field, 0 outside, shape (n, m)."""
        return np.where(self.inside, field[self.layer, self.tilt, self.i, self.j], 0.0)


def cells_under(grid: GradedGrid, X_PT: Array, *, x: Array, y: Array) -> Cells:
    """Find the cells of bases for one pose: the definition.

    Args:
        X_PT: The pose of the tool in a frame whose z axis is the bases', shape (4, 4).
        x: Coordinates x of the raster in that frame [m], shape (n,).
        y: Coordinates y of the raster [m], shape (m,).
    """
    per_size = 1.0 / grid.size
    layer = floor((X_PT[2, 3] - grid.bottom) * per_size)
    theta = acos(min(max(X_PT[2, 2], -1.0), 1.0))
    tilt = min(int(theta * (grid.tilts / pi)), grid.tilts - 1)
    flat = sqrt(X_PT[0, 2] ** 2 + X_PT[1, 2] ** 2)
    c, s = (X_PT[0, 2] / flat, X_PT[1, 2] / flat) if flat > 0.0 else (1.0, 0.0)
    dx, dy = (x - X_PT[0, 3])[:, None], (y - X_PT[1, 3])[None]
    e = np.floor((c * dx + s * dy - grid.lower) * per_size)
    f = np.floor((c * dy - s * dx - grid.lower) * per_size)
    inside = (e >= 0) & (e < grid.side) & (f >= 0) & (f < grid.side) & (0 <= layer < grid.layers)
    i, j = (np.where(inside, cells, 0).astype(np.int64) for cells in (e, f))
    return Cells(min(max(layer, 0), grid.layers - 1), tilt, i, j, inside)


@compiled
def grade_bases(
    values: NDArray[np.uint8],
    weights: Array,
    grid: GradedGrid,
    poses: Array,
    x: Array,
    y: Array,
    total: Array,
) -> None:
    """Add up a graded map over poses at the points of a raster, as `cells_under` defines them.

    Args:
        values: The grades, shape (layers, tilts, side, side).
        weights: Weight of each grade, shape (256,).
        poses: Poses of the tool in a frame whose z axis is the bases', shape (n, 4, 4).
        x: Coordinates x of the raster in that frame [m], shape (n,).
        y: Coordinates y of the raster [m], shape (m,).
        total: Input and output: the sum is added, shape (n, m).
    """
    per_size = 1.0 / grid.size
    for n in range(len(poses)):
        X = poses[n]
        layer = int(np.floor((X[2, 3] - grid.bottom) * per_size))
        if layer < 0 or layer >= grid.layers:
            continue
        tilt = min(int(acos(min(max(X[2, 2], -1.0), 1.0)) * (grid.tilts / pi)), grid.tilts - 1)
        flat = sqrt(X[0, 2] ** 2 + X[1, 2] ** 2)
        c, s = (X[0, 2] / flat, X[1, 2] / flat) if flat > 0.0 else (1.0, 0.0)
        cells = values[layer, tilt]
        for i in range(len(x)):
            dx = x[i] - X[0, 3]
            for j in range(len(y)):
                dy = y[j] - X[1, 3]
                e = (c * dx + s * dy - grid.lower) * per_size
                f = (c * dy - s * dx - grid.lower) * per_size
                if 0.0 <= e < grid.side and 0.0 <= f < grid.side:
                    total[i, j] += weights[cells[np.uint32(e), np.uint32(f)]]


SUMMARY = "slice.json"


@dataclass(frozen=True, slots=True, eq=False)
class BaseSlice:
    """The base positions in a plane that reach one pose.

    Attributes:
        X_WT: The pose, shape (4, 4).
        plane: The plane of bases.
        x: Coordinates x of the points [m], shape (n,): in the world for irm3, along the
            plane for irm4.
        y: Coordinates y of the points [m], shape (m,).
        manipulability: Mean over the base poses that reach it [m^3], shape (n, m).
        reach: The fraction of the base poses that reach it, shape (n, m).
    """

    X_WT: Array
    plane: BasePlane
    x: Array
    y: Array
    manipulability: NDArray[np.float32]
    reach: NDArray[np.float32]

    @property
    def best(self) -> tuple[int, int]:
        """The point with most reaching base poses; ties go to the greatest manipulability."""
        order = np.lexsort((self.manipulability.ravel(), self.reach.ravel()))
        i, j = divmod(int(order[-1]), len(self.y))
        return i, j


def slice_map(reach_map: ReachMap, pose: ArrayLike, *, plane: BasePlane = FLOOR) -> BaseSlice:
    """Slice an inverse map by a plane of bases (Algorithm 1).

    The points are spaced like the map's voxels, around the position of the pose.

    Args:
        reach_map: An inverse reachability map.
        pose: The pose X_WT of the tool in the world, shape (4, 4).

    Raises:
        MapFileError: If the map is a capability map.
        KinetariumError: If the pose is invalid, or no base in the plane reaches it.
    """
    recipe, fields = reach_map.recipe, reach_map.fields
    X_WT = checked_poses(np.asarray(pose)[None])[0]
    axis = reach_map.grid.axis
    match recipe.kind:
        case MapKind.IRM3:
            x, y, grid = X_WT[0, 3] + axis, X_WT[1, 3] + axis, reach_map.grid
            w = slice_values(fields["manipulability"], X_WT, plane=plane, grid=grid, x=x, y=y)
            reach = fields["reachable"].astype(np.float32) / np.float32(recipe.poses)
            part = slice_values(reach, X_WT, plane=plane, grid=grid, x=x, y=y)
        case MapKind.IRM4:
            X_PT = inverse_pose(plane.frame) @ X_WT
            x, y, grid4 = X_PT[0, 3] + axis, X_PT[1, 3] + axis, graded_grid(recipe)
            cells = cells_under(grid4, X_PT, x=x, y=y)
            part = (cells.values(fields["reach"]) / FULL).astype(np.float32)
            w = cells.values(fields["manipulability"]).astype(np.float32)
        case MapKind.CAPABILITY:
            raise MapFileError(
                f"{str(reach_map.path)!r} is a capability map: only inverse maps can be sliced"
            )
    if not part.any():
        raise KinetariumError(f"no base in the plane reaches the pose with {recipe.tool!r}")
    return BaseSlice(X_WT, plane, x, y, w, part)


def describe_slice(base_slice: BaseSlice) -> dict[str, Any]:
    """Return a description of a slice as JSON-like data."""
    reach, plane = base_slice.reach, base_slice.plane
    i, j = base_slice.best
    return {
        "pose": base_slice.X_WT.tolist(),
        "plane": {"normal": plane.normal, "height": plane.height},
        "units": {"x": "m", "y": "m", "manipulability": "m^3", "reach": "part of the poses"},
        "points": reach.size,
        "reachable_points": int((reach > 0).sum()),
        "best": {
            "x": float(base_slice.x[i]),
            "y": float(base_slice.y[j]),
            "reach": float(reach[i, j]),
            "manipulability": float(base_slice.manipulability[i, j]),
        },
    }


def write_slice(base_slice: BaseSlice, out: str | PathLike[str]) -> None:
    """Write a slice to a folder: its arrays and a description.

    Args:
        out: The folder, new or of an earlier slice.

    Raises:
        OutputError: If it cannot be written.
    """
    arrays = {name: getattr(base_slice, name) for name in ("x", "y", "manipulability", "reach")}
    write_result(out, SUMMARY, data=describe_slice(base_slice), arrays=arrays)
