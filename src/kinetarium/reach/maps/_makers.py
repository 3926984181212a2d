"""Maps over voxels: the capability map and the 3-D inverse reachability map.

For every voxel both count which of N poses on its inscribed sphere can be reached, and how
well. In a capability map they are poses of the tool around the base, in an inverse map
poses of the base around the tool: the same poses, inverted (equation 5 of the paper).
A voxel has the number R of reachable poses, D = R / N of equation 3, and their mean
w = sqrt(det(J J')), equation 4.
"""

from math import pi, sqrt

import numpy as np

from kinetarium.reach.arm import Arm
from kinetarium.reach.ik.solver import solve_many
from kinetarium.reach.maps.files import Field
from kinetarium.reach.maps.grid import voxel_grid
from kinetarium.reach.maps.recipe import (
    FULL,
    TILTS,
    GradedGrid,
    MapKind,
    MapRecipe,
    graded_grid,
    value_type,
)
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose, rotation_about, rotation_onto

GOLDEN_ANGLE = pi * (3.0 - sqrt(5.0))


def fibonacci_points(count: int) -> Array:
    """Return points spread evenly over the unit sphere, shape (count, 3)."""
    number = np.arange(count)
    z = 1.0 - (2.0 * number + 1.0) / count
    flat = np.sqrt(1.0 - z * z)
    return np.column_stack(
        [flat * np.cos(GOLDEN_ANGLE * number), flat * np.sin(GOLDEN_ANGLE * number), z]
    )


def sphere_poses(count: int, *, radius: float, seed: int) -> Array:
    """Return poses on a sphere whose z axes point at its centre.

    Args:
        count: How many.
        radius: Radius of the sphere [m].
        seed: Seed of the rotations about the z axes.

    Returns:
        The poses in the frame of the sphere's centre, shape (count, 4, 4).
    """
    points = fibonacci_points(count)
    turns = np.random.default_rng(seed).uniform(-pi, pi, count)
    X = np.tile(np.eye(4), (count, 1, 1))
    X[:, :3, 3] = radius * points
    for n in range(count):
        X[n, :3, :3] = rotation_onto(-points[n]) @ rotation_about((0, 0, 1), turns[n])
    return X


class VoxelMaker:
    """Makes maps over voxels; a shard is a layer of equal x."""

    def __init__(self, recipe: MapRecipe, arm: Arm) -> None:
        """Prepare the poses of a voxel."""
        self.units = {"manipulability": "m^3", "reachable": f"poses of {recipe.poses}"}
        self.dtype = value_type(recipe.kind)
        self._grid = voxel_grid(recipe.voxel, radius=recipe.radius)
        self._poses = sphere_poses(recipe.poses, radius=recipe.voxel / 2, seed=recipe.seed)
        self._inverse = recipe.kind is MapKind.IRM3
        self._arm, self._effort = arm, recipe.effort
        self.shape: tuple[int, ...] = self._grid.shape
        self.shards = self._grid.count

    def shard(self, number: int) -> Field:
        """Make one layer, row by row, so that a row's poses stay in the cache."""
        count, poses = self._grid.count, self._poses
        values = np.empty(count * count, self.dtype)
        X_BT = np.empty((count * len(poses), 3, 4))
        q, found = np.empty((len(X_BT), len(self._arm.chain.joints))), np.empty(len(X_BT))
        for row in range(count):
            cells = slice(row * count, (row + 1) * count)
            centers = self._grid.centers(np.arange(count) + (number * count + row) * count)
            write_poses(centers, poses, inverse=self._inverse, X_BT=X_BT)
            solve_many(self._arm.ik, X_BT, self._effort, False, q, found)
            w = found.reshape(count, -1)
            reached = (w >= 0.0).sum(axis=1)
            total = np.maximum(w, 0.0).sum(axis=1)
            values["reachable"][cells] = reached
            values["manipulability"][cells] = total / np.maximum(reached, 1)
        return values


def write_poses(centers: Array, poses: Array, *, inverse: bool, X_BT: Array) -> None:
    """Write the poses of the tool in the base's frame for the poses of voxels.

    Args:
        centers: Centres of the voxels [m], shape (n, 3).
        poses: Poses about the centre of a voxel, shape (N, 4, 4).
        inverse: Whether they are the base's in the tool's frame, instead of the tool's
            in the base's frame.
        X_BT: Output, rows [R p], voxel by voxel, shape (n * N, 3, 4).
    """
    X = X_BT.reshape(len(centers), len(poses), 3, 4)
    X[...] = inverse_pose(poses)[:, :3] if inverse else poses[:, :3]
    if inverse:
        # (c + p)' R for all voxels and poses is one matrix product.
        X[..., 3] -= (centers @ np.hstack(list(poses[:, :3, :3]))).reshape(X.shape[:3])
    else:
        X[..., 3] += centers[:, None]


ROOT = 1.1347241384015194
"""The root of x^7 = x + 1, whose powers spread points evenly over six dimensions."""
GOLDEN = 0.6180339887498949


class GradedMaker:
    """Makes graded maps; a shard is a layer of equal height."""

    def __init__(self, recipe: MapRecipe, arm: Arm) -> None:
        """Prepare the cells."""
        self.units = {"reach": f"1/{FULL} of the poses", "manipulability": "m^3"}
        self.dtype = value_type(recipe.kind)
        self._grid = graded_grid(recipe)
        self._recipe, self._arm = recipe, arm
        self.shape: tuple[int, ...] = (self._grid.layers, TILTS, self._grid.side, self._grid.side)
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
    """Return points of a sequence that fills a six-dimensional cube evenly.

    The additive recurrence of Roberts ("The unreasonable effectiveness of
    quasirandom sequences", 2018).

    Args:
        first: How many points to skip.
        count: How many points to return.
        seed: Offset of the sequence.

    Returns:
        The points between 0 and 1, shape (count, 6).
    """
    number = first + 1.0 + np.arange(count)
    turns = 0.5 + np.outer(number, ROOT ** -np.arange(1.0, 7.0)) + seed * GOLDEN
    return turns - np.floor(turns)


def cell_poses(grid: GradedGrid, parts: Array, *, layer: int, tilt: int) -> Array:
    """Return poses of the tool in the cells of one layer and one tilt.

    Args:
        parts: Relative coordinates of each pose in its cell: of height, tilt, x*, y*, and of
            the azimuth and the roll, between 0 and 1, shape (cells * poses, 6).
        layer: Index of the layer.
        tilt: Index of the tilt.

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
    """Return the poses of the tool that have given coordinates in the map.

    Args:
        z: Heights of the tool over the base [m], shape (n,).
        theta: Angles between the tool's z axis and the vertical [rad], shape (n,).
        x: Positions x* of the base [m], shape (n,).
        y: Positions y* of the base [m], shape (n,).
        azimuth: Direction of the tool's z axis about the base's z axis [rad], shape (n,).
        roll: Rotations of the tool about its z axis [rad], shape (n,).

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
