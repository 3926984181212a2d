"""Couplings between the joints of a robot, for a solver whose mimic joints only chase.

DART's own couplings, of either kind, aim at where the leader was, and give the
leader no reaction or a wrong one.
"""

import numpy as np

from kinetarium.model.robot import RobotModel
from kinetarium.spatial.arrays import Array


def coupling_rows(model: RobotModel, *, free: bool) -> tuple[Array, Array]:
    """Give the couplings of a robot as J q = offset, J being 1 at a follower.

    Args:
        model: The robot.
        free: Whether the six coordinates of a free base stand first.

    Returns:
        J, shape (couplings, n), and the offsets, shape (couplings,).
    """
    joints = model.moving_joints
    place = {joint.name: 6 * free + i for i, joint in enumerate(joints)}
    followers = [(joint.name, joint.mimic) for joint in joints if joint.mimic]
    J = np.zeros((len(followers), 6 * free + len(joints)))
    for row, (follower, mimic) in zip(J, followers, strict=True):
        row[place[follower]] = 1.0
        row[place[mimic.joint]] = -mimic.multiplier
    return J, np.array([mimic.offset for _, mimic in followers])
