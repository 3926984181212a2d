"""Overlap of moving prisms by separating axes, as Numba kernels.

Two convex polytopes are apart if and only if they are along a face normal of one of them or a
cross product of two edges; the least overlap along these axes is the penetration depth
(S. Gottschalk, M. Lin, D. Manocha, "OBBTree", 1996).
"""

from math import inf, sqrt

import numpy as np
from numpy.typing import NDArray

from kinetarium.spatial.arrays import Array
from kinetarium.spatial.compiled import compiled

Indices = NDArray[np.int64]

_PARALLEL = 1e-10
"""Square of the sine of the angle below which two edges count as parallel."""


@compiled
def find_overlaps(
    corners: Array,
    corner_at: Indices,
    axes: Array,
    axis_at: Indices,
    faces: Indices,
    poses: Array,
    pairs: Indices,
    tolerance: float,
    depth: Array,
    worst: Indices,
    hits: NDArray[np.bool_],
) -> None:
    """Find the overlaps of all pairs of shapes in all frames.

    Args:
        corners: Corners of all shapes in their own frames [unit], shape (c, 3).
        corner_at: Where those of each shape begin, and the end, shape (s + 1,).
        axes: For each shape its face normals and then its edge directions, without parallel
            ones, in its own frame, shape (a, 3).
        axis_at: Where those of each shape begin, and the end, shape (s + 1,).
        faces: How many of them are normals, shape (s,).
        poses: Position and quaternion wxyz of each shape, shape (n, s, 7).
        pairs: The two shapes of each pair, and the leg that it counts for, shape (p, 3).
        tolerance: Depth above which shapes overlap [unit].
        depth: Filled with the greatest depth for each leg, 0 without any, shape (n, 4).
        worst: Filled with its pair, -1 without any, shape (n, 4).
        hits: Filled with whether each shape overlaps another, shape (n, s).
    """
    n, s = poses.shape[0], poses.shape[1]
    placed, turned = np.empty_like(corners), np.empty_like(axes)
    middles, radii = np.zeros((s, 3)), np.zeros(s)
    for shape in range(s):
        first, last = corner_at[shape], corner_at[shape + 1]
        middle = np.zeros(3)
        for k in range(first, last):
            middle += corners[k] / (last - first)
        middles[shape] = middle
        for k in range(first, last):
            radii[shape] = max(radii[shape], sqrt(((corners[k] - middle) ** 2).sum()))
    centers = np.empty((s, 3))
    # Shapes that an axis separates are often apart along it in the next frame as well.
    hints = np.zeros(len(pairs), dtype=np.int64)
    for i in range(n):
        depth[i], worst[i], hits[i] = 0.0, -1, False
        for shape in range(s):
            _place(poses[i, shape], middles[shape : shape + 1], centers[shape : shape + 1], True)
            first, last = corner_at[shape], corner_at[shape + 1]
            _place(poses[i, shape], corners[first:last], placed[first:last], True)
            first, last = axis_at[shape], axis_at[shape + 1]
            _place(poses[i, shape], axes[first:last], turned[first:last], False)
        for p in range(len(pairs)):
            a, b, leg = pairs[p, 0], pairs[p, 1], pairs[p, 2]
            dx = centers[a, 0] - centers[b, 0]
            dy = centers[a, 1] - centers[b, 1]
            dz = centers[a, 2] - centers[b, 2]
            if dx * dx + dy * dy + dz * dz > (radii[a] + radii[b]) ** 2:
                continue
            deep, hints[p] = _penetration(
                placed[corner_at[a] : corner_at[a + 1]],
                placed[corner_at[b] : corner_at[b + 1]],
                turned[axis_at[a] : axis_at[a + 1]],
                turned[axis_at[b] : axis_at[b + 1]],
                faces[a],
                faces[b],
                hints[p],
            )
            if deep > tolerance:
                hits[i, a] = hits[i, b] = True
                if deep > depth[i, leg]:
                    depth[i, leg], worst[i, leg] = deep, p


@compiled
def _place(pose: Array, local: Array, world: Array, moved: bool) -> None:
    """Rotate vectors, shape (k, 3), by a pose [x y z, wxyz], and move points as well."""
    w, x, y, z = pose[3], pose[4], pose[5], pose[6]
    xx, xy, xz = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    yx, yy, yz = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    zx, zy, zz = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
    for k in range(len(local)):
        a, b, c = local[k, 0], local[k, 1], local[k, 2]
        world[k, 0] = xx * a + xy * b + xz * c + (pose[0] if moved else 0.0)
        world[k, 1] = yx * a + yy * b + yz * c + (pose[1] if moved else 0.0)
        world[k, 2] = zx * a + zy * b + zz * c + (pose[2] if moved else 0.0)


@compiled
def _penetration(
    a: Array, b: Array, axes_a: Array, axes_b: Array, faces_a: int, faces_b: int, hint: int
) -> tuple[float, int]:
    """Return the penetration depth of two shapes, 0 if they are apart, and the deciding axis.

    Args:
        a: Corners of the first, shape (k, 3).
        b: Corners of the second, shape (m, 3).
        axes_a: Normals and edges of the first.
        axes_b: Normals and edges of the second.
        faces_a: Number of normals of the first.
        faces_b: Number of normals of the second.
        hint: The axis to try first.
    """
    edges_b = len(axes_b) - faces_b
    crosses = (len(axes_a) - faces_a) * edges_b
    least, decided = inf, hint
    for k in range(-1, faces_a + faces_b + crosses):
        axis = hint if k < 0 else k
        if axis < faces_a:
            x, y, z = axes_a[axis, 0], axes_a[axis, 1], axes_a[axis, 2]
        elif axis < faces_a + faces_b:
            j = axis - faces_a
            x, y, z = axes_b[j, 0], axes_b[j, 1], axes_b[j, 2]
        else:
            j = axis - faces_a - faces_b
            e, f = axes_a[faces_a + j // edges_b], axes_b[faces_b + j % edges_b]
            x = e[1] * f[2] - e[2] * f[1]
            y = e[2] * f[0] - e[0] * f[2]
            z = e[0] * f[1] - e[1] * f[0]
            square = x * x + y * y + z * z
            if square < _PARALLEL:
                continue
            length = sqrt(square)
            x, y, z = x / length, y / length, z / length
        low_a, high_a = _shadow(a, x, y, z)
        low_b, high_b = _shadow(b, x, y, z)
        overlap = min(high_a - low_b, high_b - low_a)
        if overlap <= 0.0:
            return 0.0, axis
        if overlap < least:
            least, decided = overlap, axis
    return least, decided


@compiled
def _shadow(points: Array, x: float, y: float, z: float) -> tuple[float, float]:
    """Return the least and the greatest coordinate of points along an axis."""
    low, high = inf, -inf
    for k in range(len(points)):
        value = points[k, 0] * x + points[k, 1] * y + points[k, 2] * z
        low, high = min(low, value), max(high, value)
    return low, high
