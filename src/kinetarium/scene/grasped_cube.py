"""The Panda with its grasp pads and a cube: the grasp of the engine comparison."""

from dataclasses import replace

import numpy as np

from kinetarium.dynamics import link_poses
from kinetarium.model.robot import RobotModel
from kinetarium.roles.roles import Finger, Gripper
from kinetarium.spatial.rotation import inverse_pose

TOOL = "panda_hand_tcp"
"""The link between the pads; its y axis is that along which they close."""
PADS = ("panda_leftpad", "panda_rightpad")
"""The left pad is towards +y of the tool."""


def padded(gripper: Gripper, model: RobotModel) -> Gripper:
    """Return the Panda's gripper with only its pads touching, the grip in the tool's frame.

    A gripper without these pads is returned unchanged.

    Args:
        gripper: The gripper as it was found.
        model: The robot.
    """
    index = {link.name: i for i, link in enumerate(model.links)}
    if not {TOOL, *PADS} <= set(index):
        return gripper
    X_WL = link_poses(model, np.zeros(len(model.moving_joints)))
    X_PT = inverse_pose(X_WL[index[gripper.palm]]) @ X_WL[index[TOOL]]
    x, y, z = X_PT[:3, 3].tolist()
    u, v, w = X_PT[:3, 1].tolist()
    fingers = (
        Finger(joints=finger.joints, links=(pad,), pad=pad)
        for finger, pad in zip(gripper.fingers, PADS, strict=True)
    )
    return replace(gripper, center=(x, y, z), axis=(u, v, w), fingers=tuple(fingers))
