"""Maps over voxels: the capability map and the 3-D inverse reachability map.

Both ask of every voxel which of N poses on its inscribed sphere can be served and how
well. In a capability map they are poses of the tool around the base, in an inverse map
poses of the base around the tool: the same poses, inverted (equation 5 of the source).
A voxel keeps the number R of poses that can be reached, D = R / N of equation 3, and the
mean over these of w = sqrt(det(J J')), equation 4.
"""

import numpy as np

from kinetarium.reach.arm import Arm
from kinetarium.reach.grid import voxel_grid
from kinetarium.reach.ik import solve_many
from kinetarium.reach.map_files import Field
from kinetarium.reach.map_layout import value_type
from kinetarium.reach.recipe import MapKind, MapRecipe
from kinetarium.reach.sphere_poses import sphere_poses
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose


class VoxelMaker:
    """Makes maps over voxels; a shard is a layer of equal x."""

    def __init__(self, recipe: MapRecipe, arm: Arm) -> None:
        """Prepare the poses of a voxel.

        Args:
            recipe: What to make.
            arm: The robot.
        """
        self.units = {"manipulability": "m^3", "reachable": f"poses of {recipe.poses}"}
        self.dtype = value_type(recipe.kind)
        self._grid = voxel_grid(recipe.voxel, radius=recipe.radius)
        self._poses = sphere_poses(recipe.poses, radius=recipe.voxel / 2, seed=recipe.seed)
        self._inverse = recipe.kind is MapKind.IRM3
        self._arm, self._effort = arm, recipe.effort
        self.shape = self._grid.shape
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
    """Write the poses of the tool in the base's frame that voxels ask for.

    Args:
        centers: Middles of the voxels [m], shape (n, 3).
        poses: Poses about the middle of a voxel, shape (N, 4, 4).
        inverse: Whether they are the base's in the tool's frame, instead of the tool's
            in the base's frame.
        X_BT: Written to, rows [R p], voxel by voxel, shape (n * N, 3, 4).
    """
    X = X_BT.reshape(len(centers), len(poses), 3, 4)
    X[...] = inverse_pose(poses)[:, :3] if inverse else poses[:, :3]
    if inverse:
        # (c + p)' R for all voxels and poses is one product of matrices.
        X[..., 3] -= (centers @ np.hstack(list(poses[:, :3, :3]))).reshape(X.shape[:3])
    else:
        X[..., 3] += centers[:, None]
