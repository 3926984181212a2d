"""Collision check of a robot's convex pieces and obstacles, as a Numba kernel."""

import numpy as np
from numpy.typing import NDArray

from kinetarium.dynamics.chain import ChainArrays
from kinetarium.dynamics.forward import place
from kinetarium.reach.collision._gjk import closer, segments_gap, support
from kinetarium.reach.collision.piece_arrays import CELLS, PieceArrays
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.compiled import compiled
from kinetarium.spatial.kernels import dot

Vector = tuple[float, float, float]
Pose = tuple[Vector, Vector, Vector, Vector]
"""Axes x, y, z and origin."""


@compiled
def collisions(pieces: PieceArrays, chain: ChainArrays, q: Array) -> NDArray[np.bool_]:
    """Return whether configurations [rad or m], shape (n, joints), collide, shape (n,)."""
    X, last_contact = np.empty((q.shape[1] + 2, 3, 4)), no_last_contact()
    result = np.empty(len(q), dtype=np.bool_)
    for n in range(len(q)):
        place(chain, q[n], X)
        result[n] = collides(pieces, X, q[n], last_contact)
    return result


@compiled
def no_last_contact() -> NDArray[np.int64]:
    """Return the initial `last_contact` of `collides`, shape (3,)."""
    return np.full(3, -1)


@compiled
def collides(pieces: PieceArrays, X: Array, q: Array, last_contact: NDArray[np.int64]) -> bool:
    """Return whether any two pieces of the pairs of bodies touch.

    Args:
        X: Poses of the chain's frames, as `forward.place` writes them,
            shape (joints + 2, 3, 4).
        q: Joint positions [rad or m], shape (joints,).
        last_contact: The pair of bodies and the two pieces that touched last; updated. They
            are tried first, since consecutive configurations are often similar.
    """
    pairs, frames = pieces.pairs, pieces.frames
    bodies, body_starts = pieces.bodies, pieces.body_starts
    clusters, cluster_starts = pieces.clusters, pieces.cluster_starts
    places, sizes = pieces.places, pieces.sizes
    corners = pieces.corners
    apart, spans = pieces.apart, pieces.spans
    if not len(pairs):
        return False
    if last_contact[0] >= 0:
        n, i, j = last_contact
        X_AB = _between(X, frames[pairs[n, 0]], X, frames[pairs[n, 1]])
        p = _moved(X_AB, places[j, 0, 3], places[j, 1, 3], places[j, 2, 3])
        v = _turned(X_AB, places[j, 0, 2], places[j, 1, 2], places[j, 2, 2])
        if _meet(places, sizes, corners, i, j, X_AB, p, v):
            return True
    centers = np.empty((len(bodies), 3))
    for a in range(len(bodies)):
        F = X[frames[a]]
        for row in range(3):
            centers[a, row] = F[row, 3]
            for column in range(3):
                centers[a, row] += F[row, column] * bodies[a, column]
    for n in range(len(pairs)):
        a, b = pairs[n, 0], pairs[n, 1]
        reach = bodies[a, 3] + bodies[b, 3]
        if _squared((centers[a, 0], centers[a, 1], centers[a, 2]), centers, b) > reach * reach:
            continue
        # Bodies connected by two joints: look their angles up in the table.
        if b - a == 2 and b <= len(spans):
            i = int((q[a] - spans[a, 0]) * spans[a, 1])
            j = int((q[a + 1] - spans[a + 1, 0]) * spans[a + 1, 1])
            inside = 0 <= i < CELLS and 0 <= j < CELLS
            if inside and (apart[a, i, j >> 3] >> (j & 7)) & 1:
                continue
        X_AB = _between(X, frames[a], X, frames[b])
        for c in range(body_starts[a], body_starts[a + 1]):
            if _apart(clusters, c, X_AB, bodies, b):
                continue
            for d in range(body_starts[b], body_starts[b + 1]):
                if _apart(clusters, c, X_AB, clusters, d):
                    continue
                for j in range(cluster_starts[d], cluster_starts[d + 1]):
                    p = _moved(X_AB, places[j, 0, 3], places[j, 1, 3], places[j, 2, 3])
                    reach = sizes[j, 6] + clusters[c, 3]
                    if _squared(p, clusters, c) > reach * reach:
                        continue
                    v = _turned(X_AB, places[j, 0, 2], places[j, 1, 2], places[j, 2, 2])
                    for i in range(cluster_starts[c], cluster_starts[c + 1]):
                        if _meet(places, sizes, corners, i, j, X_AB, p, v):
                            last_contact[0], last_contact[1], last_contact[2] = n, i, j
                            return True
    return False


