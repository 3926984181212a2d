"""Mass properties of meshes by MuJoCo's rules."""

from enum import StrEnum

import numpy as np

from kinetarium.model.mjcf.hull import convex_hull
from kinetarium.model.robot import Inertia
from kinetarium.model.shapes import TriangleMesh
from kinetarium.model.triangles import BrokenMeshError
from kinetarium.spatial.arrays import Array, frozen

_LEAST_VOLUME = 1e-15


class MeshInertia(StrEnum):
    """How a mesh is filled with mass."""

    CONVEX = "convex"
    """As its convex hull."""
    EXACT = "exact"
    """As the solid that its triangles enclose."""
    LEGACY = "legacy"
    """As pyramids over its triangles that all count as filled, MuJoCo's own default."""
    SHELL = "shell"
    """On its surface only."""


def mesh_inertia(mesh: TriangleMesh, rule: MeshInertia) -> Inertia:
    """Give the inertia of a mesh of density one [1/m^3, or 1/m^2 for a shell].

    Args:
        mesh: The triangles [m].
        rule: How it is filled.

    Raises:
        BrokenMeshError: If it encloses nothing.
    """
    corners = mesh.vertices[mesh.faces]
    if rule is MeshInertia.CONVEX:
        corners = mesh.vertices[convex_hull(mesh.vertices)]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.linalg.norm(normals, axis=1) / 2
    if areas.sum() <= _LEAST_VOLUME:
        raise BrokenMeshError("it has no surface")
    middle = np.average(corners.mean(axis=1), axis=0, weights=areas)
    if rule is MeshInertia.SHELL:
        return _summed(areas, corners, middle)
    pyramids, apex = _volumes(corners, middle, rule), middle
    if pyramids.sum() <= _LEAST_VOLUME:
        raise BrokenMeshError("it encloses no volume, or its triangles face inwards")
    center = np.average((corners.sum(axis=1) + apex) / 4, axis=0, weights=pyramids)
    # MuJoCo takes the pyramids again from the centre of mass, which matters where they overlap.
    volumes = _volumes(corners, center, rule)
    with_apex = np.concatenate([corners, np.broadcast_to(center, (len(corners), 1, 3))], axis=1)
    return _summed(volumes, with_apex, center)


def _volumes(corners: Array, apex: Array, rule: MeshInertia) -> Array:
    a, b, c = (corners[:, i] - apex for i in range(3))
    volumes = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6
    return np.asarray(np.abs(volumes) if rule is MeshInertia.LEGACY else volumes)


def _summed(masses: Array, corners: Array, center: Array) -> Inertia:
    """Add up simplices of uniform density, given by their corners, about a centre.

    The second moment of a simplex of mass m and n corners r_i about the origin
    is m (sum r_i r_i^T + s s^T) / (n (n + 1)) with s = sum r_i.
    """
    arms = corners - center
    count = corners.shape[1]
    total = arms.sum(axis=1)
    weighted = (masses[:, None, None] * arms).reshape(-1, 3)
    second = weighted.T @ arms.reshape(-1, 3) + (masses[:, None] * total).T @ total
    second /= count * (count + 1)
    moment = np.trace(second) * np.eye(3) - second
    return Inertia(float(masses.sum()), frozen(center), frozen(moment))
