"""Distance and winding number of triangle meshes by their plain definitions, in NumPy."""

import numpy as np

from kinetarium.spatial.arrays import Array


def distances(points: Array, triangles: Array) -> Array:
    """Return the distance of each point from the nearest triangle [m].

    Args:
        points: The points [m], shape (n, 3).
        triangles: Corners of the triangles [m], shape (m, 3, 3).

    Returns:
        The distances, shape (n,).
    """
    p = points[:, None]
    corners = np.moveaxis(triangles, 1, 0)
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    inside = np.ones((len(points), len(triangles)), dtype=bool)
    nearest = np.full(inside.shape, np.inf)
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        edge = b - a
        inside &= np.vecdot(np.cross(normal, edge), p - a) >= 0
        squared = np.vecdot(edge, edge)
        along = np.vecdot(p - a, edge) / np.where(squared > 0, squared, 1.0)
        gap = p - a - np.clip(along, 0, 1)[..., None] * edge
        nearest = np.minimum(nearest, np.linalg.norm(gap, axis=-1))
    length = np.linalg.norm(normal, axis=-1)
    inside &= length > 0
    height = np.abs(np.vecdot(normal, p - corners[0])) / np.where(length > 0, length, 1.0)
    result: Array = np.where(inside, height, nearest).min(axis=1)
    return result


def winding_numbers(points: Array, triangles: Array) -> Array:
    """Return how often triangles wind around each point, by their solid angles.

    The solid angle of a triangle is that of Van Oosterom and Strackee, 1983.

    Args:
        points: The points [m], shape (n, 3).
        triangles: Corners of the triangles [m], shape (m, 3, 3).

    Returns:
        The winding numbers, shape (n,).
    """
    a, b, c = np.moveaxis(triangles - points[:, None, None], 2, 0)
    la, lb, lc = (np.linalg.norm(r, axis=-1) for r in (a, b, c))
    volume = np.vecdot(a, np.cross(b, c))
    spread = la * lb * lc + np.vecdot(a, b) * lc + np.vecdot(a, c) * lb + np.vecdot(b, c) * la
    result: Array = np.arctan2(volume, spread).sum(axis=1) / (2 * np.pi)
    return result
