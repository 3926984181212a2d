"""A robot that falls, held at its home pose by servos: its centre of mass, gap and energy."""

import numpy as np

from kinetarium.dynamics import RobotDynamics
from kinetarium.dynamics.kinematics import link_poses
from kinetarium.recording.recording import Recording
from kinetarium.roles.studied_robot import StudiedRobot
from kinetarium.scene import (
    PlacedRobot,
    SceneError,
    extent,
    holding_servos,
    lowest_point,
    placed_robot,
    rigid_tree,
)
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.gravity import GRAVITY
from kinetarium.spatial.rotation import pose, rotation_from_quaternion


def dropped_robot(robot: StudiedRobot, *, rotation: Array, gap: float) -> PlacedRobot:
    """Place a robot above the ground, held at its home pose by servos.

    Args:
        rotation: That of the ground, shape (3, 3).
        gap: Distance of its lowest point from the ground [m].

    Raises:
        SceneError: If its root has no mass, so that no law says how it falls.
    """
    if rigid_tree(robot.model)[0].inertia is None:
        raise SceneError(f"the root '{robot.model.root}' has no mass: the robot cannot fall freely")
    up = rotation[:, 2] * (gap - lowest_point(robot.model, robot.home))
    return placed_robot(robot, actuation=holding_servos(robot), X_WB=pose(up, rotation))


def robot_fall(placed: PlacedRobot, recording: Recording, *, normal: Array) -> Array:
    """Return the centre of mass, its speed, the gap to the ground and the energy of a robot.

    The energy is kinetic, potential, and that in the servos and in the springs of joints: none of
    these gains any from an impact.

    Args:
        normal: Unit normal of the ground, shape (3,).

    Returns:
        Centre [m], gap [m], negative for penetration, zero without shapes, energy [J] and speed
        [m/s], shape (samples, 6).
    """
    model = placed.model
    dynamics = RobotDynamics(model, free_base=True, gravity=(0.0, 0.0, -GRAVITY))
    columns = list(recording.channels["q"].columns)
    own = [columns.index(f"{placed.name}/{joint.name}") for joint in model.moving_joints]
    q, v = recording["q"][:, own], recording["v"][:, own]
    poses, twists = recording["poses"][:, 0], recording["twists"][:, 0]
    every_q, every_v = np.hstack([poses, q]), np.hstack([twists, v])
    center = np.array([dynamics.center_of_mass(each) for each in every_q]).reshape(-1, 3)
    energy = model.mass * GRAVITY * center[:, 2] + _stored(placed, q)
    moving = list(zip(every_q, every_v, strict=True))
    energy += [dynamics.kinetic_energy(*each) for each in moving]
    momentum = np.array([dynamics.momentum(*each)[:3] for each in moving]).reshape(-1, 3)
    speed = np.linalg.norm(momentum, axis=1) / model.mass
    return np.column_stack([center, _gaps(placed, q, poses=poses, normal=normal), energy, speed])


def _stored(placed: PlacedRobot, q: Array) -> Array:
    """Return the energy in servos, whose effort is limited, and springs [J], shape (samples,)."""
    stored = np.zeros(len(q))
    for joint, x in zip(placed.model.moving_joints, q.T, strict=True):
        stored += joint.stiffness * (x - joint.springref) ** 2 / 2
        drive = placed.actuation.get(joint.name)
        if drive is not None and drive.stiffness > 0:
            away, most = np.abs(x - placed.positions[joint.name]), joint.limits.effort
            linear = np.minimum(away, min(drive.effort, most) / drive.stiffness)
            stored += drive.stiffness * linear * (away - linear / 2)
    return stored


def _gaps(placed: PlacedRobot, q: Array, *, poses: Array, normal: Array) -> Array:
    X_WB = np.array([pose(row[:3], rotation_from_quaternion(row[3:])) for row in poses])
    X_WL = link_poses(placed.model, q, X_WB=X_WB.reshape(-1, 4, 4))
    gaps = [np.full(len(q), np.inf)]
    for i, link in enumerate(placed.model.links):
        for geometry in link.collisions:
            X_WG = X_WL[:, i] @ geometry.X_LG
            down = -normal @ X_WG[:, :3, :3]
            gaps.append(X_WG[:, :3, 3] @ normal - extent(geometry.shape, down))
    lowest: Array = np.min(gaps, axis=0)
    return np.where(np.isfinite(lowest), lowest, 0.0)
