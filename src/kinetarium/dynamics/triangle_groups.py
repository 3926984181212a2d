"""TriangleGroups: triangles sorted into groups of neighbours, for fast mesh queries."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetarium.spatial.arrays import Array

GROUP = 16
"""Triangles of a group, roughly."""
MOST_GROUPS = 4096
"""Groups at most; larger meshes get larger groups."""


class TriangleGroups(NamedTuple):
    """Triangles sorted by group, with bounds of each group.

    Attributes:
        triangles: Corners of the triangles [m], shape (m, 3, 3).
        starts: First triangle of each group, and the end, shape (groups + 1,).
        centers: Centres of the groups' bounding spheres [m], shape (groups, 3).
        radii: Their radii [m], shape (groups,).
        areas: Sums of the groups' area vectors [m^2], shape (groups, 3).
        middles: Centroids of the triangles [m], shape (m, 3).
        reaches: How far their corners are from them [m], shape (m,).
    """

    triangles: Array
    starts: NDArray[np.int64]
    centers: Array
    radii: Array
    areas: Array
    middles: Array
    reaches: Array

    @classmethod
    def of(cls, triangles: Array) -> "TriangleGroups":
        """Sort triangles, shape (m, 3, 3), into the cells of a grid."""
        middles = triangles.mean(axis=1)
        # A closed surface crosses about 6 n^2 cells of a grid with n cells along an edge.
        cells = np.ceil((min(len(triangles) / GROUP, MOST_GROUPS) / 6) ** 0.5)
        span = np.ptp(middles, axis=0).max() or 1.0
        keys = ((middles - middles.min(axis=0)) / span * cells).astype(np.int64)
        order = np.lexsort(keys.T)
        triangles, middles, keys = triangles[order], middles[order], keys[order]
        firsts = np.append(0, np.flatnonzero((keys[1:] != keys[:-1]).any(axis=1)) + 1)
        starts = np.append(firsts, len(triangles))
        low = np.minimum.reduceat(triangles.min(axis=1), firsts)
        high = np.maximum.reduceat(triangles.max(axis=1), firsts)
        centers = (low + high) / 2
        radii = np.maximum.reduceat(
            _reach(triangles, np.repeat(centers, np.diff(starts), axis=0)), firsts
        )
        a, b, c = triangles.transpose(1, 0, 2)
        areas = np.add.reduceat(np.cross(b - a, c - a) / 2, firsts)
        reaches = _reach(triangles, middles)
        return cls(triangles, starts, centers, radii, areas, middles, reaches)


def _reach(triangles: Array, points: Array) -> Array:
    """Return how far each triangle's farthest corner is from a point of its own [m]."""
    reach: Array = np.linalg.norm(triangles - points[:, None], axis=2).max(axis=1)
    return reach