@compiled
def sinks(pieces: PieceArrays, X: Array, floor: Array) -> bool:
    """Return whether a moving body reaches below a plane.

    It is several times as fast as a check against a large box, which no ball around a part of the
    robot excludes.

    Args:
        X: Poses of the chain's frames, as `forward.place` writes them,
            shape (joints + 2, 3, 4).
        floor: Unit normal of the plane in the base's frame, upwards, and its distance from the
            origin along that [m], shape (4,).
    """
    bodies, clusters, places, sizes = pieces.bodies, pieces.clusters, pieces.places, pieces.sizes
    starts, cluster_starts = pieces.body_starts, pieces.cluster_starts
    for b in range(1, len(bodies) - 1):
        F = X[pieces.frames[b]]
        # The normal and the distance in the frame of the body.
        n = _turned_back(F, floor[0], floor[1], floor[2])
        d = floor[3] - floor[0] * F[0, 3] - floor[1] * F[1, 3] - floor[2] * F[2, 3]
        if _above(n, d, bodies, b):
            continue
        for c in range(starts[b], starts[b + 1]):
            if _above(n, d, clusters, c):
                continue
            for i in range(cluster_starts[c], cluster_starts[c + 1]):
                P = places[i]
                u = _turned_back(P, -n[0], -n[1], -n[2])
                s = support(sizes, pieces.corners, i, u)
                below = u[0] * s[0] + u[1] * s[1] + u[2] * s[2] + sizes[i, 4]
                if n[0] * P[0, 3] + n[1] * P[1, 3] + n[2] * P[2, 3] - below < d:
                    return True
    return False


@compiled
def _above(n: Vector, d: float, balls: Array, i: int) -> bool:
    height: float = n[0] * balls[i, 0] + n[1] * balls[i, 1] + n[2] * balls[i, 2] - balls[i, 3]
    return height > d


@compiled
def _meet(
    places: Array,
    sizes: Array,
    corners: Array,
    i: int,
    j: int,
    X_AB: Pose,
    p: Vector,
    v: Vector,
) -> bool:
    """Return whether a piece of body A and one of body B, at p along v in A's frame, touch."""
    P = places[i]
    way = (p[0] - P[0, 3], p[1] - P[1, 3], p[2] - P[2, 3])
    # Cheap bounds first: a ball around the second against the capsule around the first, then
    # the two capsules, which are exact for round pieces; GJK only for the rest.
    u = (P[0, 2], P[1, 2], P[2, 2])
    along = way[0] * u[0] + way[1] * u[1] + way[2] * u[2]
    along = min(max(along, -sizes[i, 2]), sizes[i, 2])
    reach = sizes[i, 5] + sizes[j, 6]
    if _squared_gap(way, along, u) > reach * reach:
        return False
    reach = sizes[i, 5] + sizes[j, 5]
    if segments_gap(u, sizes[i, 2], v, sizes[j, 2], way) > reach * reach:
        return False
    margin = sizes[i, 4] + sizes[j, 4]
    if margin == reach:
        return True
    x, y, z, o = _relative(P, X_AB, places[j], way)
    if _boxes_apart(sizes, i, j, x, y, z, o, margin):
        return False
    return closer(sizes, corners, i, j, x, y, z, o, margin)


