"""Edge collapses by quadric errors, as a Numba kernel.

Garland, Heckbert, "Surface simplification using quadric error metrics", SIGGRAPH 1997. An edge is
collapsed only where the surface stays what it was: no face turns over, and the neighbours that
both ends share are the corners opposite the edge (the link condition of Dey et al., "Topology
preserving edge contraction", 1999). A closed surface therefore stays closed. Meshes of many small
parts and of edges with more than two faces get stuck by that, and are then treated less strictly.
"""

from heapq import heapify, heappop, heappush
from math import inf, sqrt

import numpy as np
from numpy.typing import NDArray

from kinetarium.spatial.arrays import Array
from kinetarium.spatial.compiled import compiled

Indices = NDArray[np.int64]

_BORDER = 30.0
"""Weight of the planes that keep an open border where it is, relative to those of faces."""
_TURN = 0.2
"""Least cosine between the normals of a face before and after."""


@compiled
def collapse(points: Array, faces: Indices, most_faces: int, strict: bool) -> tuple[Array, Indices]:
    """Collapse the cheapest edges until few faces are left, or none can be collapsed.

    Args:
        points: The vertices, each place once, in a box of about unit size; shape (n, 3).
        faces: The triangles, without degenerate ones, shape (m, 3).
        most_faces: When to stop.
        strict: Whether the surface stays what it was. Otherwise sheets may touch and small parts
            vanish; this opens no hole either, since neighbours stay neighbours.

    Returns:
        All points as they were moved, and the faces that are left.
    """
    n, m = len(points), len(faces)
    points, faces = points.copy(), faces.copy()
    alive = np.ones(m, dtype=np.bool_)
    # The faces at each vertex, as linked lists of their corners: two lists are joined at once.
    head, tail = np.full(n, -1, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    after = np.full(3 * m, -1, dtype=np.int64)
    for corner in range(3 * m):
        v = faces[corner // 3, corner % 3]
        if head[v] < 0:
            head[v] = corner
        else:
            after[tail[v]] = corner
        tail[v] = corner
    quadrics = _quadrics(points, faces, head, after)
    version = np.zeros(n, dtype=np.int64)
    heap = [(0.0, 0, 0, 0, 0)]
    heap.pop()
    for f in range(m):
        for k in range(3):
            a, b = faces[f, k], faces[f, (k + 1) % 3]
            if a < b or _shared(a, b, faces, head, after, alive) == 1:
                heap.append((_best(points, quadrics, a, b)[0], a, b, 0, 0))
    heapify(heap)
    count = m
    while count > most_faces and len(heap) > 0:
        _, a, b, version_a, version_b = heappop(heap)
        if version[a] != version_a or version[b] != version_b or head[a] < 0 or head[b] < 0:
            continue
        _, x, y, z = _best(points, quadrics, a, b)
        if strict and not _allowed(a, b, points, faces, head, after, alive):
            continue
        place = np.array([x, y, z])
        if _turns(a, b, place, points, faces, head, after, alive):
            continue
        if _turns(b, a, place, points, faces, head, after, alive):
            continue
        corner = head[b]
        while corner >= 0:
            f = corner // 3
            if alive[f]:
                if faces[f, 0] == a or faces[f, 1] == a or faces[f, 2] == a:
                    alive[f] = False
                    count -= 1
                else:
                    faces[f, corner % 3] = a
            corner = after[corner]
        after[tail[a]], tail[a] = head[b], tail[b]
        head[b] = -1
        points[a] = place
        quadrics[a] += quadrics[b]
        version[a] += 1
        corner = head[a]
        while corner >= 0:
            f = corner // 3
            if alive[f]:
                for k in range(3):
                    v = faces[f, k]
                    if v != a:
                        # Twice for most edges; the second finds its version outdated.
                        cost = _best(points, quadrics, a, v)[0]
                        heappush(heap, (cost, a, v, version[a], version[v]))
            corner = after[corner]
    return points, faces[alive]


@compiled
def _quadrics(points: Array, faces: Indices, head: Indices, after: Indices) -> Array:
    """Return the quadric of each vertex: the planes of its faces and borders, shape (n, 4, 4)."""
    quadrics = np.zeros((len(points), 4, 4))
    alive = np.ones(len(faces), dtype=np.bool_)
    plane = np.empty(4)
    for f in range(len(faces)):
        i, j, k = faces[f]
        normal = np.cross(points[j] - points[i], points[k] - points[i])
        area = sqrt((normal * normal).sum())
        if area == 0.0:
            continue
        plane[:3] = normal / area
        plane[3] = -(plane[:3] * points[i]).sum()
        for v in (i, j, k):
            quadrics[v] += area * np.outer(plane, plane)
        for c in range(3):
            a, b = faces[f, c], faces[f, (c + 1) % 3]
            if _shared(a, b, faces, head, after, alive) != 1:
                continue
            side = np.cross(points[b] - points[a], normal / area)
            length = sqrt((side * side).sum())
            if length == 0.0:
                continue
            plane[:3] = side / length
            plane[3] = -(plane[:3] * points[a]).sum()
            for v in (a, b):
                quadrics[v] += _BORDER * length * length * np.outer(plane, plane)
    return quadrics


@compiled
def _shared(
    a: int, b: int, faces: Indices, head: Indices, after: Indices, alive: NDArray[np.bool_]
) -> int:
    """Return how many faces two vertices share."""
    count = 0
    corner = head[a]
    while corner >= 0:
        f = corner // 3
        if alive[f] and (faces[f, 0] == b or faces[f, 1] == b or faces[f, 2] == b):
            count += 1
        corner = after[corner]
    return count


@compiled
def _best(points: Array, quadrics: Array, a: int, b: int) -> tuple[float, float, float, float]:
    """Return the least error of a vertex that replaces two, and its place."""
    Q = quadrics[a] + quadrics[b]
    middle = 0.5 * (points[a] + points[b])
    best = inf
    x, y, z = middle
    c = np.empty(4)
    c[3] = 1.0
    for choice in range(4):
        if choice == 0:
            A = Q[:3, :3].copy()
            trace = A[0, 0] + A[1, 1] + A[2, 2]
            det = (
                A[0, 0] * (A[1, 1] * A[2, 2] - A[1, 2] * A[2, 1])
                - A[0, 1] * (A[1, 0] * A[2, 2] - A[1, 2] * A[2, 0])
                + A[0, 2] * (A[1, 0] * A[2, 1] - A[1, 1] * A[2, 0])
            )
            if not det > 1e-6 * trace * trace * trace:
                continue
            c[:3] = np.linalg.solve(A, -Q[:3, 3])
            # A place far from both would be one of nearly parallel planes.
            if ((c[:3] - middle) ** 2).sum() > ((points[a] - points[b]) ** 2).sum():
                continue
        elif choice == 1:
            c[:3] = middle
        elif choice == 2:
            c[:3] = points[a]
        else:
            c[:3] = points[b]
        error = 0.0
        for i in range(4):
            for j in range(4):
                error += c[i] * Q[i, j] * c[j]
        if error < best:
            best, x, y, z = error, c[0], c[1], c[2]
    # Of planes that all hold, short edges go first.
    return best + 1e-9 * ((points[a] - points[b]) ** 2).sum(), x, y, z


@compiled
def _allowed(
    a: int,
    b: int,
    points: Array,
    faces: Indices,
    head: Indices,
    after: Indices,
    alive: NDArray[np.bool_],
) -> bool:
    """Check whether the surface stays what it is when an edge is collapsed."""
    shared = _shared(a, b, faces, head, after, alive)
    if shared == 0 or shared > 2:
        return False
    around = [a]
    around.pop()
    edges_a = _neighbours(a, faces, head, after, alive, around)
    other = [b]
    other.pop()
    edges_b = _neighbours(b, faces, head, after, alive, other)
    common = 0
    for v in around:
        for w in other:
            if v == w:
                common += 1
    # Two ends on borders that are joined by an inner edge would pinch the surface.
    if shared == 2 and edges_a and edges_b:
        return False
    return common == shared and len(around) + len(other) - common > 4


@compiled
def _neighbours(
    a: int,
    faces: Indices,
    head: Indices,
    after: Indices,
    alive: NDArray[np.bool_],
    found: list[int],
) -> bool:
    """Append the neighbours of a vertex, each once, and return whether it is on a border."""
    incident = 0
    corner = head[a]
    while corner >= 0:
        f = corner // 3
        if alive[f]:
            incident += 1
            for k in range(3):
                v = faces[f, k]
                if v != a and v not in found:
                    found.append(v)
        corner = after[corner]
    return len(found) != incident


@compiled
def _turns(
    a: int,
    b: int,
    place: Array,
    points: Array,
    faces: Indices,
    head: Indices,
    after: Indices,
    alive: NDArray[np.bool_],
) -> bool:
    """Check whether a face of one vertex, but not of the other, turns over when it is moved."""
    corner = head[a]
    while corner >= 0:
        f, k = corner // 3, corner % 3
        corner = after[corner]
        if not alive[f]:
            continue
        q, r = faces[f, (k + 1) % 3], faces[f, (k + 2) % 3]
        if q == b or r == b:
            continue
        old = np.cross(points[q] - points[a], points[r] - points[a])
        new = np.cross(points[q] - place, points[r] - place)
        sizes = sqrt((old * old).sum() * (new * new).sum())
        if not (old * new).sum() > _TURN * sizes:
            return True
    return False
