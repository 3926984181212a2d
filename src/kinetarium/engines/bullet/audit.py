"""A Bullet world read back into the terms of the scene."""

from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from kinetarium.engines.audit import Audit, LoadedJoint, LoadedSolid
from kinetarium.engines.bullet.multibody import NO_LIMIT, Multibody
from kinetarium.engines.bullet.options import BulletOptions, Servo
from kinetarium.engines.bullet.world import World
from kinetarium.engines.layout import Layout
from kinetarium.model.robot import Inertia, RobotModel
from kinetarium.scene import Drive, Scene
from kinetarium.scene.rigid_tree import rigid_tree
from kinetarium.spatial.arrays import frozen
from kinetarium.engines.bullet.transforms import rotation


def audit(
    p: Any, client: int, scene: Scene, *, layout: Layout, world: World, options: BulletOptions
) -> Audit:
    """Read back masses, joints and gravity.

    Args:
        p: pybullet.
        client: The pybullet client.
        scene: The scene.
        layout: Its layout.
        world: The scene in Bullet.
        options: The settings.
    """
    joints = [
        _joint(p, client, robot, link, name=name)
        for robot in world.robots
        for link, name in zip(robot.joints, layout.joints[layout.robot_joints[robot.name]])
    ]
    solids = []
    for robot in world.robots:
        read = {
            part.solid.partition("/")[2]: _inertia(p, client, robot, link)
            for link, part in enumerate(robot.parts, -1)
            if part.inertia
        }
        model = scene.robot(robot.name).model
        links = tuple(replace(link, inertia=read.get(link.name)) for link in model.links)
        for body in rigid_tree(replace(model, links=links)):
            if body.inertia:
                members = tuple(f"{robot.name}/{link}" for link, _ in body.members)
                solids.append(LoadedSolid(members[0], body.inertia, members))
    for body in world.bodies:
        if body.parts[0].inertia:
            solids.append(LoadedSolid(body.name, _inertia(p, client, body, -1), (body.name,)))
    gravity = p.getPhysicsEngineParameters(physicsClientId=client)
    return Audit(
        tuple(solids), tuple(joints),
        frozen([gravity[f"gravityAcceleration{axis}"] for axis in "XYZ"]),
        _remarks(scene, options),
    )  # fmt: skip


def _inertia(p: Any, client: int, multibody: Multibody, link: int) -> Inertia:
    """Read the inertia of a link, -1 for the base, in the frame of its part."""
    mass, _, moments, center, quaternion, *_ = p.getDynamicsInfo(
        multibody.id, link, physicsClientId=client
    )
    R_LI = rotation(quaternion)
    return Inertia(mass, frozen(center), frozen(R_LI * moments @ R_LI.T))


def _joint(p: Any, client: int, robot: Multibody, link: int, *, name: str) -> LoadedJoint:
    info = p.getJointInfo(robot.id, link, physicsClientId=client)
    lower, upper = info[8:10]
    part = robot.parts[link + 1]
    unlimited = lower > upper
    return LoadedJoint(
        name=name,
        axis=frozen(robot.X_LI[link + 1, :3, :3] @ info[13]),
        damping=part.joint.damping,
        friction=part.joint.friction,
        armature=part.joint.armature,
        lower=-inf if unlimited or lower <= -NO_LIMIT else lower,
        upper=inf if unlimited or upper >= NO_LIMIT else upper,
    )


def _remarks(scene: Scene, options: BulletOptions) -> tuple[str, ...]:
    return ()
