"""PieceArrays: the convex pieces of a robot as arrays for kernels."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetarium.spatial.arrays import Array

CELLS = 256
"""Cells along each side of the tables for bodies that are connected by two joints."""


class PieceArrays(NamedTuple):
    """Convex pieces in clusters of neighbours, body by body.

    A body is everything that moves with one frame of a chain: body i with frame i, and the
    last body, the obstacles, with frame 0, like the base. A piece is a box or a cylinder, or a
    point or a segment with a radius around it, or the convex hull of points.

    Attributes:
        places: Poses of the pieces in their body's frame, rows [R p], shape (n, 3, 4).
        sizes: Of each piece the half edge lengths, the radius of the disc across z, the radius
            around these, the radii of a capsule along z and of a sphere around the whole piece
            [m], its first corner and the end of its corners, shape (n, 9). One array, because
            every further one costs time in the kernels. A piece with corners is a hull; its
            edges are those of a box around it.
        corners: Corners of the hulls in their piece's frame [m], shape (corners, 3).
        cluster_starts: First piece of each cluster, and the end, shape (clusters + 1,).
        clusters: Centre and radius of a sphere around each cluster [m], shape (clusters, 4).
        body_starts: First cluster of each body, and the end, shape (bodies + 1,).
        bodies: Centre and radius of a sphere around each body [m], shape (bodies, 4).
        frames: The frame that each body moves with, shape (bodies,).
        pairs: The pairs of bodies to be checked, shape (pairs, 2).
        apart: 1 where a body and the next but one are surely apart, by the positions of the
            two joints between them; eight cells to a byte, so that a table stays in the
            cache, shape (bodies, CELLS, CELLS / 8).
        spans: For each joint its least position and the cells per unit, shape (joints, 2).
    """

    places: Array
    sizes: Array
    corners: Array
    cluster_starts: NDArray[np.int64]
    clusters: Array
    body_starts: NDArray[np.int64]
    bodies: Array
    frames: NDArray[np.int64]
    pairs: NDArray[np.int64]
    apart: NDArray[np.uint8]
    spans: Array
