"""Roundness: how far a path is from being a circle, whatever its radius."""

import numpy as np

from kinetarium.spatial.arrays import Array


def out_of_round(points: Array) -> float:
    """Give the root mean square distance of points from the circle that fits them best [m].

    The circle minimises the squared error of x^2 + y^2 + a x + b y + c = 0
    (Kasa, "A circle fitting procedure and its error analysis", 1976).

    Args:
        points: At least three points in the plane, not all on a line [m], shape (n, 2).
    """
    middle = points.mean(axis=0)
    x, y = (points - middle).T
    rows = np.column_stack([x, y, np.ones_like(x)])
    a, b, c = np.linalg.lstsq(rows, -(x**2 + y**2), rcond=None)[0]
    radius = np.sqrt(max(0.0, a * a / 4 + b * b / 4 - c))
    return float(np.sqrt(np.mean((np.hypot(x + a / 2, y + b / 2) - radius) ** 2)))
