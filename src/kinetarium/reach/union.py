"""Maps of bases for many poses: what the maps of the single poses add up to."""

from math import acos, floor, pi, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetarium.dynamics.compiled import compiled
from kinetarium.reach.grid import VoxelGrid
from kinetarium.reach.map_layout import FULL, GradedGrid
from kinetarium.reach.plane import Plane
from kinetarium.reach.slice import slice_plainly, slice_values
from kinetarium.spatial.arrays import Array

MOST_POINTS = 400
"""Points along a side at most; poses that are far apart get a coarser raster."""
GRADES = np.arange(FULL + 1) / np.float64(FULL)
"""The part of the poses that each grade stands for."""


def base_raster(poses: Array, *, radius: float, step: float) -> tuple[Array, Array]:
    """Lay one raster over all places from which one of the poses may be reached.

    Args:
        poses: Poses of the tool, shape (n, 4, 4).
        radius: How far a base may be from a pose along an axis [m].
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


def union_of_slices(
    values: NDArray[np.float32],
    poses: Array,
    *,
    plane: Plane,
    grid: VoxelGrid,
    x: Array,
    y: Array,
    plainly: bool = False,
) -> Array:
    """Add up the slices of a 3-D map for all poses (lines 6 to 11 of Algorithm 2).

    Args:
        values: The map, shape (count, count, count).
        poses: Poses of the tool in the world, shape (n, 4, 4).
        plane: The plane of bases.
        grid: The map's grid.
        x: World coordinates x of the raster [m].
        y: World coordinates y of the raster [m].
        plainly: Whether to follow the definition instead of the kernel.

    Returns:
        The sum at each point, shape (len(x), len(y)).
    """
    cut = slice_plainly if plainly else slice_values
    total = np.zeros((len(x), len(y)))
    for X_WT in poses:
        total += cut(values, X_WT, plane=plane, grid=grid, x=x, y=y)
    return total


class Cells(NamedTuple):
    """The cells of a graded map that the points of a raster fall into for one pose.

    Attributes:
        layer: Cell of the height.
        tilt: Cell of the angle theta.
        i: Cells of x*, 0 outside, shape (n, m).
        j: Cells of y*, 0 outside, shape (n, m).
        inside: Whether a point lies inside the map, shape (n, m).
    """

    layer: int
    tilt: int
    i: NDArray[np.int64]
    j: NDArray[np.int64]
    inside: NDArray[np.bool_]

    def values(self, field: NDArray[Any]) -> Array:
        """Give the values of a field, 0 outside, shape (n, m)."""
        return np.where(self.inside, field[self.layer, self.tilt, self.i, self.j], 0.0)


def cells_under(grid: GradedGrid, X_PT: Array, *, x: Array, y: Array) -> Cells:
    """Find the cells of bases for one pose: the definition.

    Args:
        grid: The map's cells.
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
        weights: What each grade counts, shape (256,).
        grid: The map's cells.
        poses: Poses of the tool in a frame whose z axis is the bases', shape (n, 4, 4).
        x: Coordinates x of the raster in that frame [m], shape (n,).
        y: Coordinates y of the raster [m], shape (m,).
        total: Added to, shape (n, m).
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
