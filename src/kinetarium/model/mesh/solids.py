"""Shapes as solids: mass properties, triangulated surfaces and bounding boxes.

Everything is in the frame of the shape.
"""

from itertools import product
from math import pi

import numpy as np

from kinetarium.model.mesh.mesh import mesh_of
from kinetarium.model.mesh.triangles import read_only_mesh
from kinetarium.model.robot import (
    Box,
    Capsule,
    Cylinder,
    Inertia,
    MeshData,
    MeshFile,
    Shape,
    Sphere,
    TriangleMesh,
)
from kinetarium.spatial.arrays import Array, frozen

_LEAST_FILLING = 1e-6
"""A mesh that fills a smaller fraction of its bounding box counts as enclosing no volume."""

_BOX_CORNERS = np.array(list(product((-0.5, 0.5), repeat=3)))
_BOX_FACES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
     [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
)  # fmt: skip


def solid_properties(shape: Shape, *, density: float) -> Inertia:
    """Return the mass properties of a solid shape of uniform density.

    A mesh counts as the volume it encloses, whichever way its triangles face.
    One that encloses no volume, because it is open, flat or inconsistently
    oriented, counts as its bounding box; a flat one thus has no mass.

    Args:
        density: Density [kg/m^3].

    Returns:
        Mass, centre and moment, in the shape's frame.
    """
    match shape:
        case Box(size=(x, y, z)):
            return _centered(density * x * y * z, x * x / 12, y * y / 12, z * z / 12)
        case Sphere(radius=r):
            return _centered(density * 4 / 3 * pi * r**3, *[r * r / 5] * 3)
        case Cylinder(radius=r, length=h):
            return _centered(density * pi * r * r * h, r * r / 4, r * r / 4, h * h / 12)
        case Capsule(radius=r, length=h):
            cylinder, sphere = pi * r * r * h, 4 / 3 * pi * r**3
            volume = cylinder + sphere
            across = (cylinder * r * r / 4 + sphere * r * r / 5) / volume
            # The centre of a half sphere is 3/8 r beyond the cylinder's end at h/2.
            along_sphere = r * r / 5 + h * h / 4 + 2 * (h / 2) * (3 / 8 * r)
            along = (cylinder * h * h / 12 + sphere * along_sphere) / volume
            return _centered(density * volume, across, across, along)
        case MeshFile() | MeshData():
            return _enclosed(mesh_of(shape), density)


def triangulate(shape: Shape, *, segments: int = 24) -> TriangleMesh:
    """Return a closed surface of triangles that face outwards; a mesh is returned unchanged.

    Args:
        segments: Edges of a full circle, at least 4; the corners are on the true surface.
    """
    match shape:
        case Box(size=size):
            return read_only_mesh(_BOX_CORNERS * size, _BOX_FACES)
        case Sphere(radius=r):
            angles = np.linspace(-pi / 2, pi / 2, 2 * (segments // 4) + 1)
            return _revolved(r * np.cos(angles), r * np.sin(angles), segments=segments)
        case Capsule(radius=r, length=h):
            rise = np.linspace(0, pi / 2, segments // 4 + 1)
            angles = np.concatenate([-rise[::-1], rise])
            heights = r * np.sin(angles) + np.repeat([-h / 2, h / 2], len(rise))
            return _revolved(r * np.cos(angles), heights, segments=segments)
        case Cylinder(radius=r, length=h):
            radii, heights = np.array([0, r, r, 0]), np.array([-h, -h, h, h]) / 2
            return _revolved(radii, heights, segments=segments)
        case MeshFile() | MeshData():
            return mesh_of(shape)


def bounding_box(shape: Shape) -> Array:
    """Return the lowest and the highest coordinates [m] of a shape, shape (2, 3)."""
    match shape:
        case Box(size=size):
            half = np.asarray(size) / 2
        case Sphere(radius=r):
            half = np.array([r, r, r])
        case Cylinder(radius=r, length=h):
            half = np.array([r, r, h / 2])
        case Capsule(radius=r, length=h):
            half = np.array([r, r, h / 2 + r])
        case MeshFile() | MeshData():
            return mesh_of(shape).bounds
    return frozen([-half, half])


def _centered(mass: float, *squares: float) -> Inertia:
    """Return the inertia of a body from the mean squares of x, y and z over it [m^2]."""
    moment = mass * np.diag(sum(squares) - np.array(squares))
    return Inertia(mass, frozen(np.zeros(3)), frozen(moment))


def _enclosed(mesh: TriangleMesh, density: float) -> Inertia:
    """Sum over the signed tetrahedra between the triangles and a point.

    Formulas: Blow and Binstock, "How to find the inertia tensor (or other mass
    properties) of a 3D solid body represented by a triangle mesh", 2004.
    """
    low, high = mesh.bounds
    middle = (low + high) / 2
    a, b, c = (mesh.vertices - middle)[mesh.faces].transpose(1, 0, 2)
    areas = np.cross(b - a, c - a)
    volumes = np.einsum("ij,ij->i", np.cross(a, b), c) / 6
    volume = abs(volumes.sum())
    # The area vectors of a closed surface cancel; one percent tolerates small gaps.
    closed = np.linalg.norm(areas.sum(axis=0)) < 0.01 * np.linalg.norm(areas, axis=1).sum()
    if closed and volume > _LEAST_FILLING * np.prod(high - low):
        weights = volumes * np.sign(volumes.sum())
        total = a + b + c
        center = weights @ total / (4 * volume)
        squares = sum((p * weights[:, None]).T @ p for p in (a, b, c, total)) / 20
        squares = squares / volume - np.outer(center, center)
        if np.linalg.eigvalsh(squares)[0] > 0:
            mass = density * volume
            moment = mass * (np.trace(squares) * np.eye(3) - squares)
            return Inertia(float(mass), frozen(center + middle), frozen(moment))
    box = solid_properties(Box(tuple((high - low).tolist())), density=density)
    return Inertia(box.mass, frozen(middle), box.moment)


def _revolved(radii: Array, heights: Array, *, segments: int) -> TriangleMesh:
    """Return the surface of revolution of a profile that rises from the z axis back to it."""
    angles = np.arange(segments) * (2 * pi / segments)
    rings = len(radii) - 2
    vertices = np.zeros((rings * segments + 2, 3))
    vertices[:-2, 0] = np.outer(radii[1:-1], np.cos(angles)).ravel()
    vertices[:-2, 1] = np.outer(radii[1:-1], np.sin(angles)).ravel()
    vertices[:-2, 2] = np.repeat(heights[1:-1], segments)
    vertices[-2:, 2] = heights[0], heights[-1]
    here = np.arange(rings * segments).reshape(rings, segments)
    there = np.roll(here, -1, axis=1)
    bottom, top = np.full(segments, len(vertices) - 2), np.full(segments, len(vertices) - 1)
    faces = [
        (bottom, there[0], here[0]),
        (here[:-1], there[:-1], there[1:]),
        (here[:-1], there[1:], here[1:]),
        (here[-1], there[-1], top),
    ]
    corners = [np.stack([corner.ravel() for corner in face], axis=1) for face in faces]
    return read_only_mesh(vertices, np.concatenate(corners))
