"""The surface of a link's shapes, cut into small triangles."""

from collections.abc import Sequence
from math import asin, ceil, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from kinetarium.dynamics.signed_distance import signed_distance
from kinetarium.model.robot import Geometry
from kinetarium.model.shapes import Box, MeshData, MeshFile, Shape
from kinetarium.model.solids import triangulate
from kinetarium.spatial.arrays import Array

MOST_PIECES = 100_000
"""A surface that needs more pieces than this, beside its own triangles, is cut coarser."""


def surface_pieces(
    geometries: Sequence[Geometry], *, longest: float, bulge: float
) -> tuple[Array, float]:
    """Cut the surface of shapes, taken together, into triangles without long edges.

    Surface inside another shape is left out, also where two shapes only touch:
    gaps narrower than the bulge count as closed.

    Args:
        geometries: The shapes of a link, at least one.
        longest: The longest edge [m].
        bulge: How far a curved surface may reach beyond its triangles [m].

    Returns:
        The corners of the pieces in the link frame [m], shape (n, 3, 3), and the
        longest edge that keeps their number within bounds.

    Raises:
        RobotFileError: If a mesh file cannot be loaded.
    """
    surfaces = [_surface(part, bulge) for part in geometries]
    owners = np.repeat(np.arange(len(surfaces)), [len(surface) for surface in surfaces])
    pieces, owners, longest = _cut(np.concatenate(surfaces), owners, longest=longest)
    a, b, c = pieces.transpose(1, 0, 2)
    normals = np.cross(b - a, c - a)
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    outward = bulge * normals / np.where(lengths > 0, lengths, 1.0)
    exposed = np.ones(len(pieces), dtype=bool)
    for number, part in enumerate(geometries):
        if isinstance(part.shape, MeshFile | MeshData):
            continue  # not convex: corners inside do not put the piece inside
        others = np.flatnonzero(owners != number)
        points = (pieces + outward[:, None])[others] - part.X_LG[:3, 3]
        inside = signed_distance(part.shape)((points @ part.X_LG[:3, :3]).reshape(-1, 3)) <= 0
        exposed[others] &= ~inside.reshape(-1, 3).all(axis=1)
    return pieces[exposed], longest


def _surface(part: Geometry, bulge: float) -> Array:
    """Give the triangles of a shape in the link frame [m], shape (m, 3, 3)."""
    mesh = triangulate(part.shape, segments=_segments(part.shape, bulge))
    vertices = mesh.vertices @ part.X_LG[:3, :3].T + part.X_LG[:3, 3]
    return vertices[mesh.faces]


def _segments(shape: Shape, bulge: float) -> int:
    """Give how many edges a full circle needs.

    The triangles of a sphere stay r (1 - cos^2(pi/n)) below it, around and
    along together; those of a cylinder less.
    """
    match shape:
        case Box() | MeshFile() | MeshData():
            return 4
        case _:
            return 4 * ceil(pi / asin(min(1.0, sqrt(bulge / shape.radius))) / 4)


def _cut(
    triangles: Array, owners: NDArray[np.intp], *, longest: float
) -> tuple[Array, NDArray[np.intp], float]:
    """Halve triangles across their longest edge until none is too long."""
    rest, whose = triangles, owners
    pieces, kept, count = [], [], 0
    while len(rest):
        edges = np.linalg.norm(np.roll(rest, -1, axis=1) - rest, axis=2)
        small = edges.max(axis=1) <= longest
        pieces.append(rest[small])
        kept.append(whose[small])
        count += len(pieces[-1])
        rest, whose, edges = rest[~small], whose[~small], edges[~small]
        if count + 2 * len(rest) > len(triangles) + MOST_PIECES:
            return _cut(triangles, owners, longest=1.5 * longest)
        order = (edges.argmax(axis=1)[:, None] + np.arange(3)) % 3
        a, b, c = np.take_along_axis(rest, order[..., None], axis=1).transpose(1, 0, 2)
        middle = (a + b) / 2
        rest = np.concatenate([np.stack([a, middle, c], 1), np.stack([middle, b, c], 1)])
        whose = np.concatenate([whose, whose])
    return np.concatenate(pieces), np.concatenate(kept), longest
