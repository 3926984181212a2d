"""Whether two convex sets are closer than a margin (GJK), as a Numba kernel.

The algorithm of Gilbert, Johnson and Keerthi ("A fast procedure for computing the
distance between complex objects in three-dimensional space", 1988) searches the Minkowski
difference of the two sets for the point nearest to the origin. Each set is a box plus a disc
across z (a point, a segment, a cylinder, a box) or the convex hull of its corners. The search
ends as soon as a plane separates the sets by more than the margin, or a point of the
difference is nearer than that.
"""

from math import inf, sqrt

from kinetarium.spatial.arrays import Array
from kinetarium.spatial.compiled import compiled
from kinetarium.spatial.kernels import Vector, cross, dot, minus

STEPS = 32
"""After this many steps the sets count as close, so that no contact is missed."""
CONVERGED = 1e-12
"""Progress, relative to the squared distance, at which the search has converged."""

Simplex = tuple[int, Vector, Vector, Vector, Vector]
"""The number of used points, and four points."""

NIL = (0.0, 0.0, 0.0)


@compiled
def closer(
    sizes: Array,
    corners: Array,
    i: int,
    j: int,
    x: Vector,
    y: Vector,
    z: Vector,
    p: Vector,
    margin: float,
) -> bool:
    """Return whether two sets are closer to each other than a margin.

    Args:
        sizes: The sizes of the sets, as in `PieceArrays` [m], shape (n, 9).
        corners: Corners of the hulls [m], shape (corners, 3).
        i: The first set, in whose frame everything is expressed.
        j: The second set.
        x: The x axis of the second set's frame.
        y: Its y axis.
        z: Its z axis.
        p: Its origin [m].
        margin: The margin [m].
    """
    v = (-p[0], -p[1], -p[2])
    simplex = (0, NIL, NIL, NIL, NIL)
    square = dot(v, v)
    for _ in range(STEPS):
        if square <= margin * margin or square < 1e-24:
            return True
        # The support point of the difference in the direction of the origin.
        a = support(sizes, corners, i, (-v[0], -v[1], -v[2]))
        b = support(sizes, corners, j, (dot(v, x), dot(v, y), dot(v, z)))
        w = (
            a[0] - b[0] * x[0] - b[1] * y[0] - b[2] * z[0] - p[0],
            a[1] - b[0] * x[1] - b[1] * y[1] - b[2] * z[1] - p[1],
            a[2] - b[0] * x[2] - b[1] * y[2] - b[2] * z[2] - p[2],
        )
        along = dot(v, w)
        # The plane through w normal to v separates the sets by along / |v|.
        if along > 0.0 and along * along > margin * margin * square:
            return False
        if square - along <= CONVERGED * square:
            return False
        simplex, v = _nearest(simplex, w)
        if simplex[0] == 4:  # the tetrahedron contains the origin: the sets overlap
            return True
        square = dot(v, v)
    return True


@compiled
def segments_gap(u: Vector, half_u: float, v: Vector, half_v: float, d: Vector) -> float:
    """Return the squared distance between two segments (Ericson, 2005, section 5.1.9) [m^2].

    Args:
        u: Direction of the first.
        half_u: Half its length [m].
        v: Direction of the second.
        half_v: Half its length [m].
        d: The vector from the first's centre to the second's [m].
    """
    cosine, along_u, along_v = dot(u, v), dot(d, u), dot(d, v)
    across = 1.0 - cosine * cosine
    s = (along_u - cosine * along_v) / across if across > 1e-12 else 0.0
    s = min(max(s, -half_u), half_u)
    t = min(max(cosine * s - along_v, -half_v), half_v)
    s = min(max(along_u + cosine * t, -half_u), half_u)
    x = d[0] + t * v[0] - s * u[0]
    y = d[1] + t * v[1] - s * u[1]
    z = d[2] + t * v[2] - s * u[2]
    return x * x + y * y + z * z