@compiled
def _boxes_apart(
    sizes: Array, i: int, j: int, x: Vector, y: Vector, z: Vector, o: Vector, margin: float
) -> bool:
    """Return whether a face of the box around one of two pieces separates them by the margin.

    Plates, whose capsules are far too large, are often apart by that; GJK takes longer.
    """
    a, b, c = sizes[i, 0] + sizes[i, 3], sizes[i, 1] + sizes[i, 3], sizes[i, 2]
    d, e, f = sizes[j, 0] + sizes[j, 3], sizes[j, 1] + sizes[j, 3], sizes[j, 2]
    if (
        abs(o[0]) > a + abs(x[0]) * d + abs(y[0]) * e + abs(z[0]) * f + margin
        or abs(o[1]) > b + abs(x[1]) * d + abs(y[1]) * e + abs(z[1]) * f + margin
        or abs(o[2]) > c + abs(x[2]) * d + abs(y[2]) * e + abs(z[2]) * f + margin
    ):
        return True
    apart: bool = (
        abs(dot(o, x)) > d + abs(x[0]) * a + abs(x[1]) * b + abs(x[2]) * c + margin
        or abs(dot(o, y)) > e + abs(y[0]) * a + abs(y[1]) * b + abs(y[2]) * c + margin
        or abs(dot(o, z)) > f + abs(z[0]) * a + abs(z[1]) * b + abs(z[2]) * c + margin
    )
    return apart


@compiled
def _squared_gap(way: Vector, along: float, u: Vector) -> float:
    x, y, z = way[0] - along * u[0], way[1] - along * u[1], way[2] - along * u[2]
    return x * x + y * y + z * z


@compiled
def _between(X: Array, a: int, Y: Array, b: int) -> Pose:
    """Return the second of two poses, rows [R p], in the frame of the first."""
    A, B = X[a], Y[b]
    x = _turned_back(A, B[0, 0], B[1, 0], B[2, 0])
    y = _turned_back(A, B[0, 1], B[1, 1], B[2, 1])
    z = _turned_back(A, B[0, 2], B[1, 2], B[2, 2])
    return x, y, z, _turned_back(A, B[0, 3] - A[0, 3], B[1, 3] - A[1, 3], B[2, 3] - A[2, 3])


@compiled
def _relative(P: Array, X_AB: Pose, Q: Array, way: Vector) -> Pose:
    """Return the pose of piece Q of body B in the frame of piece P of body A."""
    x = _turned(X_AB, Q[0, 0], Q[1, 0], Q[2, 0])
    y = _turned(X_AB, Q[0, 1], Q[1, 1], Q[2, 1])
    z = _turned(X_AB, Q[0, 2], Q[1, 2], Q[2, 2])
    return (
        _turned_back(P, x[0], x[1], x[2]),
        _turned_back(P, y[0], y[1], y[2]),
        _turned_back(P, z[0], z[1], z[2]),
        _turned_back(P, way[0], way[1], way[2]),
    )


@compiled
def _apart(balls: Array, i: int, X_AB: Pose, others: Array, j: int) -> bool:
    """Return whether a ball of body A and one of body B are apart."""
    p = _moved(X_AB, others[j, 0], others[j, 1], others[j, 2])
    reach: float = balls[i, 3] + others[j, 3]
    return _squared(p, balls, i) > reach * reach


@compiled
def _squared(p: Vector, balls: Array, i: int) -> float:
    x, y, z = p[0] - balls[i, 0], p[1] - balls[i, 1], p[2] - balls[i, 2]
    squared: float = x * x + y * y + z * z
    return squared


@compiled
def _turned(X: Pose, a: float, b: float, c: float) -> Vector:
    x, y, z, _ = X
    return (
        a * x[0] + b * y[0] + c * z[0],
        a * x[1] + b * y[1] + c * z[1],
        a * x[2] + b * y[2] + c * z[2],
    )


@compiled
def _moved(X: Pose, a: float, b: float, c: float) -> Vector:
    v, p = _turned(X, a, b, c), X[3]
    return v[0] + p[0], v[1] + p[1], v[2] + p[2]


@compiled
def _turned_back(X: Array, a: float, b: float, c: float) -> Vector:
    return (
        X[0, 0] * a + X[1, 0] * b + X[2, 0] * c,
        X[0, 1] * a + X[1, 1] * b + X[2, 1] * c,
        X[0, 2] * a + X[1, 2] * b + X[2, 2] * c,
    )
