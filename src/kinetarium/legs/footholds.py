"""Where feet are put on a terrain."""

from math import radians, tan

import numpy as np
from numpy.typing import NDArray

from kinetarium.legs.terrain import Step, Terrain
from kinetarium.spatial.arrays import Array


def ground_height(terrain: Terrain, x: Array, y: Array) -> Array:
    """Give the height of the ground at points [unit], shape (...)."""
    z = np.maximum(0.0, (x - terrain.slope_from) * tan(radians(terrain.slope_deg)))
    for step in terrain.steps:
        on = (step.x0 <= x) & (x <= step.x1) & (step.y0 <= y) & (y <= step.y1)
        z = np.where(on, np.maximum(z, step.height), z)
    return np.asarray(z)


def footholds(terrain: Terrain, points: Array, *, highest: float) -> Array:
    """Give where feet are put instead of points on level ground [unit], shape (..., 3).

    A foot keeps clear of the edges of blocks, on the nearer side, and off blocks that are too
    high.

    Args:
        terrain: The ground.
        points: Where they would be put on level ground, shape (..., 2).
        highest: The highest block that a foot is put on [unit].
    """
    x, y = points[..., 0].copy(), points[..., 1].copy()
    for step in terrain.steps:
        free = min(terrain.clearance, (step.x1 - step.x0) / 2, (step.y1 - step.y0) / 2)
        if step.height > highest:
            _leave(x, y, step, free=free)
            continue
        for value, other, (low, high), (start, end) in (
            (x, y, (step.x0, step.x1), (step.y0, step.y1)),
            (y, x, (step.y0, step.y1), (step.x0, step.x1)),
        ):
            beside = (start - free < other) & (other < end + free)
            for edge in (low, high):
                near = beside & (np.abs(value - edge) < free)
                value[near] = np.where(value < edge, edge - free, edge + free)[near]
    return np.stack([x, y, ground_height(terrain, x, y)], axis=-1)


def _leave(x: Array, y: Array, step: Step, *, free: float) -> None:
    """Move points off a block, the shortest way."""
    x0, x1, y0, y1 = step.x0 - free, step.x1 + free, step.y0 - free, step.y1 + free
    on: NDArray[np.bool_] = (x0 < x) & (x < x1) & (y0 < y) & (y < y1)
    along = np.minimum(x - x0, x1 - x) <= np.minimum(y - y0, y1 - y)
    out_x = np.where(x - x0 < x1 - x, x0, x1)
    out_y = np.where(y - y0 < y1 - y, y0, y1)
    x[on & along], y[on & ~along] = out_x[on & along], out_y[on & ~along]