@compiled
def support(sizes: Array, corners: Array, i: int, d: Vector) -> Vector:
    """Return the support point of a set in a direction."""
    if sizes[i, 7] < sizes[i, 8]:
        return _farthest_corner(corners, int(sizes[i, 7]), int(sizes[i, 8]), d)
    x, y, z = 0.0, 0.0, sizes[i, 2] if d[2] > 0.0 else -sizes[i, 2]
    disc = sizes[i, 3]
    if disc > 0.0:
        across = sqrt(d[0] * d[0] + d[1] * d[1])
        if across > 0.0:
            x, y = disc * d[0] / across, disc * d[1] / across
    else:
        x = sizes[i, 0] if d[0] > 0.0 else -sizes[i, 0]
        y = sizes[i, 1] if d[1] > 0.0 else -sizes[i, 1]
    return x, y, z


@compiled
def _farthest_corner(corners: Array, start: int, end: int, d: Vector) -> Vector:
    farthest, best = start, -inf
    for n in range(start, end):
        along = corners[n, 0] * d[0] + corners[n, 1] * d[1] + corners[n, 2] * d[2]
        if along > best:
            farthest, best = n, along
    return corners[farthest, 0], corners[farthest, 1], corners[farthest, 2]


@compiled
def _nearest(simplex: Simplex, w: Vector) -> tuple[Simplex, Vector]:
    """Add a point to a simplex, and reduce it to the points that span the one nearest to 0."""
    count, a, b, c, _ = simplex
    if count == 0:
        return (1, w, NIL, NIL, NIL), w
    if count == 1:
        return _nearest_segment(w, a)
    if count == 2:
        return _nearest_triangle(w, a, b)
    best, v, square = simplex, NIL, -1.0
    faces = ((w, a, b, c), (w, b, c, a), (w, c, a, b), (a, b, c, w))
    for i in range(4):
        k, m, n, other = faces[i]
        normal = cross(minus(m, k), minus(n, k))
        # If the origin and the fourth point are on different sides, this face may be nearest;
        # of a flat tetrahedron every face may be.
        if dot(normal, k) * dot(normal, minus(other, k)) >= 0.0:
            candidate, point = _nearest_triangle(k, m, n)
            if square < 0.0 or dot(point, point) < square:
                best, v, square = candidate, point, dot(point, point)
    if square < 0.0:
        return (4, w, a, b, c), NIL
    return best, v


@compiled
def _nearest_segment(a: Vector, b: Vector) -> tuple[Simplex, Vector]:
    edge = minus(b, a)
    along, length = -dot(a, edge), dot(edge, edge)
    if along <= 0.0:
        return (1, a, NIL, NIL, NIL), a
    if along >= length:
        return (1, b, NIL, NIL, NIL), b
    t = along / length
    return (2, a, b, NIL, NIL), (a[0] + t * edge[0], a[1] + t * edge[1], a[2] + t * edge[2])


@compiled
def _nearest_triangle(a: Vector, b: Vector, c: Vector) -> tuple[Simplex, Vector]:
    """Find the Voronoi region of the origin by barycentric areas (Ericson, 2005, 5.1.5)."""
    ab, ac = minus(b, a), minus(c, a)
    d1, d2 = -dot(ab, a), -dot(ac, a)
    if d1 <= 0.0 and d2 <= 0.0:
        return (1, a, NIL, NIL, NIL), a
    d3, d4 = -dot(ab, b), -dot(ac, b)
    if d3 >= 0.0 and d4 <= d3:
        return (1, b, NIL, NIL, NIL), b
    d5, d6 = -dot(ab, c), -dot(ac, c)
    if d6 >= 0.0 and d5 <= d6:
        return (1, c, NIL, NIL, NIL), c
    area_c, area_b, area_a = d1 * d4 - d3 * d2, d5 * d2 - d1 * d6, d3 * d6 - d5 * d4
    if area_c <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        return _nearest_segment(a, b)
    if area_b <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        return _nearest_segment(a, c)
    if area_a <= 0.0 and d4 >= d3 and d5 >= d6:
        return _nearest_segment(b, c)
    total = area_a + area_b + area_c
    if total <= 0.0:
        return _nearest_segment(a, b)
    s, t = area_b / total, area_c / total
    v = (
        a[0] + s * ab[0] + t * ac[0],
        a[1] + s * ab[1] + t * ac[1],
        a[2] + s * ab[2] + t * ac[2],
    )
    return (3, a, b, c, NIL), v
