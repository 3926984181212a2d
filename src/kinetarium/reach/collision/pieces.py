"""Convex pieces: the collision shapes of a robot, grouped by the bodies that its chain moves."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from math import isqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetarium.dynamics import link_poses
from kinetarium.dynamics.chain import ChainArrays, SerialChain, ranges
from kinetarium.model.mesh.mesh import mesh_of
from kinetarium.model.robot import (
    Box,
    Capsule,
    Cylinder,
    Geometry,
    MeshData,
    MeshFile,
    Sphere,
    TriangleMesh,
)
from kinetarium.reach.collision.piece_arrays import CELLS, PieceArrays
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import inverse_pose, pose

MOST_SHELLS = 100
"""A mesh with more connected parts, mostly loose triangles, becomes one piece."""
MOST_CORNERS = 2_000
"""A hull with more corners is simplified, since GJK searches all of them at every step."""
THINNING = 32
"""Cells along its longest side, in each of which one corner is kept."""
SAME = 1e-6
"""Tolerance for spheres at the ends of a cylinder, which make it a capsule [m]."""
SAMPLES = 200
"""A pair that overlaps in this many random configurations counts as always overlapping."""
POINT = (0.0, 0.0, 0.0, 0.0)
NO_CORNERS = frozen(np.zeros((0, 3)))


class ConvexPiece(NamedTuple):
    """One piece: pose X_BP in its body, half edges and disc, the radius around them, corners."""

    X_BP: Array
    size: tuple[float, float, float, float]
    radius: float
    corners: Array = NO_CORNERS

    @property
    def girth(self) -> float:
        """Radius of a capsule along z around the whole piece [m]."""
        x, y, _, disc = self.size
        return float(np.hypot(x, y)) + disc + self.radius

    @property
    def reach(self) -> float:
        """Radius of the sphere around the whole piece [m]."""
        x, y, z, disc = self.size
        return float(np.linalg.norm([x, y, z, disc])) + self.radius


def no_pieces() -> PieceArrays:
    """Return empty pieces: no collisions."""
    return _joined([], [])


def body_pieces(chain: SerialChain, *, obstacles: Sequence[Geometry] = ()) -> PieceArrays:
    """Divide a robot into the bodies that its chain moves, and these into convex pieces.

    Joints outside the chain are fixed. Primitives stay primitives; a mesh becomes the
    convex hulls of its shells. The pairs to be checked are all bodies that are not
    connected by a joint of the chain, except those that overlap in every one of many random
    configurations, and the obstacles with every moving body.

    Args:
        obstacles: Shapes of obstacles, in the frame of the base link.

    Returns:
        The pieces.

    Raises:
        RobotFileError: If a mesh file cannot be loaded.
    """
    count = len(chain.joints)
    bodies: list[list[ConvexPiece]] = [[] for _ in range(count + 2)]
    for number, X_FL, geometries in body_shapes(chain):
        bodies[number] += _pieces(geometries, X_FL)
    apart = [(a, b) for a in range(count + 1) for b in range(a + 2, count + 1)]
    # Bodies that are close in the chain collide most often, and outer ones move most.
    apart.sort(key=lambda pair: (pair[1] - pair[0], -pair[1]))
    apart = [(a, b) for a, b in apart if bodies[a] and bodies[b]]
    pieces = _joined(bodies, apart)
    pairs = _numbers(_sometimes_apart(pieces, chain.arrays))
    return with_obstacles(with_tables(pieces._replace(pairs=pairs), chain.arrays), obstacles)


def body_shapes(chain: SerialChain) -> list[tuple[int, Array, tuple[Geometry, ...]]]:
    """Return the collision shapes of each link: its body, its pose X_FL there, and the shapes."""
    model = chain.model
    held = chain.held.copy()
    held[chain.coordinates] = 0.0
    X_WL = link_poses(model, held)
    index = {link.name: i for i, link in enumerate(model.links)}
    X_BL = inverse_pose(X_WL[index[chain.base_link]]) @ X_WL
    body = {model.root: 0}
    for joint in model.joints:
        moved = joint.name in chain.joints
        body[joint.child] = chain.joints.index(joint.name) + 1 if moved else body[joint.parent]
    X_BF = [pose()]
    for frame in chain.arrays.frames[:-1]:
        X_BF.append(X_BF[-1] @ np.vstack([frame, [0, 0, 0, 1]]))
    return [
        (body[link.name], inverse_pose(X_BF[body[link.name]]) @ X_BL[i], link.collisions)
        for i, link in enumerate(model.links)
        if link.collisions
    ]


def with_obstacles(pieces: PieceArrays, obstacles: Sequence[Geometry]) -> PieceArrays:
    """Add obstacles to the pieces of a robot, which are not computed again.

    Args:
        pieces: The pieces of a robot; their last body is empty.
        obstacles: Shapes of obstacles, in the frame of the base link.

    Raises:
        RobotFileError: If a mesh file cannot be loaded.
    """
    if not obstacles:
        return pieces
    around = _around(tuple(obstacles))
    last = len(pieces.bodies) - 1
    filled = np.flatnonzero(np.diff(pieces.body_starts)[1:last]) + 1
    pairs = np.column_stack([filled, np.full_like(filled, last)])
    sizes = around.sizes.copy()
    sizes[:, 7:] += len(pieces.corners)
    return pieces._replace(
        places=np.concatenate([pieces.places, around.places]),
        sizes=np.concatenate([pieces.sizes, sizes]),
        corners=np.concatenate([pieces.corners, around.corners]),
        cluster_starts=_appended(pieces.cluster_starts, around.cluster_starts[1:]),
        clusters=np.concatenate([pieces.clusters, around.clusters]),
        body_starts=_appended(pieces.body_starts[:-1], around.body_starts[1:]),
        bodies=np.concatenate([pieces.bodies[:last], around.bodies]),
        pairs=np.concatenate([pieces.pairs, pairs]),
    )


@lru_cache(maxsize=8)
def _around(obstacles: tuple[Geometry, ...]) -> PieceArrays:
    """Return the pieces of obstacles; several plans in a row are among the same ones."""
    return _joined([_pieces(obstacles, pose())], [])


def with_held(pieces: PieceArrays, held: Sequence[Geometry], *, X_FT: Array) -> PieceArrays:
    """Add what a tool holds to the pieces of a robot: it moves with the last body.

    Like that body it is not checked against the body before, on which it may rest.

    Args:
        pieces: The pieces of a robot; their last body, that of obstacles, is empty.
        held: Shapes in the tool's frame.
        X_FT: Pose of the tool in the frame of the last body, shape (3, 4).

    Raises:
        RobotFileError: If a mesh file cannot be loaded.
    """
    if not held:
        return pieces
    more = _joined([_pieces(held, np.vstack([X_FT, [0, 0, 0, 1]]))], [])
    hand = len(pieces.bodies) - 2
    sizes = more.sizes.copy()
    sizes[:, 7:] += len(pieces.corners)
    places = np.concatenate([pieces.places, more.places])
    sizes = np.concatenate([pieces.sizes, sizes])
    cluster_starts = _appended(pieces.cluster_starts, more.cluster_starts[1:])
    body_starts = pieces.body_starts.copy()
    body_starts[hand + 1 :] += len(more.clusters)
    # A hand without shapes of its own had no pairs; otherwise its pairs are as before.
    pairs = pieces.pairs
    if pieces.body_starts[hand] == pieces.body_starts[hand + 1]:
        filled = np.flatnonzero(np.diff(pieces.body_starts)[: hand - 1])
        pairs = np.concatenate([pairs, np.column_stack([filled, np.full_like(filled, hand)])])
    apart = pieces.apart.copy()
    if hand >= 2:
        apart[hand - 2] = 0
    return pieces._replace(
        places=places,
        sizes=sizes,
        corners=np.concatenate([pieces.corners, more.corners]),
        cluster_starts=cluster_starts,
        clusters=np.concatenate([pieces.clusters, more.clusters]),
        body_starts=body_starts,
        bodies=_bounds(places, sizes[:, 6], cluster_starts[body_starts]),
        pairs=pairs,
        apart=apart,
    )


def _appended(starts: NDArray[np.int64], more: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([starts, starts[-1] + more])


def _sometimes_apart(pieces: PieceArrays, chain: ChainArrays) -> list[tuple[int, int]]:
    """Return the pairs that do not overlap in every one of many random configurations."""
    # Imported here, since Numba takes a second to load.
    from kinetarium.reach.collision.check import collisions

    lower, upper = ranges(chain)
    q = np.random.default_rng(0).uniform(lower, upper, (SAMPLES, len(lower)))
    singles = [pieces._replace(pairs=pair[None]) for pair in pieces.pairs]
    return [
        (int(a), int(b))
        for single, (a, b) in zip(singles, pieces.pairs, strict=True)
        if not collisions(single, chain, q).all()
    ]


def _pieces(geometries: Sequence[Geometry], X_BL: Array) -> list[ConvexPiece]:
    """Convert the shapes of a link to pieces of its body."""
    pieces = []
    balls = [
        (part.X_LG[:3, 3], part.shape.radius)
        for part in geometries
        if isinstance(part.shape, Sphere)
    ]
    caps: set[int] = set()
    for part in geometries:
        X = X_BL @ part.X_LG
        match part.shape:
            case Box(size):
                pieces.append(_box(X, size))
            case Capsule(radius, length):
                pieces.append(ConvexPiece(X, (0.0, 0.0, length / 2, 0.0), radius))
            case Cylinder(radius, length):
                ends = [_caps(balls, part.X_LG, side * length / 2, radius) for side in (-1, 1)]
                if all(ends):
                    pieces.append(ConvexPiece(X, (0.0, 0.0, length / 2, 0.0), radius))
                    caps = caps.union(*ends)
                else:
                    pieces.append(ConvexPiece(X, (0.0, 0.0, length / 2, radius), 0.0))
            case MeshFile() | MeshData():
                pieces += [_hull(X, points) for points in _shells(mesh_of(part.shape))]
    for number, (center, radius) in enumerate(balls):
        if number not in caps:
            pieces.append(ConvexPiece(X_BL @ pose(center), POINT, radius))
    return pieces


def _caps(balls: list[tuple[Array, float]], X: Array, height: float, radius: float) -> set[int]:
    """Return which balls are at one end of a cylinder and make it round."""
    end = X[:3, 3] + height * X[:3, 2]
    return {
        number
        for number, (center, size) in enumerate(balls)
        if abs(size - radius) < SAME and np.linalg.norm(center - end) < SAME
    }


def _box(X: Array, size: tuple[float, float, float]) -> ConvexPiece:
    """Return a box whose longest edge is along z."""
    x, y, z = np.argsort(size, kind="stable")
    axes = X[:3, [x, y, z]]
    # A box is symmetric, so the sign of an axis is free: choose a right-handed frame.
    axes[:, 0] *= np.sign(np.linalg.det(axes))
    return ConvexPiece(pose(X[:3, 3], axes), (size[x] / 2, size[y] / 2, size[z] / 2, 0.0), 0.0)


def _shells(mesh: TriangleMesh) -> list[Array]:
    """Return the vertices of each connected part of a mesh's surface [m], shape (n, 3)."""
    # Imported here: robots of primitives do not need SciPy.
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    faces, count = mesh.faces, len(mesh.vertices)
    edges = (faces[:, :2].ravel(), faces[:, 1:].ravel())
    graph = coo_array((np.ones(edges[0].size, np.int8), edges), shape=(count, count))
    shells, shell = connected_components(graph, directed=False)
    if shells > MOST_SHELLS:
        return [mesh.vertices]
    return [mesh.vertices[shell == n] for n in range(shells)]


