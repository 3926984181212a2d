"""Forward kinematics of many configurations at once."""

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.model.robot import Joint, JointType, RobotModel
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import pose


def link_poses(model: RobotModel, q: ArrayLike, *, X_WB: ArrayLike | None = None) -> Array:
    """Return the pose of every link at many configurations.

    One array operation per joint serves all configurations; for a single one
    `RobotDynamics.link_poses` is faster.

    Args:
        q: Positions of the moving joints [rad or m], shape (..., joints).
        X_WB: Pose of the root link, shape (4, 4), or one per configuration,
            shape (..., 4, 4); the world's frame if not given.

    Returns:
        The poses X_WL in the model's order of links, shape (..., links, 4, 4).
    """
    q = np.asarray(q, dtype=np.float64)
    index = {link.name: i for i, link in enumerate(model.links)}
    coordinate = {joint.name: i for i, joint in enumerate(model.moving_joints)}
    X_WL = np.empty((*q.shape[:-1], len(model.links), 4, 4))
    X_WL[..., 0, :, :] = pose() if X_WB is None else X_WB
    for joint in model.joints:
        X_WJ = X_WL[..., index[joint.parent], :, :] @ joint.X_PJ
        if joint.type is not JointType.FIXED:
            X_WJ = X_WJ @ _motion(joint, q[..., coordinate[joint.name]])
        X_WL[..., index[joint.child], :, :] = X_WJ
    return X_WL


def _motion(joint: Joint, position: Array) -> Array:
    """Return the pose of the moved joint frame in the frame at zero, shape (..., 4, 4)."""
    X = np.zeros((*position.shape, 4, 4))
    X[...] = np.eye(4)
    if joint.type is JointType.PRISMATIC:
        X[..., :3, 3] = position[..., None] * joint.axis
    else:
        # Poses along a recording are not worth a second to load Numba.
        X[..., :3, :3] = so3.exp_reference(position[..., None] * joint.axis)
    return X
