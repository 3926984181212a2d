"""Preset scenes that several studies share: an arm with a cube, driving ground, two arms."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.model.load import catalogue_entry, load_robot
from kinetarium.model.robot import Box, JointType
from kinetarium.scene.body import DRY, Body, Material, free_body, ground
from kinetarium.scene.robot import Actuation, Base, DriveMode, PlacedRobot
from kinetarium.scene.scene import Scene
from kinetarium.spatial.arrays import frozen
from kinetarium.spatial.rotation import pose, rotation_about

TORQUE = Actuation(DriveMode.TORQUE)


def arm_with_cube(
    robot: str = "panda",
    *,
    cube_position: ArrayLike = (0.5, 0.0, 0.22),
    cube_size: float = 0.04,
    cube_mass: float = 1.0,
    material: Material = DRY,
    actuation: Actuation = TORQUE,
) -> Scene:
    """Put an arm at its home pose beside a table of 0.2 m height with a cube on it.

    Args:
        robot: The arm's name in the catalogue.
        cube_position: Initial position of the cube's centre [m], shape (3,).
        cube_size: Its edge [m].
        cube_mass: Its mass [kg].
        material: The surface of everything.
        actuation: The drive of every joint.
    """
    arm = _placed("arm", robot, actuation=actuation, material=material)
    table = Body(
        "table", Box((0.4, 0.6, 0.2)), X_WB=frozen(pose((0.5, 0.0, 0.1))), material=material
    )
    cube = free_body(
        "cube",
        Box((cube_size, cube_size, cube_size)),
        mass=cube_mass,
        position=cube_position,
        material=material,
    )
    return Scene((arm,), (table, cube))


def driving_ground(
    robot: str = "husky4",
    *,
    material: Material = DRY,
    slippery: Mapping[str, Material] | None = None,
    wheel_damping: float = 20.0,
) -> Scene:
    """Put a mobile robot on level ground, its wheels on velocity servos.

    Args:
        robot: The robot's name in the catalogue.
        material: The surface of the ground and the robot.
        slippery: Surfaces of single links, such as casters, by name.
        wheel_damping: Gain of the wheels' servos [N m s/rad].
    """
    wheel = Actuation(DriveMode.VELOCITY, damping=wheel_damping)
    vehicle = _placed("vehicle", robot, actuation=wheel, material=material, slippery=slippery)
    return Scene((vehicle,), (ground(material),))


def two_arms(robot: str = "kr250", *, distance: float, actuation: Actuation = TORQUE) -> Scene:
    """Put two arms face to face, at their home poses.

    Args:
        robot: The arms' name in the catalogue.
        distance: Distance of their bases along x [m].
        actuation: The drive of every joint.
    """
    facing = pose((distance, 0.0, 0.0), rotation_about((0.0, 0.0, 1.0), np.pi))
    return Scene(
        (
            _placed("chaser", robot, actuation=actuation),
            _placed("target", robot, actuation=actuation, X_WB=facing),
        )
    )


def _placed(
    name: str,
    robot: str,
    *,
    actuation: Actuation,
    material: Material = DRY,
    slippery: Mapping[str, Material] | None = None,
    X_WB: ArrayLike | None = None,
) -> PlacedRobot:
    """Place a robot of the catalogue at its home pose, standing on the ground."""
    entry = catalogue_entry(robot)
    model = load_robot(robot)
    stand = pose((0.0, 0.0, entry.base_height)) if X_WB is None else X_WB
    moving = [joint for joint in model.joints if joint.type is not JointType.FIXED]
    return PlacedRobot(
        name,
        model,
        Base.FREE if entry.free_base else Base.FIXED,
        frozen(stand),
        positions=entry.home,
        actuation={joint.name: actuation for joint in moving if joint.mimic is None},
        material=material,
        link_materials=slippery or {},
    )
