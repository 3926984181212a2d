"""Spheres that enclose the shapes of a link, few and close to the surface."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import asin, ceil, inf, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from kinetarium.dynamics._signed_distance import SignedDistance, signed_distance, union_distance
from kinetarium.errors import KinetariumError
from kinetarium.model.mesh.solids import bounding_box, triangulate
from kinetarium.model.robot import Box, Geometry, MeshData, MeshFile, Shape
from kinetarium.spatial.arrays import Array, frozen

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
    """Return the triangles of a shape in the link frame [m], shape (m, 3, 3)."""
    mesh = triangulate(part.shape, segments=_segments(part.shape, bulge))
    vertices = mesh.vertices @ part.X_LG[:3, :3].T + part.X_LG[:3, 3]
    return vertices[mesh.faces]


def _segments(shape: Shape, bulge: float) -> int:
    """Return how many edges a full circle needs.

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
    """Return the lengths of the edges of pieces [m], shape (n, 3)."""
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


FINEST = 0.015
"""The smallest excess, as a fraction of the largest shape; finer covers only cost."""
MARGIN = 0.1
"""How far pieces of surface stay inside their spheres, as a fraction of the excess.

Curved surfaces bulge beyond the triangles that stand for them by no more.
"""
PIECE = 0.8
"""The longest edge of a piece of surface, as a multiple of the excess."""
SEEDS = 256
"""From how many pieces of surface balls are grown in one round."""
JUDGES = 2048
"""On how many pieces of surface the balls of a round are compared."""
HALVINGS = 8
"""How often the range of a growing ball's size is halved."""
WORTH = 0.25
"""A round ends when the best ball covers less than this fraction of the first."""
DEEP = 3.0
"""How many times its own size a cell lies deep before it is filled undivided."""
BLOCK = 16
"""With how many spheres all cells are compared at once."""


@dataclass(frozen=True, slots=True, eq=False)
class SphereCover:
    """Spheres whose union encloses shapes.

    Attributes:
        centers: Centres in the link frame [m], shape (n, 3).
        radii: Radii [m], shape (n,).
        excess: The most that a sphere reaches beyond the shapes [m].
    """

    centers: Array
    radii: Array
    excess: float


def cover_by_spheres(geometries: Sequence[Geometry], *, excess: float) -> SphereCover:
    """Enclose the shapes of a link by spheres.

    The union holds the whole surface of every shape, so that nothing touches a
    shape without touching a sphere, and everything inside that is deeper than
    half the excess, so that nothing hides inside either, unless it fits into a
    gap narrower than that. A mesh without an inside, such as an open sheet, has
    its surface covered alone.

    Balls grow inwards from pieces of the surface until they touch another side.
    Enlarged by the excess each covers pieces around it, and those that cover
    most are chosen one by one. What remains inside is filled in the end.

    Args:
        geometries: The shapes of the link; without any there are no spheres.
        excess: How far spheres may reach beyond the shapes [m]; more is used
            where 1.5 percent of the largest shape are more, or where a mesh would
            be cut into too many pieces.

    Returns:
        The spheres.

    Raises:
        KinetariumError: If the excess is not a positive number.
        RobotFileError: If a mesh file cannot be loaded.
    """
    if not 0 < excess < inf:
        raise KinetariumError(f"the excess of spheres must be a positive length, not {excess}")
    if not geometries:
        return SphereCover(frozen(np.zeros((0, 3))), frozen([]), excess)
    size = max(float(np.ptp(bounding_box(part.shape), axis=0).max()) for part in geometries)
    excess = max(excess, FINEST * size)
    pieces, longest = surface_pieces(geometries, longest=PIECE * excess, bulge=MARGIN * excess)
    excess = longest / PIECE
    distance = union_distance(geometries, surface=pieces)
    centers, radii = _cover_surface(pieces, distance, excess=excess)
    centers, radii = _fill(centers, radii, distance=distance, excess=excess)
    return SphereCover(frozen(centers), frozen(radii), excess)


def _cover_surface(
    pieces: Array, distance: SignedDistance, *, excess: float
) -> tuple[Array, Array]:
    """Choose balls until every piece of surface lies in one."""
    rng = np.random.default_rng(0)
    margin = MARGIN * excess
    size = float(np.ptp(pieces, axis=(0, 1)).max())
    centers, radii = [], []
    while len(pieces):
        pieces = rng.permutation(pieces)
        balls, sizes = _grow(pieces[:SEEDS], distance, excess=excess, most=size)
        corners = pieces[:JUDGES].transpose(1, 0, 2)
        reach = np.maximum.reduce([_squared_distances(corner, balls) for corner in corners])
        holds = reach <= (sizes - margin) ** 2
        gain = holds.sum(axis=0)
        worth = max(1.0, WORTH * gain.max())
        while True:
            best = int(gain.argmax())
            reach = _reach(pieces, balls[best])
            held = reach <= sizes[best] - margin
            if held.any():
                centers.append(balls[best])
                radii.append(reach[held].max() + margin)
            judged = held[: len(holds)]
            gain -= holds[judged].sum(axis=0)
            # Each ball once: the judges see it by rounded squares and might want it again.
            gain[best] = 0
            pieces, holds = pieces[~held], holds[~judged]
            if gain.max() < worth:
                break
    return np.array(centers), np.array(radii)


