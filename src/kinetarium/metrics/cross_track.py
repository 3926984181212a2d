"""Cross-track error: how far points lie from a path, wherever on it they should be."""

import numpy as np

from kinetarium.spatial.arrays import Array

_BLOCK = 256
"""Points that are looked at together; bounds the memory."""


def cross_track(points: Array, path: Array) -> Array:
    """Give the distance of each point from the nearest point of a path [m], shape (n,).

    Args:
        points: The points [m], shape (n, d).
        path: Corners of straight pieces that stand for the path [m], shape (m, d), not all
            of them the same.
    """
    starts, edges = path[:-1], np.diff(path, axis=0)
    kept = np.einsum("md,md->m", edges, edges) > 0
    starts, edges = starts[kept], edges[kept]
    inverse = 1 / np.einsum("md,md->m", edges, edges)
    nearest = np.empty(len(points))
    for i in range(0, len(points), _BLOCK):
        # Axis by axis, shape (block, m) each: several times faster than one array of vectors.
        away = [
            p[:, np.newaxis] - s for p, s in zip(points[i : i + _BLOCK].T, starts.T, strict=True)
        ]
        share = sum(a * e for a, e in zip(away, edges.T, strict=True)) * inverse
        share = np.clip(share, 0.0, 1.0)
        squared = sum((a - share * e) ** 2 for a, e in zip(away, edges.T, strict=True))
        nearest[i : i + _BLOCK] = np.sqrt(np.asarray(squared).min(axis=1))
    return nearest
