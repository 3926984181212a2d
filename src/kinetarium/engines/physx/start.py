"""The state a scene starts in."""

import numpy as np

from kinetarium.engines.protocol import State
from kinetarium.scene import Base, Motion, Scene
from kinetarium.spatial.rotation import quaternion_from_rotation


def starting_state(scene: Scene) -> State:
    """Give the state a scene starts in, at time zero."""
    q = [
        robot.positions.get(joint.name, 0.0)
        for robot in scene.robots
        for joint in robot.model.moving_joints
    ]
    roots = [(robot.X_WB, np.zeros(6)) for robot in scene.robots if robot.base is Base.FREE]
    bodies = [(body.X_WB, body.V_WB) for body in scene.bodies if body.motion is Motion.FREE]
    poses = [
        np.concatenate([X[:3, 3], quaternion_from_rotation(X[:3, :3])]) for X, _ in roots + bodies
    ]
    twists = [V for _, V in roots + bodies]
    return State(
        time=0.0,
        q=np.array(q),
        v=np.zeros(len(q)),
        poses=np.array(poses).reshape(-1, 7),
        twists=np.array(twists).reshape(-1, 6),
    )
