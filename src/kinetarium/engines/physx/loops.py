"""Closed loops as constraints between links."""

from collections.abc import Mapping
from typing import Any

from kinetarium.engines.physx.library import physx, physx_pose
from kinetarium.model.robot import Loop, LoopKind
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import pose

_CORNERS = ((1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1))
_ARM = 0.06
"""Half an edge [m] of the cube whose four corners hold a pose, since PhysX through SAPIEN has
no constraint that holds the rotation."""


def close_loop(loop: Loop, homes: Mapping[str, tuple[Any, Array]]) -> None:
    """Hold two points together, or four of each body where the whole pose is to be held.

    Args:
        loop: The loop.
        homes: For each link of the robot, the body it is part of and its pose there.
    """
    body_a, X_A = homes[loop.link_a]
    body_b, X_B = homes[loop.link_b]
    corners = _CORNERS if loop.kind is LoopKind.POSE else ((0, 0, 0),)
    for corner in corners:
        X_CP = pose([_ARM * side for side in corner])
        hold = physx.PhysxDriveComponent(body_b)
        hold.parent = body_a
        hold.pose_in_parent = physx_pose(X_A @ loop.X_AC @ X_CP)
        hold.pose_in_child = physx_pose(X_B @ loop.X_BC @ X_CP)
        for lock in (hold.set_limit_x, hold.set_limit_y, hold.set_limit_z):
            lock(0.0, 0.0)
        body_b.entity.add_component(hold)
