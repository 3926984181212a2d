"""Fewer triangles for display: vertex clustering with quadric-optimal corners.

The vertices in each cell of a regular grid become one, placed where it lies
nearest to the planes of the triangles around it (Lindstrom, "Out-of-core
simplification of large polygonal models", SIGGRAPH 2000), which keeps the flat
faces and sharp edges of machines.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetarium.model.shapes import TriangleMesh
from kinetarium.model.triangles import read_only_mesh
from kinetarium.spatial.arrays import Array

Indices = NDArray[np.int64]

_FINEST = 1024
"""Cells along the longest side beyond which nothing could be told apart on a screen."""


def decimate(mesh: TriangleMesh, *, most_faces: int) -> TriangleMesh:
    """Simplify a mesh for display.

    Args:
        mesh: The mesh.
        most_faces: The most triangles the result may have.

    Returns:
        The mesh itself where it is small enough, else the finest clustering
        that is.
    """
    if len(mesh.faces) <= most_faces:
        return mesh
    coarse, fine = 1, _FINEST
    best = _cluster(mesh, coarse)
    while fine - coarse > max(1, coarse // 16):
        middle = round((coarse * fine) ** 0.5) if coarse * 2 < fine else (coarse + fine) // 2
        clusters = _cluster(mesh, middle)
        if len(clusters.faces) <= most_faces:
            coarse, best = middle, clusters
        else:
            fine = middle
    return _rebuild(mesh, best)


class _Clusters(NamedTuple):
    """A clustering: the cluster of each vertex, and the triangles that keep three corners."""

    of_vertex: Indices
    faces: Indices
    cell: float


def _cluster(mesh: TriangleMesh, cells: int) -> _Clusters:
    low = mesh.vertices.min(axis=0)
    cell = float((mesh.vertices.max(axis=0) - low).max()) / cells
    i, j, k = np.floor((mesh.vertices - low) / (cell or 1.0)).astype(np.int64).T
    _, of_vertex = np.unique((i * (cells + 1) + j) * (cells + 1) + k, return_inverse=True)
    faces = of_vertex[mesh.faces]
    a, b, c = faces.T
    faces = faces[(a != b) & (b != c) & (c != a)]
    _, first = np.unique(np.sort(faces, axis=1), axis=0, return_index=True)
    return _Clusters(of_vertex, faces[np.sort(first)], cell)


def _rebuild(mesh: TriangleMesh, clusters: _Clusters) -> TriangleMesh:
    points = _best_points(mesh, clusters)
    used, faces = np.unique(clusters.faces, return_inverse=True)
    return read_only_mesh(points[used], faces.reshape(-1, 3))


def _best_points(mesh: TriangleMesh, clusters: _Clusters) -> Array:
    """Give each cluster the point nearest to its planes, at most half a cell from its mean."""
    count = int(clusters.of_vertex.max()) + 1
    members = np.bincount(clusters.of_vertex, minlength=count)[:, None]
    means = np.column_stack(
        [np.bincount(clusters.of_vertex, axis, minlength=count) for axis in mesh.vertices.T]
    ) / np.maximum(members, 1)

    p, q, r = mesh.vertices[mesh.faces].transpose(1, 0, 2)
    normals = np.cross(q - p, r - p)  # of twice the area, which is their weight
    A, b = np.zeros((count, 3, 3)), np.zeros((count, 3))
    for corner in mesh.faces.T:
        cluster = clusters.of_vertex[corner]
        heights = np.einsum("ij,ij->i", normals, p - means[cluster])
        np.add.at(A, cluster, normals[:, :, None] * normals[:, None, :])
        np.add.at(b, cluster, heights[:, None] * normals)

    # Directions that the planes hardly constrain stay at the mean.
    values, vectors = np.linalg.eigh(A)
    firm = values > 1e-3 * values[:, -1:]
    inverse = np.where(firm, 1.0 / np.where(firm, values, 1.0), 0.0)
    along = np.einsum("nji,nj->ni", vectors, b) * inverse
    steps = np.einsum("nij,nj->ni", vectors, along)
    points: Array = means + np.clip(steps, -clusters.cell / 2, clusters.cell / 2)
    return points
