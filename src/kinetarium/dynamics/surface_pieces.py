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

MOST_PIECES = 200_000
"""A surface that needs more pieces than this, beside its own triangles, is cut coarser."""
SEAM = 0.25
"""The longest edge of a piece where one shape enters another, as a fraction of the usual."""

Owners = NDArray[np.intp]


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
    exposed = []
    while len(pieces):
        buried, entering = _sunk(pieces, owners, geometries=geometries, depth=bulge)
        again = entering & ~buried & (_edges(pieces).max(axis=1) > SEAM * longest)
        exposed.append(pieces[~buried & ~again])
        pieces, owners = _halved(pieces[again], owners[again])
    return np.concatenate(exposed), longest


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


def _cut(triangles: Array, owners: Owners, *, longest: float) -> tuple[Array, Owners, float]:
    """Halve triangles until no edge is too long, or raise the bound and begin again."""
    rest, whose = triangles, owners
    pieces, kept, count = [], [], 0
    while len(rest):
        small = _edges(rest).max(axis=1) <= longest
        pieces.append(rest[small])
        kept.append(whose[small])
        count += len(pieces[-1])
        rest, whose = _halved(rest[~small], whose[~small])
        if count + len(rest) > len(triangles) + MOST_PIECES:
            return _cut(triangles, owners, longest=1.5 * longest)
    return np.concatenate(pieces), np.concatenate(kept), longest


def _edges(pieces: Array) -> Array:
    """Give the lengths of the edges of pieces [m], shape (n, 3)."""
    edges: Array = np.linalg.norm(np.roll(pieces, -1, axis=1) - pieces, axis=2)
    return edges


def _halved(pieces: Array, owners: Owners) -> tuple[Array, Owners]:
    """Halve triangles across their longest edge."""
    order = (_edges(pieces).argmax(axis=1)[:, None] + np.arange(3)) % 3
    a, b, c = np.take_along_axis(pieces, order[..., None], axis=1).transpose(1, 0, 2)
    middle = (a + b) / 2
    halves = np.concatenate([np.stack([a, middle, c], 1), np.stack([middle, b, c], 1)])
    return halves, np.concatenate([owners, owners])


def _sunk(
    pieces: Array, owners: Owners, *, geometries: Sequence[Geometry], depth: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Tell which pieces lie wholly and which partly inside another shape.

    Their outer side counts, a small depth outwards, so that the faces by which
    two shapes touch lie inside. Only convex shapes are asked: with a mesh,
    corners inside do not put the whole piece inside.
    """
    a, b, c = pieces.transpose(1, 0, 2)
    normals = np.cross(b - a, c - a)
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    outer = pieces + (depth * normals / np.where(lengths > 0, lengths, 1.0))[:, None]
    wholly, partly = np.zeros((2, len(pieces)), dtype=bool)
    for number, part in enumerate(geometries):
        if isinstance(part.shape, MeshFile | MeshData):
            continue
        points = (outer.reshape(-1, 3) - part.X_LG[:3, 3]) @ part.X_LG[:3, :3]
        inside = (signed_distance(part.shape)(points) <= 0).reshape(-1, 3)
        other = owners != number
        wholly |= other & inside.all(axis=1)
        partly |= other & inside.any(axis=1)
    return wholly, partly
