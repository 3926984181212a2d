"""Clearance of spheres for many configurations, as a Numba kernel.

It gives what `sphere_reference` defines, but leaves out whatever bounding
spheres show to be farther away than the smallest gap found so far.
"""

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from kinetarium.dynamics.compiled import compiled
from kinetarium.dynamics.sphere_arrays import ObstacleArrays, SphereArrays
from kinetarium.spatial.arrays import Array

Flags = NDArray[np.bool_]


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
    links = len(spheres.bound_radii)
    result = np.empty(len(poses))
    bounds = np.empty((links, 3))
    centers = np.empty(spheres.centers.shape)
    placed = np.empty(links, dtype=np.bool_)
    for n in range(len(poses)):
        for link in range(links):
            _transform(poses[n, link], spheres.bound_centers, link, bounds)
            placed[link] = False
        best = _among_links(poses[n], spheres, bounds, centers, placed, ceiling, first)
        if not (first and best < ceiling):
            best = _around(poses[n], spheres, obstacles, bounds, centers, placed, best, first)
        result[n] = best
    return result


@compiled
def _among_links(
    X_WL: Array,
    spheres: SphereArrays,
    bounds: Array,
    centers: Array,
    placed: Flags,
    best: float,
    first: bool,
) -> float:
    """Give the smallest gap between the pairs of links, if below the best so far."""
    start, starts, radii = best, spheres.starts, spheres.radii
    for pair in range(len(spheres.pairs)):
        a, b = spheres.pairs[pair, 0], spheres.pairs[pair, 1]
        reach_b = spheres.bound_radii[b]
        if _distance(bounds, a, bounds, b) - spheres.bound_radii[a] - reach_b >= best:
            continue
        _place(X_WL, spheres, a, centers, placed)
        _place(X_WL, spheres, b, centers, placed)
        for i in range(starts[a], starts[a + 1]):
            if _distance(centers, i, bounds, b) - radii[i] - reach_b >= best:
                continue
            for j in range(starts[b], starts[b + 1]):
                gap = _distance(centers, i, centers, j) - radii[i] - radii[j]
                if gap < best:
                    best = gap
                    if first and best < start:
                        return best
    return best


@compiled
def _around(
    X_WL: Array,
    spheres: SphereArrays,
    obstacles: ObstacleArrays,
    bounds: Array,
    centers: Array,
    placed: Flags,
    best: float,
    first: bool,
) -> float:
    """Give the smallest gap between links and what stands around, if below the best so far."""
    start, starts = best, spheres.starts
    for link in range(len(spheres.bound_radii)):
        if _gap(bounds, link, spheres.bound_radii[link], spheres.grounded[link], obstacles) >= best:
            continue
        _place(X_WL, spheres, link, centers, placed)
        for i in range(starts[link], starts[link + 1]):
            gap = _gap(centers, i, spheres.radii[i], spheres.grounded[link], obstacles)
            if gap < best:
                best = gap
                if first and best < start:
                    return best
    return best


@compiled
def _gap(centers: Array, i: int, radius: float, grounded: bool, obstacles: ObstacleArrays) -> float:
    """Give the gap between one sphere and everything around."""
    nearest = np.inf if grounded else centers[i, 2] - obstacles.ground
    for k in range(len(obstacles.radii)):
        nearest = min(nearest, _distance(centers, i, obstacles.centers, k) - obstacles.radii[k])
    for k in range(len(obstacles.boxes)):
        X_WO = obstacles.boxes[k]
        squared, deepest = 0.0, -np.inf
        for axis in range(3):
            along = 0.0
            for row in range(3):
                along += X_WO[row, axis] * (centers[i, row] - X_WO[row, 3])
            beyond = abs(along) - obstacles.halves[k, axis]
            deepest = max(deepest, beyond)
            squared += max(beyond, 0.0) ** 2
        nearest = min(nearest, sqrt(squared) + min(deepest, 0.0))
    return nearest - radius


@compiled
def _place(X_WL: Array, spheres: SphereArrays, link: int, centers: Array, placed: Flags) -> None:
    """Move the spheres of a link to where they are in the world, once."""
    if not placed[link]:
        placed[link] = True
        for i in range(spheres.starts[link], spheres.starts[link + 1]):
            _transform(X_WL[link], spheres.centers, i, centers)


@compiled
def _transform(X: Array, points: Array, i: int, moved: Array) -> None:
    x, y, z = points[i, 0], points[i, 1], points[i, 2]
    for row in range(3):
        moved[i, row] = X[row, 0] * x + X[row, 1] * y + X[row, 2] * z + X[row, 3]


@compiled
def _distance(a: Array, i: int, b: Array, j: int) -> float:
    x, y, z = a[i, 0] - b[j, 0], a[i, 1] - b[j, 1], a[i, 2] - b[j, 2]
    return sqrt(x * x + y * y + z * z)
