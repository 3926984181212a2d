"""Mass properties of meshes by MuJoCo's rules."""

from collections.abc import Iterator
from enum import StrEnum
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetarium.model.robot import Inertia
from kinetarium.model.shapes import TriangleMesh
from kinetarium.model.triangles import BrokenMeshError
from kinetarium.spatial.arrays import Array, frozen

_LEAST_VOLUME = 1e-15
_PIECE = 100_000
"""Triangles are taken so many at a time, for a few large arrays would fill the memory."""

Simplices = Iterator[tuple[Array, Array]]
"""Masses, shape (n,), and corners, shape (n, 3 or 4, 3), of triangles or pyramids."""


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
        mesh: The triangles [m]; those of its hull if it is to be filled as that.
        rule: How it is filled.

    Raises:
        BrokenMeshError: If it encloses nothing.
    """
    if rule is MeshInertia.EXACT and not _are_consistent(mesh.faces):
        raise BrokenMeshError("some of its triangles face inwards")
    triangles = partial(_simplices, mesh.vertices, mesh.faces, rule=rule)
    area, first = _first_moment(triangles(apex=None))
    if area <= _LEAST_VOLUME:
        raise BrokenMeshError("it has no surface")
    middle = first / area
    if rule is MeshInertia.SHELL:
        return _summed(triangles(apex=None), middle)
    volume, first = _first_moment(triangles(apex=middle))
    if volume <= _LEAST_VOLUME:
        raise BrokenMeshError("it encloses no volume, or its triangles face inwards")
    center = first / volume
    # MuJoCo takes the pyramids again from the centre of mass, which matters where they overlap.
    return _summed(triangles(apex=center), center)


def _are_consistent(faces: NDArray[np.integer[Any]]) -> bool:
    """Return whether no edge runs the same way in two triangles, as MuJoCo asks of exact solids."""
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]).astype(np.int64)
    numbers = np.sort(edges[:, 0] * (int(faces.max()) + 1) + edges[:, 1])
    return not np.any(numbers[1:] == numbers[:-1])


def _simplices(
    vertices: Array, faces: NDArray[np.integer[Any]], *, rule: MeshInertia, apex: Array | None
) -> Simplices:
    """Give triangles with their areas or, over an apex, pyramids with their volumes."""
    for start in range(0, len(faces), _PIECE):
        corners = vertices[faces[start : start + _PIECE]]
        if apex is None:
            normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
            yield np.linalg.norm(normals, axis=1) / 2, corners
            continue
        a, b, c = (corners[:, i] - apex for i in range(3))
        volumes = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6
        if rule is MeshInertia.LEGACY:
            volumes = np.abs(volumes)
        tops = np.broadcast_to(apex, (len(corners), 1, 3))
        yield volumes, np.concatenate([corners, tops], axis=1)


def _first_moment(simplices: Simplices) -> tuple[float, Array]:
    """Give the mass of simplices of uniform density, and that times their centre of mass."""
    mass, first = 0.0, np.zeros(3)
    for masses, corners in simplices:
        mass += float(masses.sum())
        first += masses @ corners.mean(axis=1)
    return mass, first


def _summed(simplices: Simplices, center: Array) -> Inertia:
    """Add up simplices of uniform density about a centre.

    The second moment of a simplex of mass m and n corners r_i about the origin
    is m (sum r_i r_i^T + s s^T) / (n (n + 1)) with s = sum r_i.
    """
    mass, second = 0.0, np.zeros((3, 3))
    for masses, corners in simplices:
        arms = corners - center
        count = corners.shape[1]
        total = arms.sum(axis=1)
        weighted = (masses[:, None, None] * arms).reshape(-1, 3)
        squares = weighted.T @ arms.reshape(-1, 3) + (masses[:, None] * total).T @ total
        second += squares / (count * (count + 1))
        mass += float(masses.sum())
    moment = np.trace(second) * np.eye(3) - second
    return Inertia(mass, frozen(center), frozen(moment))
