"""Distance and winding number of triangle meshes at many points, as Numba kernels.

Triangles come in groups of neighbours. For the distance a group is skipped when
its bounding sphere is farther away than the best so far; for the winding number a
distant group counts as one dipole, the first term of the expansion of Barill et
al., "Fast Winding Numbers for Soups and Clouds", 2018. The brute-force reference
is in the tests, `mesh_reference`.
"""

from math import atan2, inf, pi, sqrt

import numpy as np

from kinetarium.dynamics.triangle_groups import TriangleGroups
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.compiled import compiled
from kinetarium.spatial.kernels import Vector, cross, dot, minus

FAR = 2.0
"""A group is distant beyond this many of its radii."""


@compiled
def distances(points: Array, groups: TriangleGroups) -> Array:
    """Return the distance of points [m], shape (n, 3), from the nearest triangle, shape (n,)."""
    centers, radii = groups.centers, groups.radii
    result = np.empty(len(points))
    gaps = np.empty(len(radii))
    for i in range(len(points)):
        p = _row(points, i)
        nearest = 0
        for g in range(len(radii)):
            gaps[g] = _length(minus(_row(centers, g), p)) - radii[g]
            if gaps[g] < gaps[nearest]:
                nearest = g
        best = _distance_group(p, groups, nearest, inf)
        for g in range(len(radii)):
            if gaps[g] < best:
                best = _distance_group(p, groups, g, best)
        result[i] = best
    return result


@compiled
def _distance_group(p: Vector, groups: TriangleGroups, g: int, best: float) -> float:
    """Return the distance from the triangles of a group, if below the best so far."""
    for t in range(groups.starts[g], groups.starts[g + 1]):
        if _length(minus(_row(groups.middles, t), p)) - groups.reaches[t] < best:
            best = min(best, sqrt(_squared_distance(p, groups.triangles, t)))
    return best


@compiled
def winding_numbers(points: Array, groups: TriangleGroups) -> Array:
    """Return how often triangles wind around points [m], shape (n, 3): one inside, zero outside.

    Fractions appear where the mesh has holes; the dipoles add small errors.
    """
    starts, centers, radii = groups.starts, groups.centers, groups.radii
    result = np.empty(len(points))
    for i in range(len(points)):
        p = _row(points, i)
        angle = 0.0
        for g in range(len(radii)):
            r = minus(_row(centers, g), p)
            distance = _length(r)
            if distance > FAR * radii[g]:
                angle += dot(_row(groups.areas, g), r) / distance**3
            else:
                for t in range(starts[g], starts[g + 1]):
                    angle += _solid_angle(p, groups.triangles, t)
        result[i] = angle / (4.0 * pi)
    return result


@compiled
def _squared_distance(p: Vector, triangles: Array, t: int) -> float:
    """Measure to the plane where p lies above the triangle, else to the nearest edge."""
    a, b, c = _corner(triangles, t, 0), _corner(triangles, t, 1), _corner(triangles, t, 2)
    normal = cross(minus(b, a), minus(c, a))
    area = dot(normal, normal)
    if area > 0.0:
        above_a = dot(cross(normal, minus(b, a)), minus(p, a)) >= 0.0
        above_b = dot(cross(normal, minus(c, b)), minus(p, b)) >= 0.0
        above_c = dot(cross(normal, minus(a, c)), minus(p, c)) >= 0.0
        if above_a and above_b and above_c:
            height = dot(normal, minus(p, a))
            return height * height / area
    return min(
        _squared_distance_edge(p, a, b),
        _squared_distance_edge(p, b, c),
        _squared_distance_edge(p, c, a),
    )


@compiled
def _squared_distance_edge(p: Vector, a: Vector, b: Vector) -> float:
    edge, ap = minus(b, a), minus(p, a)
    squared = dot(edge, edge)
    along = min(max(dot(ap, edge) / squared, 0.0), 1.0) if squared > 0.0 else 0.0
    gap = (ap[0] - along * edge[0], ap[1] - along * edge[1], ap[2] - along * edge[2])
    return dot(gap, gap)


@compiled
def _solid_angle(p: Vector, triangles: Array, t: int) -> float:
    """Return the signed solid angle of a triangle (Van Oosterom and Strackee, 1983) [sr]."""
    a = minus(_corner(triangles, t, 0), p)
    b = minus(_corner(triangles, t, 1), p)
    c = minus(_corner(triangles, t, 2), p)
    la, lb, lc = _length(a), _length(b), _length(c)
    volume = dot(a, cross(b, c))
    return 2.0 * atan2(volume, la * lb * lc + dot(a, b) * lc + dot(a, c) * lb + dot(b, c) * la)


@compiled
def _row(values: Array, i: int) -> Vector:
    return values[i, 0], values[i, 1], values[i, 2]


@compiled
def _corner(triangles: Array, t: int, k: int) -> Vector:
    return triangles[t, k, 0], triangles[t, k, 1], triangles[t, k, 2]


@compiled
def _length(a: Vector) -> float:
    return sqrt(dot(a, a))
