"""A cube between the grasp pads of the Panda, a force-torque sensor behind each pad."""

from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.dynamics import RobotDynamics
from kinetarium.model.load import attach, catalogue_entry, load_robot
from kinetarium.model.robot import IDENTITY, Box, Joint, JointType, Link, RobotModel, Source
from kinetarium.scene.body import DRY, Material, free_body
from kinetarium.scene.robot import Actuation, PlacedRobot, WrenchSensor
from kinetarium.scene.scene import Scene
from kinetarium.spatial.rotation import pose

CUBE_SIZE = 0.04
"""Edge of the cube [m]."""
CUBE_MASS = 1.0
"""Mass of the cube [kg]."""
GRIP = 100.0
"""Force between each pad and the cube [N]."""
PAD_THICKNESS = 0.01
"""Of each pad, along the axis on which they close [m]."""
TOOL = "panda_hand_tcp"
"""The link between the pads; its y axis is that along which they close."""
FINGERS = ("panda_finger_joint1", "panda_finger_joint2")
PADS = ("panda_leftpad", "panda_rightpad")
"""The left pad is towards +y of the tool."""


def sliding_grip(friction: float) -> float:
    """Return the grip force below which the cube slides between two pads (Coulomb) [N]."""
    return CUBE_MASS * 9.81 / (2 * friction)


def least_friction(grip: float = GRIP) -> float:
    """Return the friction below which the cube slides at a grip force (Coulomb) [-]."""
    return CUBE_MASS * 9.81 / (2 * grip)


def gripper_arm(*, coupled: bool, armature: float = 0.0) -> RobotModel:
    """Return the Panda with fingers that are coupled by a gear, or independent.

    The fingers have no effort limit in the model; their drives have.

    Args:
        coupled: Whether the second finger follows the first.
        armature: Inertia of the drive of every joint [kg m^2 or kg].
    """
    panda = load_robot("panda")

    def changed(joint: Joint) -> Joint:
        if joint.type is not JointType.FIXED:
            joint = replace(joint, armature=armature)
        if joint.name in FINGERS:
            mimic = joint.mimic if coupled else None
            joint = replace(joint, mimic=mimic, limits=replace(joint.limits, effort=inf))
        return joint

    joints = tuple(map(changed, panda.joints))
    changes = f"{panda.source.sha256} {coupled} {armature}"
    source = replace(panda.source, sha256=sha256(changes.encode()).hexdigest())
    return replace(panda, joints=joints, source=source)


def carrying_cube(model: RobotModel) -> RobotModel:
    """Fix half of the cube to each pad: the same masses as a cube that is held rigidly."""
    half = free_body("half", Box((CUBE_SIZE, CUBE_SIZE / 2, CUBE_SIZE)), mass=CUBE_MASS / 2)
    name = "half_cube"
    load = RobotModel(name, (Link("load", half.inertia),), (), Source(name, "built", name))
    for pad, side in zip(PADS, (1.0, -1.0), strict=True):
        X_PL = pose((0.0, -side * (PAD_THICKNESS / 2 + CUBE_SIZE / 4), 0.0))
        model = attach(model, load, link=pad, X_LP=X_PL, prefix=f"{pad}_", name=model.name)
    return model


def grasped_cube(
    model: RobotModel,
    *,
    actuation: Mapping[str, Actuation],
    opening: float = CUBE_SIZE / 2,
    X_TC: ArrayLike = IDENTITY,
    material: Material = DRY,
) -> Scene:
    """Put a cube between the pads of the Panda at its home pose; only the pads touch it.

    Args:
        model: The Panda, from `gripper_arm`.
        actuation: The drive of each joint by name.
        opening: Position of both fingers [m]; they touch the cube at half its edge.
        X_TC: Pose of the cube in the tool's frame, shape (4, 4).
        material: The surface of everything.

    Returns:
        A scene of the robot "arm", the body "cube" and a sensor named after each pad.
    """
    positions = {**catalogue_entry("panda").home, **dict.fromkeys(FINGERS, opening)}
    arm = PlacedRobot(
        "arm", model, positions=positions, actuation=dict(actuation), material=material
    )
    q = np.array([positions[joint.name] for joint in model.moving_joints])
    X_WT = RobotDynamics(model).link_pose(q, TOOL)
    X_WC = X_WT @ np.asarray(X_TC)
    cube = free_body(
        "cube",
        Box((CUBE_SIZE, CUBE_SIZE, CUBE_SIZE)),
        mass=CUBE_MASS,
        position=X_WC[:3, 3],
        rotation=X_WC[:3, :3],
        material=material,
    )
    sensors = tuple(WrenchSensor(pad, "arm", model.parent_joint[pad].name) for pad in PADS)
    # A cube that sinks into soft pads must not come to rest on the links behind them.
    bare = [link.name for link in model.links if link.name not in PADS]
    no_contact = frozenset(frozenset((f"arm/{link}", "cube")) for link in bare)
    return Scene((arm,), (cube,), sensors, no_contact=no_contact)