def _grow(
    seeds: Array, distance: SignedDistance, *, excess: float, most: float
) -> tuple[Array, Array]:
    """Grow a ball inwards from each piece of surface until it touches another side.

    Args:
        seeds: The pieces, shape (n, 3, 3).
        distance: The signed distance from the shapes.
        excess: How far spheres may reach beyond the shapes [m].
        most: The largest depth to be tried [m].

    Returns:
        Centres, shape (n, 3), and radii with the excess, shape (n,), of balls
        each of which holds at least the piece it grew from.
    """
    margin = MARGIN * excess
    middles = seeds.mean(axis=1)
    a, b, c = seeds.transpose(1, 0, 2)
    normals = np.cross(b - a, c - a)
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    inward = -normals / np.where(lengths > 0, lengths, 1.0)
    # Triangles may face either way; inwards is where it is deeper.
    probe = 0.5 * excess * inward
    inward[distance(middles + probe) > distance(middles - probe)] *= -1
    low, high = np.zeros(len(seeds)), np.full(len(seeds), most)
    for _ in range(HALVINGS):
        depth = (low + high) / 2
        # While the ball touches nothing else, it is as deep as it is far from its piece.
        free = -distance(middles + depth[:, None] * inward) >= depth - margin
        low, high = np.where(free, depth, low), np.where(free, high, depth)
    centers = middles + low[:, None] * inward
    radii = excess - distance(centers)
    lost = _reach(seeds, centers) > radii - margin
    centers[lost] = middles[lost]
    # A trifle more, so that rounding does not lose the piece again.
    radii[lost] = _reach(seeds, middles)[lost] * (1 + 1e-9) + margin
    return centers, radii


def _reach(pieces: Array, centers: Array) -> Array:
    """Return how far the farthest corner of each piece is from one or its own centre [m]."""
    gap = pieces - centers[..., None, :]
    reach: Array = np.sqrt(np.vecdot(gap, gap).max(axis=1))
    return reach


def _squared_distances(points: Array, centers: Array) -> Array:
    """Return the squared distance of every point from every centre [m^2], shape (n, k)."""
    # |p - c|^2 = |p|^2 - 2 p.c + |c|^2, exact enough about an origin among the points.
    origin = centers.mean(axis=0)
    points, centers = points - origin, centers - origin
    squares: Array = np.vecdot(points, points)[:, None] + np.vecdot(centers, centers)
    squares -= 2 * points @ centers.T
    return squares


def _fill(
    centers: Array, radii: Array, *, distance: SignedDistance, excess: float
) -> tuple[Array, Array]:
    """Add spheres until everything deeper than half the excess lies in one.

    Cells are halved until they lie in one sphere, or outside, or too close
    under the surface to matter; cells that do not end so get spheres.
    """
    low, high = (centers - radii[:, None]).min(axis=0), (centers + radii[:, None]).max(axis=0)
    edge = max((high - low).min(), (high - low).max() / 8)
    counts = np.ceil((high - low) / edge).astype(int)
    half = (high - low) / counts / 2
    cells = low + half * (2 * np.indices(counts).reshape(3, -1).T + 1)
    corners = 2 * np.indices((2, 2, 2)).reshape(3, -1).T - 1
    while True:
        h = float(np.linalg.norm(half))
        large = np.flatnonzero(radii > h)
        for start in range(0, len(large), BLOCK):
            block = large[start : start + BLOCK]
            held = _squared_distances(cells, centers[block]) <= (radii[block] - h) ** 2
            cells = cells[~held.any(axis=1)]
        depth = -distance(cells)
        finest = h <= excess / 4
        deep = depth >= (h if finest else DEEP * h)
        empty, depths = cells[deep], depth[deep]
        while len(empty):
            best = int(depths.argmax())
            center, radius = empty[best], depths[best] + excess
            centers, radii = np.vstack([centers, center]), np.append(radii, radius)
            left = np.vecdot(empty - center, empty - center) > (radius - h) ** 2
            empty, depths = empty[left], depths[left]
        if finest:
            return centers, radii
        half = half / 2
        cells = (cells[~deep & (depth > -h), None] + corners * half).reshape(-1, 3)
