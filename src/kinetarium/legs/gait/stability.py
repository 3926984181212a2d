"""Static stability: the centre of mass in the support polygon, as Numba kernels."""

from math import hypot, inf

import numpy as np
from numpy.typing import NDArray

from kinetarium.spatial.arrays import Array
from kinetarium.spatial.compiled import compiled


@compiled
def hull_margin(points: Array, x: float, y: float) -> float:
    """Return the distance of a point from the border of a convex hull, negative outside.

    The hull of four feet is often a triangle, and their polygon may intersect itself; so a
    pair of points is an edge if all points are on one side of it, whatever their order.

    Args:
        points: Two or more points, shape (n, 2).
    """
    n = len(points)
    inside, nearest = inf, inf
    for i in range(n):
        for j in range(n):
            dx, dy = points[j, 0] - points[i, 0], points[j, 1] - points[i, 1]
            length = hypot(dx, dy)
            if i == j:
                continue
            px, py = x - points[i, 0], y - points[i, 1]
            if length == 0.0:
                nearest = min(nearest, hypot(px, py))
                continue
            dx, dy = dx / length, dy / length
            along = min(max(px * dx + py * dy, 0.0), length)
            nearest = min(nearest, hypot(px - along * dx, py - along * dy))
            is_edge = True
            for k in range(n):
                if k == i or k == j:
                    continue
                # All other points to the left of i -> j: an edge, counter-clockwise.
                across = dx * (points[k, 1] - points[i, 1]) - dy * (points[k, 0] - points[i, 0])
                is_edge = is_edge and across >= 0.0
            if is_edge:
                inside = min(inside, dx * py - dy * px)
    return inside if 0.0 <= inside < inf else 0.0 - nearest


@compiled
def support_margins(feet: Array, support: NDArray[np.bool_], com: Array) -> Array:
    """Return the static margin of every frame [unit], shape (n,).

    Args:
        feet: The feet in the world [unit], shape (n, 4, 3).
        support: Which of them are on the ground, shape (n, 4).
        com: The centre of mass [unit], shape (n, 3).
    """
    margins = np.empty(len(feet))
    points = np.empty((4, 2))
    for i in range(len(feet)):
        count = 0
        for leg in range(4):
            if support[i, leg]:
                points[count] = feet[i, leg, :2]
                count += 1
        margins[i] = hull_margin(points[:count], com[i, 0], com[i, 1])
    return margins


@compiled
def into_triangle(corners: Array, x: float, y: float, inset: float) -> tuple[float, float]:
    """Return the point of a triangle, shrunk by an inset, that is nearest to a point.

    If the shrunken triangle is empty, the result is the centre of the inscribed circle.

    Args:
        corners: Its corners, shape (3, 2).
        inset: Distance from every edge.
    """
    if hull_margin(corners, x, y) >= inset:
        return x, y
    sides = np.empty(3)
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        sides[i] = hypot(corners[j, 0] - corners[k, 0], corners[j, 1] - corners[k, 1])
    around = sides.sum()
    if around == 0.0:
        return corners[0, 0], corners[0, 1]
    # Centre of the inscribed circle: the corners weighted by their opposite sides.
    cx = (sides * corners[:, 0]).sum() / around
    cy = (sides * corners[:, 1]).sum() / around
    radius = hull_margin(corners, cx, cy)
    if radius <= inset:
        return cx, cy
    # An inset scales the triangle about the centre of its inscribed circle.
    shrink = 1.0 - inset / radius
    best, bx, by = inf, cx, cy
    for i in range(3):
        j = (i + 1) % 3
        px, py = cx + shrink * (corners[i, 0] - cx), cy + shrink * (corners[i, 1] - cy)
        dx, dy = shrink * (corners[j, 0] - corners[i, 0]), shrink * (corners[j, 1] - corners[i, 1])
        square = dx * dx + dy * dy
        t = ((x - px) * dx + (y - py) * dy) / square if square > 0.0 else 0.0
        t = min(max(t, 0.0), 1.0)
        qx, qy = px + t * dx, py + t * dy
        distance = hypot(x - qx, y - qy)
        if distance < best:
            best, bx, by = distance, qx, qy
    return bx, by
