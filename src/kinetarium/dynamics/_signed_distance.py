"""Signed distance of points from shapes, negative inside."""

from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np

from kinetarium.dynamics.triangle_groups import TriangleGroups
from kinetarium.model.mesh.mesh import mesh_of
from kinetarium.model.robot import (
    Box,
    Capsule,
    Cylinder,
    Geometry,
    MeshData,
    MeshFile,
    Shape,
    Sphere,
)
from kinetarium.spatial.arrays import Array

SignedDistance = Callable[[Array], Array]
"""Computes the signed distances [m], shape (n,), of points [m], shape (n, 3)."""


def signed_distance(shape: Shape) -> SignedDistance:
    """Return the signed distance from a shape, in the shape's frame.

    A mesh counts as solid where it winds around a point more than half a time
    (Jacobson et al., "Robust Inside-Outside Segmentation using Generalized
    Winding Numbers", 2013), so that small holes do not matter.

    Raises:
        RobotFileError: If a mesh file cannot be loaded.
    """
    match shape:
        case Box(size):
            return lambda p: _beyond(np.abs(p) - np.array(size) / 2)
        case Sphere(radius):
            return lambda p: np.linalg.norm(p, axis=1) - radius
        case Cylinder(radius, length):
            return lambda p: _beyond(_radius_and_height(p) - [radius, length / 2])
        case Capsule(radius, length):
            return lambda p: _from_segment(p, length=length) - radius
        case MeshFile() | MeshData():
            mesh = mesh_of(shape)
            return _from_mesh(mesh.vertices[mesh.faces])


def union_distance(geometries: Sequence[Geometry], *, surface: Array) -> SignedDistance:
    """Return the signed distance from several shapes together, in the link frame.

    Inside, where the exact depth is not known in closed form, it may be less.

    Args:
        geometries: The shapes, at least one.
        surface: Triangles of their common surface [m], shape (m, 3, 3).
    """
    parts = [(signed_distance(part.shape), part.X_LG) for part in geometries]

    def nearest(points: Array) -> Array:
        # (p - t) R is R' (p - t) for points in rows.
        each = (part((points - X[:3, 3]) @ X[:3, :3]) for part, X in parts)
        return reduce(np.minimum, each)

    if len(parts) == 1:
        return nearest
    away = distance_from_triangles(surface)

    def distance(points: Array) -> Array:
        result = nearest(points)
        inside = result < 0
        # The part of a surface that is inside another shape does not count.
        result[inside] = np.minimum(result[inside], -away(points[inside]))
        return result

    return distance


def _beyond(gap: Array) -> Array:
    """Combine the distances beyond each pair of faces, shape (n, k), into one, shape (n,)."""
    outside: Array = np.linalg.norm(np.maximum(gap, 0.0), axis=1)
    depth: Array = np.minimum(gap.max(axis=1), 0.0)
    return outside + depth


def _radius_and_height(points: Array) -> Array:
    """Return the distances from the z axis and from the plane z = 0, shape (n, 2)."""
    return np.column_stack([np.hypot(points[:, 0], points[:, 1]), np.abs(points[:, 2])])


def _from_segment(points: Array, *, length: float) -> Array:
    """Return the distance from a segment centred along z, shape (n,)."""
    beyond = np.maximum(np.abs(points[:, 2]) - length / 2, 0.0)
    distance: Array = np.linalg.norm(np.column_stack([points[:, :2], beyond]), axis=1)
    return distance


def _from_mesh(triangles: Array) -> SignedDistance:
    # Imported here, since Numba takes a second to load.
    from kinetarium.dynamics import _mesh_kernel as mesh_kernel

    groups = TriangleGroups.of(triangles)

    def distance(points: Array) -> Array:
        away = mesh_kernel.distances(points, groups)
        return np.where(np.abs(mesh_kernel.winding_numbers(points, groups)) > 0.5, -away, away)

    return distance


def distance_from_triangles(triangles: Array) -> SignedDistance:
    """Return the distance, never negative, from triangles [m], shape (m, 3, 3)."""
    from kinetarium.dynamics import _mesh_kernel as mesh_kernel

    groups = TriangleGroups.of(triangles)
    return lambda points: mesh_kernel.distances(points, groups)
