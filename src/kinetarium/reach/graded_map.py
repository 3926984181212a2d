"""The graded 4-D inverse reachability map: over height, tilt and place of the base.

A turn of the base about the vertical only shifts the first joint, a turn of the tool
about its axis only the last; what is left of a pose are four numbers (Rudorfer, "RM4D: a
combined reachability and inverse reachability map for common 6-/7-axis robot arms by
dimensionality reduction to 4D", 2024): the height z of the tool over the base, the angle
theta between the tool's z axis and the vertical, and the place x*, y* of the base in a
horizontal frame at the tool whose x axis points where the tool's z axis points.

A cell does not say yes or no: it keeps which part of the poses that fall into it, their
two turns included, can be reached, and their mean manipulability.
"""

from math import pi

import numpy as np

from kinetarium.reach.arm import Arm
from kinetarium.reach.ik import solve_many
from kinetarium.reach.map_files import Field
from kinetarium.reach.map_layout import FULL, TILTS, GradedGrid, graded_grid, value_type
from kinetarium.reach.recipe import MapRecipe
from kinetarium.spatial.arrays import Array

ROOT = 1.1347241384015194
"""The root of x^7 = x + 1, whose powers spread points evenly over six dimensions."""
GOLDEN = 0.6180339887498949


class GradedMaker:
    """Makes graded maps; a shard is a layer of equal height."""

    def __init__(self, recipe: MapRecipe, arm: Arm) -> None:
        """Prepare the cells.

        Args:
            recipe: What to make.
            arm: The robot.
        """
        self.units = {"reach": f"1/{FULL} of the poses", "manipulability": "m^3"}
        self.dtype = value_type(recipe.kind)
        self._grid = graded_grid(recipe)
        self._recipe, self._arm = recipe, arm
        self.shape = (self._grid.layers, TILTS, self._grid.side, self._grid.side)
        self.shards = self._grid.layers

    def shard(self, number: int) -> Field:
        """Make one layer, one tilt after the other."""
        poses, size = self._recipe.poses, self._grid.side**2
        values = np.empty(TILTS * size, self.dtype)
        for tilt in range(TILTS):
            cells = slice(tilt * size, (tilt + 1) * size)
            parts = spread(
                (number * TILTS + tilt) * size * poses, size * poses, seed=self._recipe.seed
            )
            X_BT = cell_poses(self._grid, parts, layer=number, tilt=tilt)
            q = np.empty((size * poses, len(self._arm.chain.joints)))
            found = np.empty(size * poses)
            solve_many(self._arm.ik, X_BT, self._recipe.effort, False, q, found)
            w = found.reshape(size, poses)
            reached = (w >= 0.0).sum(axis=1)
            values["reach"][cells] = np.rint(reached * (FULL / poses))
            total = np.maximum(w, 0.0).sum(axis=1)
            values["manipulability"][cells] = total / np.maximum(reached, 1)
        return values


def spread(first: int, count: int, *, seed: int) -> Array:
    """Give points of a sequence that fills a six-dimensional cube evenly.

    The additive recurrence of Roberts ("The unreasonable effectiveness of
    quasirandom sequences", 2018).

    Args:
        first: How many points to leave out.
        count: How many to give.
        seed: Where the sequence starts.

    Returns:
        The points between 0 and 1, shape (count, 6).
    """
    number = first + 1.0 + np.arange(count)
    turns = 0.5 + np.outer(number, ROOT ** -np.arange(1.0, 7.0)) + seed * GOLDEN
    return turns - np.floor(turns)


def cell_poses(grid: GradedGrid, parts: Array, *, layer: int, tilt: int) -> Array:
    """Give poses of the tool that fall into the cells of one layer and one tilt.

    Args:
        grid: The cells.
        parts: Where in its cell each pose lies: of height, tilt, x*, y*, and of the turns
            of the base and the tool, between 0 and 1, shape (cells * poses, 6).
        layer: Which layer.
        tilt: Which tilt.

    Returns:
        The poses in the base's frame, rows [R p], cell by cell, shape (cells * poses, 3, 4).
    """
    cell = np.arange(len(parts)) * grid.side**2 // len(parts)
    z = grid.bottom + (layer + parts[:, 0]) * grid.size
    theta = (tilt + parts[:, 1]) * (pi / grid.tilts)
    x = grid.lower + (cell // grid.side + parts[:, 2]) * grid.size
    y = grid.lower + (cell % grid.side + parts[:, 3]) * grid.size
    return poses_at(z, theta, x=x, y=y, azimuth=2 * pi * parts[:, 4], roll=2 * pi * parts[:, 5])


def poses_at(z: Array, theta: Array, *, x: Array, y: Array, azimuth: Array, roll: Array) -> Array:
    """Give the poses of the tool that have given coordinates in the map.

    Args:
        z: Heights of the tool over the base [m], shape (n,).
        theta: Angles between the tool's z axis and the vertical [rad], shape (n,).
        x: Places x* of the base [m], shape (n,).
        y: Places y* of the base [m], shape (n,).
        azimuth: Where the tool's z axis points, about the base's z axis [rad], shape (n,).
        roll: Turns of the tool about its z axis [rad], shape (n,).

    Returns:
        Rz(azimuth) Ry(theta) Rz(roll) and the position, rows [R p], shape (n, 3, 4).
    """
    ca, sa, ct, st = np.cos(azimuth), np.sin(azimuth), np.cos(theta), np.sin(theta)
    cr, sr = np.cos(roll), np.sin(roll)
    X = np.empty((len(z), 3, 4))
    X[:, 0, 0], X[:, 0, 1], X[:, 0, 2] = ca * ct * cr - sa * sr, -ca * ct * sr - sa * cr, ca * st
    X[:, 1, 0], X[:, 1, 1], X[:, 1, 2] = sa * ct * cr + ca * sr, -sa * ct * sr + ca * cr, sa * st
    X[:, 2, 0], X[:, 2, 1], X[:, 2, 2] = -st * cr, st * sr, ct
    X[:, 0, 3], X[:, 1, 3], X[:, 2, 3] = sa * y - ca * x, -sa * x - ca * y, z
    return X
