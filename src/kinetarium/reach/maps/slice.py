"""2-D inverse reachability maps: base positions in a plane that reach one pose.

Algorithm 1 of the paper: the plane of bases slices the 3-D map, which is fixed to the tool.
With the plane's slopes included, the tool coordinates of a point of the plane are linear in
its world coordinates, so that the kernel adds one vector per point.
"""

import numpy as np
from numpy.typing import NDArray

from kinetarium.reach.maps.grid import VoxelGrid
from kinetarium.reach.placement.plane import BasePlane
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.compiled import compiled

Values = NDArray[np.float32]


def slice_values(
    values: Values, X_WT: Array, *, plane: BasePlane, grid: VoxelGrid, x: Array, y: Array
) -> Values:
    """Slice a 3-D map by a plane.

    Args:
        values: The map, one value per voxel, shape (count, count, count).
        X_WT: Pose of the tool, to which the map is fixed, shape (4, 4).
        grid: The map's grid in the tool's frame.
        x: World coordinates x of the points [m], shape (n,).
        y: World coordinates y of the points [m], shape (m,).

    Returns:
        The value of the voxel that contains each point of the plane, 0 outside, shape (n, m).
    """
    result = np.empty((len(x), len(y)), np.float32)
    slope_x, slope_y = plane.slopes
    cut(values, X_WT, slope_x, slope_y, plane.height, x, y, grid.lower, 1.0 / grid.size, result)
    return result


@compiled
def cut(
    values: Values,
    X_WT: Array,
    slope_x: float,
    slope_y: float,
    height: float,
    x: Array,
    y: Array,
    lower: float,
    per_size: float,
    result: Values,
) -> None:
    """Write the values of a map at the points of a plane.

    Args:
        values: The map, shape (count, count, count).
        X_WT: Pose of the tool, shape (4, 4).
        slope_x: How much the plane rises along x.
        slope_y: How much it rises along y.
        height: Its height over the world's origin [m].
        x: World coordinates x of the points [m], shape (n,).
        y: World coordinates y of the points [m], shape (m,).
        lower: The least coordinate inside the map [m].
        per_size: Voxels per metre.
        result: Output, shape (n, m).
    """
    count = values.shape[0]
    flat = values.reshape(-1)
    R, px, py = X_WT, X_WT[0, 3], X_WT[1, 3]
    below = (height + (slope_x * px + slope_y * py)) - X_WT[2, 3]
    shift, where = np.empty((3, len(y))), np.empty(len(y), np.int32)
    for axis in range(3):
        slope = R[1, axis] + slope_y * R[2, axis]
        for j in range(len(y)):
            shift[axis, j] = slope * (y[j] - py)
    across, along, up = shift[0], shift[1], shift[2]
    a = R[0, 0] + slope_x * R[2, 0], R[0, 1] + slope_x * R[2, 1], R[0, 2] + slope_x * R[2, 2]
    o = below * R[2, 0], below * R[2, 1], below * R[2, 2]
    for i in range(len(x)):
        u = x[i] - px
        p, q, r = o[0] + a[0] * u, o[1] + a[1] * u, o[2] + a[2] * u
        # Two loops, so that the first has no branch and is vectorized.
        for j in range(len(y)):
            e = ((p + across[j]) - lower) * per_size
            f = ((q + along[j]) - lower) * per_size
            g = ((r + up[j]) - lower) * per_size
            inside = (e >= 0.0) & (e < count) & (f >= 0.0) & (f < count) & (g >= 0.0) & (g < count)
            voxel = (np.int32(e) * count + np.int32(f)) * count + np.int32(g)
            where[j] = voxel if inside else -1
        row = result[i]
        for j in range(len(y)):
            row[j] = flat[np.uint32(where[j])] if where[j] >= 0 else np.float32(0)
