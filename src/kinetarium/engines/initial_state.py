"""The state a scene starts in."""

from math import isfinite

import numpy as np

from kinetarium.engines.protocol import State
from kinetarium.scene import Base, Motion, PlacedRobot, Scene, SceneError
from kinetarium.spatial.rotation import quaternion_from_rotation


def starting_state(scene: Scene) -> State:
    """Return the state a scene starts in, at time zero."""
    q = [value for robot in scene.robots for value in _positions(robot)]
    floating = [(robot.X_WB, np.zeros(6)) for robot in scene.robots if robot.base is Base.FREE]
    floating += [(body.X_WB, body.V_WB) for body in scene.bodies if body.motion is Motion.FREE]
    poses = [[*X[:3, 3], *quaternion_from_rotation(X[:3, :3])] for X, _ in floating]
    return State(
        time=0.0,
        q=np.array(q, dtype=np.float64),
        v=np.zeros(len(q)),
        poses=np.array(poses, dtype=np.float64).reshape(-1, 7),
        twists=np.array([V for _, V in floating], dtype=np.float64).reshape(-1, 6),
    )


def _positions(robot: PlacedRobot) -> list[float]:
    """Return the joint positions; a follower that is not placed stands where its leader puts it."""
    values = []
    for joint in robot.model.moving_joints:
        value = robot.positions.get(joint.name)
        if value is None and joint.mimic:
            leader = robot.positions.get(joint.mimic.joint, 0.0)
            value = joint.mimic.multiplier * leader + joint.mimic.offset
        values.append(0.0 if value is None else value)
    return values


def checked_timestep(timestep: float) -> float:
    """Return the time step back if it is one.

    Args:
        timestep: Time step [s].

    Raises:
        SceneError: If it is not positive and finite.
    """
    if not (isfinite(timestep) and timestep > 0):
        raise SceneError(f"a time step of {timestep:g} s means nothing; it must be positive")
    return timestep
