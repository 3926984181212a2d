"""Clearance of spheres for many configurations, as a Numba kernel.

It gives what `sphere_reference` defines, but leaves out links, clusters and
spheres that are farther away than the smallest gap found so far, and compares
squares. Inner functions take plain arrays: named tuples cost time at each call.
"""

from math import inf, sqrt

import numpy as np

from kinetarium.dynamics.compiled import compiled
from kinetarium.dynamics.sphere_arrays import ObstacleArrays, SphereArrays
from kinetarium.spatial.arrays import Array


@compiled
def clearances(
    poses: Array,
    spheres: SphereArrays,
    obstacles: ObstacleArrays,
    ceiling: float,
    first: bool,
) -> Array:
    """Give the smallest gap of each configuration.

    Args:
        poses: Poses X_WL of the links, shape (n, links, 4, 4).
        spheres: The robot's spheres and the pairs of links to be checked.
        obstacles: What stands around.
        ceiling: Gaps at or above this [m] are of no interest and given as this.
        first: Whether the first gap below the ceiling will do.

    Returns:
        The gaps [m], shape (n,).
    """
    links = np.empty(spheres.link_centers.shape)
    clusters = np.empty(spheres.cluster_centers.shape)
    centers = np.empty(spheres.centers.shape)
    result = np.empty(len(poses))
    for n in range(len(poses)):
        X_WL = poses[n]
        for link in range(len(links)):
            _move(X_WL[link], spheres.link_centers, links, link, link + 1)
        gap = _among_links(X_WL, spheres, links, clusters, centers, ceiling, first)
        if not (first and gap < ceiling):
            gap = _around(X_WL, spheres, obstacles, links, centers, gap)
        result[n] = gap
    return result


@compiled
def _among_links(
    X_WL: Array,
    spheres: SphereArrays,
    links: Array,
    clusters: Array,
    centers: Array,
    ceiling: float,
    first: bool,
) -> float:
    """Give the smallest gap between the links of all pairs, if below the ceiling."""
    radii, link_radii = spheres.radii, spheres.link_radii
    cluster_starts, link_starts = spheres.cluster_starts, spheres.link_starts
    cluster_radii = spheres.cluster_radii
    placed = np.zeros(len(links), dtype=np.bool_)
    best = ceiling
    for pair in range(len(spheres.pairs)):
        a, b = spheres.pairs[pair, 0], spheres.pairs[pair, 1]
        if not _within(_squared(links, a, links, b), link_radii[a] + link_radii[b] + best):
            continue
        for link in (a, b):
            if not placed[link]:
                placed[link] = True
                start, end = link_starts[link], link_starts[link + 1]
                _move(X_WL[link], spheres.cluster_centers, clusters, start, end)
                start, end = cluster_starts[start], cluster_starts[end]
                _move(X_WL[link], spheres.centers, centers, start, end)
        for i in range(cluster_starts[link_starts[a]], cluster_starts[link_starts[a + 1]]):
            if _within(_squared(centers, i, links, b), radii[i] + link_radii[b] + best):
                for c in range(link_starts[b], link_starts[b + 1]):
                    if _within(
                        _squared(centers, i, clusters, c), radii[i] + cluster_radii[c] + best
                    ):
                        start, end = cluster_starts[c], cluster_starts[c + 1]
                        best = _from_sphere(centers, radii, i, start, end, best)
                if first and best < ceiling:
                    return best
    return best


@compiled
def _from_sphere(centers: Array, radii: Array, i: int, start: int, end: int, best: float) -> float:
    """Give the smallest gap between one sphere and a run of others, if below the best so far."""
    for j in range(start, end):
        squared = _squared(centers, i, centers, j)
        if _within(squared, radii[i] + radii[j] + best):
            best = sqrt(squared) - radii[i] - radii[j]
    return best


@compiled
def _around(
    X_WL: Array,
    spheres: SphereArrays,
    obstacles: ObstacleArrays,
    links: Array,
    centers: Array,
    best: float,
) -> float:
    """Give the smallest gap between links and what stands around, if below the best so far."""
    _, balls, ball_radii, boxes, halves = obstacles
    for link in range(len(links)):
        ground = -inf if spheres.grounded[link] else obstacles.ground
        gap = _gap(links, link, ground, balls, ball_radii, boxes, halves)
        if gap - spheres.link_radii[link] < best:
            start = spheres.cluster_starts[spheres.link_starts[link]]
            end = spheres.cluster_starts[spheres.link_starts[link + 1]]
            _move(X_WL[link], spheres.centers, centers, start, end)
            for i in range(start, end):
                gap = _gap(centers, i, ground, balls, ball_radii, boxes, halves)
                best = min(best, gap - spheres.radii[i])
    return best


@compiled
def _gap(
    points: Array,
    i: int,
    ground: float,
    balls: Array,
    ball_radii: Array,
    boxes: Array,
    halves: Array,
) -> float:
    """Give the distance of a point from everything around, negative inside."""
    nearest: float = points[i, 2] - ground
    for k in range(len(balls)):
        nearest = min(nearest, sqrt(_squared(points, i, balls, k)) - ball_radii[k])
    for k in range(len(boxes)):
        squared, deepest = 0.0, -inf
        for axis in range(3):
            along = 0.0
            for row in range(3):
                along += boxes[k, row, axis] * (points[i, row] - boxes[k, row, 3])
            beyond = abs(along) - halves[k, axis]
            deepest = max(deepest, beyond)
            squared += max(beyond, 0.0) ** 2
        nearest = min(nearest, sqrt(squared) + min(deepest, 0.0))
    return nearest


@compiled
def _move(X: Array, points: Array, moved: Array, start: int, end: int) -> None:
    """Transform points from start to end into another array."""
    for i in range(start, end):
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        for row in range(3):
            moved[i, row] = X[row, 0] * x + X[row, 1] * y + X[row, 2] * z + X[row, 3]


@compiled
def _squared(a: Array, i: int, b: Array, j: int) -> float:
    x, y, z = a[i, 0] - b[j, 0], a[i, 1] - b[j, 1], a[i, 2] - b[j, 2]
    squared: float = x * x + y * y + z * z
    return squared


@compiled
def _within(squared: float, reach: float) -> bool:
    return reach > 0.0 and squared < reach * reach