def _hull(X: Array, points: Array) -> ConvexPiece:
    """Return the convex hull of points; its origin is inside, its longest side along z."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        points = points[ConvexHull(points).vertices]
    except QhullError:
        pass  # All in a plane: use the points themselves.
    radius = 0.0
    if len(points) > MOST_CORNERS:
        cells = np.round(points / np.ptp(points, axis=0).max() * THINNING)
        _, first, cell = np.unique(cells, axis=0, return_index=True, return_inverse=True)
        # A radius around the kept corners encloses the dropped ones.
        radius = float(np.linalg.norm(points - points[first][cell], axis=1).max())
        points = points[first]
    middle = points.mean(axis=0)
    x, y, z = 2 * np.abs(points - middle).max(axis=0)
    box = _box(X @ pose(middle), (x, y, z))
    X_PG = inverse_pose(box.X_BP) @ X
    return box._replace(radius=radius, corners=points @ X_PG[:3, :3].T + X_PG[:3, 3])


def _joined(bodies: list[list[ConvexPiece]], pairs: list[tuple[int, int]]) -> PieceArrays:
    """Return the pieces of all bodies as arrays, sorted by clusters of neighbours."""
    by_body = [_clusters(pieces) for pieces in bodies]
    clusters = [part for parts in by_body for part in parts]
    pieces = [piece for part in clusters for piece in part]
    places = np.array([piece.X_BP[:3] for piece in pieces]).reshape(-1, 3, 4)
    starts = _starts([len(piece.corners) for piece in pieces])
    sizes = [
        (*piece.size, piece.radius, piece.girth, piece.reach, *span)
        for piece, span in zip(pieces, pairwise(starts), strict=True)
    ]
    reaches = np.array([piece.reach for piece in pieces])
    cluster_starts = _starts([len(part) for part in clusters])
    body_starts = _starts([len(parts) for parts in by_body])
    frames = np.arange(len(bodies))
    if bodies:
        frames[-1] = 0
    return PieceArrays(
        places,
        np.array(sizes).reshape(-1, 9),
        np.concatenate([NO_CORNERS, *(piece.corners for piece in pieces)]),
        cluster_starts,
        _bounds(places, reaches, cluster_starts),
        body_starts,
        _bounds(places, reaches, cluster_starts[body_starts]),
        frames,
        _numbers(pairs),
        np.zeros((len(bodies), CELLS, CELLS // 8), np.uint8),
        np.zeros((max(len(bodies) - 2, 0), 2)),
    )


def _numbers(pairs: list[tuple[int, int]]) -> NDArray[np.int64]:
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _clusters(pieces: list[ConvexPiece]) -> list[list[ConvexPiece]]:
    """Return clusters of a few neighbouring pieces each."""
    return _halved(pieces, most=max(2, isqrt(len(pieces)) // 2)) if pieces else []


def _halved(pieces: list[ConvexPiece], *, most: int) -> list[list[ConvexPiece]]:
    """Bisect pieces across their longest side until the groups are small."""
    if len(pieces) <= most:
        return [pieces]
    centers = np.array([piece.X_BP[:3, 3] for piece in pieces])
    axis = np.ptp(centers, axis=0).argmax()
    order = centers[:, axis].argsort(kind="stable")
    half = len(pieces) // 2
    parts = ([pieces[i] for i in order[:half]], [pieces[i] for i in order[half:]])
    return [part for side in parts for part in _halved(side, most=most)]


def _starts(counts: list[int]) -> NDArray[np.int64]:
    return np.cumsum([0, *counts], dtype=np.int64)


def _bounds(places: Array, reaches: Array, starts: NDArray[np.int64]) -> Array:
    """Return centre and radius of a sphere around each run of pieces; negative if empty."""
    bounds = np.full((len(starts) - 1, 4), -1.0)
    for bound, (first, end) in zip(bounds, pairwise(starts), strict=True):
        if first < end:
            centers, radii = places[first:end, :, 3], reaches[first:end, None]
            bound[:3] = ((centers - radii).min(axis=0) + (centers + radii).max(axis=0)) / 2
            bound[3] = (np.linalg.norm(centers - bound[:3], axis=1) + radii[:, 0]).max()
    return bounds


COARSEST = 8
"""Initial number of squares along an axis."""
_LOCKED = 1e-9
"""Range that a joint without one is given [rad or m]."""


def with_tables(pieces: PieceArrays, chain: ChainArrays) -> PieceArrays:
    """Fill the tables of pieces, which speed up `collides` and do not change its result.

    Args:
        chain: The chain that moves them.
    """
    lower, upper = ranges(chain)
    apart = np.zeros_like(pieces.apart)
    for pair in pieces.pairs:
        if pair[1] - pair[0] == 2 and pair[1] <= len(lower):
            table = _table(pieces._replace(pairs=pair[None]), chain, lower, upper)
            apart[pair[0]] = np.packbits(table, axis=1, bitorder="little")
    spans = np.column_stack([lower, CELLS / np.maximum(upper - lower, _LOCKED)])
    return pieces._replace(apart=apart, spans=spans)


def _table(
    pieces: PieceArrays, chain: ChainArrays, lower: Array, upper: Array
) -> NDArray[np.uint8]:
    """Return 1 for the cells of two joint angles in which a pair is surely apart.

    A square of joint space is free if the pieces do not touch at its centre when they are
    grown by the farthest that any point moves within the square (levers times half widths);
    other squares are divided into quarters.
    """
    # Imported here, since Numba takes a second to load.
    from kinetarium.reach.collision.check import collisions

    first, body = int(pieces.pairs[0, 0]), int(pieces.pairs[0, 1])
    reach = float(np.linalg.norm(pieces.bodies[body, :3]) + pieces.bodies[body, 3])
    slide = max(abs(lower[first + 1]), abs(upper[first + 1])) if chain.prismatic[first + 1] else 0.0
    levers = np.array([np.linalg.norm(chain.frames[first + 1, :, 3]) + slide + reach, reach])
    levers[chain.prismatic[[first, first + 1]]] = 1.0
    joints = slice(first, first + 2)
    table = np.zeros((CELLS, CELLS), np.uint8)
    squares = np.argwhere(np.ones((COARSEST, COARSEST)))
    count = COARSEST
    while len(squares) and count <= CELLS:
        width = (upper[joints] - lower[joints]) / count
        q = np.tile((lower + upper) / 2, (len(squares), 1))
        q[:, joints] = lower[joints] + (squares + 0.5) * width
        blocked = collisions(grown(pieces, by=float(levers @ width) / 4), chain, q)
        step = CELLS // count
        for row, column in squares[~blocked] * step:
            table[row : row + step, column : column + step] = 1
        quarters = np.array([(0, 0), (0, 1), (1, 0), (1, 1)])
        squares = (2 * squares[blocked][:, None] + quarters).reshape(-1, 2)
        count *= 2
    return table


def grown(pieces: PieceArrays, *, by: float, body: int = 0) -> PieceArrays:
    """Return pieces grown by a layer: two touch if they are closer than twice that.

    Args:
        by: The thickness of the layer [m].
        body: The first body to be grown.
    """
    cluster = pieces.body_starts[body]
    first = pieces.cluster_starts[cluster]
    sizes, clusters, bodies = pieces.sizes.copy(), pieces.clusters.copy(), pieces.bodies.copy()
    sizes[first:, 4:7] += by
    clusters[cluster:, 3] += by
    bodies[body:, 3] += by
    return pieces._replace(sizes=sizes, clusters=clusters, bodies=bodies)
