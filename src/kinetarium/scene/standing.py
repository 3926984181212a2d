"""Place any robot in a scene at its home pose: where it stands, and servos that hold it."""

from collections.abc import Mapping
from math import inf, pi

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.dynamics import Coupling, RobotDynamics
from kinetarium.dynamics.kinematics import link_poses
from kinetarium.model.mesh.solids import bounding_box, triangulate
from kinetarium.model.robot import (
    IDENTITY,
    Box,
    Capsule,
    Cylinder,
    RobotModel,
    Shape,
    Sphere,
)
from kinetarium.roles.studied_robot import PLANAR_JOINTS, StudiedRobot
from kinetarium.scene.body import DRY, Material
from kinetarium.scene.robot import Actuation, Base, DriveMode, PlacedRobot
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose

SERVO_FREQUENCY = 10.0
"""Natural frequency of servos that hold any robot [Hz]: that of an industrial arm's joints."""


def placed_robot(
    robot: StudiedRobot,
    *,
    name: str = "robot",
    positions: Mapping[str, float] | None = None,
    actuation: Mapping[str, Actuation] | None = None,
    X_WB: ArrayLike | None = None,
    height: float = 0.0,
    material: Material = DRY,
    link_materials: Mapping[str, Material] | None = None,
) -> PlacedRobot:
    """Place a robot; with a free base its lowest point is on the ground or above it.

    Args:
        robot: The robot and its roles.
        name: Its name in the scene.
        positions: Joint positions by joint, where they are not those of the home pose [rad or m].
        actuation: The drive of each joint by name; passive where not given.
        X_WB: Pose of its root, shape (4, 4); by default upright, on the ground if it is free.
        height: Height of its lowest point above the ground, if it is free [m].
        material: The surface of its links.
        link_materials: Surfaces of single links by name.
    """
    chosen = {**robot.home, **(positions or {})}
    free = robot.model.free_base
    if X_WB is None:
        X_WB = pose((0.0, 0.0, height - lowest_point(robot.model, chosen))) if free else IDENTITY
    return PlacedRobot(
        name,
        robot.model,
        Base.FREE if free else Base.FIXED,
        frozen(X_WB),
        positions=chosen,
        actuation=actuation or {},
        material=material,
        link_materials=link_materials or {},
    )


def lowest_point(model: RobotModel, positions: Mapping[str, float]) -> float:
    """Return the height of the lowest point of a robot's shapes in its root's frame [m].

    Args:
        positions: Positions of the moving joints by name [rad or m]; zero where not given.

    Returns:
        The height; 0 for a robot without shapes.
    """
    q = np.array([positions.get(joint.name, 0.0) for joint in model.moving_joints])
    lowest = inf
    for link, X_BL in zip(model.links, link_poses(model, q), strict=True):
        for geometry in link.collisions:
            X_BG = X_BL @ geometry.X_LG
            lowest = min(lowest, float(X_BG[2, 3]) - _depth(geometry.shape, -X_BG[2, :3]))
    return lowest if lowest < inf else 0.0


def _depth(shape: Shape, down: Array) -> float:
    """Return how far a shape extends along a unit vector from its origin [m]."""
    match shape:
        case Sphere(radius=r):
            return r
        case Capsule(radius=r, length=h):
            return r + h / 2 * abs(float(down[2]))
        case Cylinder(radius=r, length=h):
            return r * float(np.hypot(down[0], down[1])) + h / 2 * abs(float(down[2]))
        case Box():
            return float(np.abs(down) @ bounding_box(shape)[1])
        case _:
            return float((triangulate(shape).vertices @ down).max())


def holding_servos(
    robot: StudiedRobot, *, frequency: float = SERVO_FREQUENCY, damping_ratio: float = 1.0
) -> dict[str, Actuation]:
    """Return position servos for all independent joints of a robot, by joint.

    Joints that were added for a planar base stay passive.

    Each is as stiff as a spring that swings what the joint moves in the home pose, alone, at the
    given frequency: k = (2 pi f)^2 M_ii, d = 2 zeta (2 pi f) M_ii. Efforts are limited as in the
    model.

    Args:
        robot: The robot and its roles.
        frequency: Natural frequency [Hz].
        damping_ratio: 1 for critical damping [-].
    """
    coupling = Coupling.of(robot.model)
    q = [robot.home[joint.name] for joint in robot.model.moving_joints]
    M = RobotDynamics(robot.model, free_base=False).mass_matrix(q) if q else np.zeros((0, 0))
    independent = [joint for joint in robot.model.moving_joints if joint.mimic is None]
    w = 2 * pi * frequency
    return {
        joint.name: Actuation(
            DriveMode.POSITION, stiffness=w**2 * inertia, damping=2 * damping_ratio * w * inertia
        )
        for joint, inertia in zip(independent, np.diag(coupling.matrix(M)).tolist(), strict=True)
        if joint.name not in PLANAR_JOINTS
    }
