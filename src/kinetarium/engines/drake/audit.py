"""A Drake plant read back into the terms of the scene."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from kinetarium.engines.drake.build import DrakeWorld
from kinetarium.engines.drake.drives import armature_of, friction_of
from kinetarium.engines.drake.options import Touch
from kinetarium.engines.protocol import Audit, LoadedJoint, LoadedSolid
from kinetarium.model.robot import Box, Capsule, Cylinder, Inertia, JointType, MeshData, MeshFile
from kinetarium.scene import Base, Motion, PlacedRobot, Scene
from kinetarium.scene.robot import rigid_tree
from kinetarium.spatial.arrays import frozen


def audit(world: DrakeWorld, scene: Scene, *, context: Any) -> Audit:
    """Read back masses, joints and gravity.

    Args:
        world: The scene in Drake.
        context: The plant's context.
    """
    solids = [
        solid for robot in scene.robots for solid in _rigid_bodies(world, robot, context=context)
    ]
    for body in scene.bodies:
        if body.motion is Motion.FREE:
            inertia = _inertia(world.bodies[body.name], context)
            solids.append(LoadedSolid(body.name, inertia, (body.name,)))
    joints = tuple(
        _joint(world, name, joint, context=context)
        for name, joint in zip(world.layout.joints, world.joints, strict=True)
    )
    gravity = frozen(world.plant.gravity_field().gravity_vector())
    return Audit(tuple(solids), joints, gravity, tuple(_remarks(world, scene)))


def _rigid_bodies(world: DrakeWorld, robot: PlacedRobot, *, context: Any) -> Iterator[LoadedSolid]:
    """Read the inertias of a robot; what is fixed together counts as one."""
    read = {}
    for link in robot.model.links:
        body = world.bodies[f"{robot.name}/{link.name}"]
        if body.name() == link.name and body.get_mass(context) > 0:
            read[link.name] = _inertia(body, context)
    links = tuple(replace(link, inertia=read.get(link.name)) for link in robot.model.links)
    for part in rigid_tree(replace(robot.model, links=links)):
        if part.inertia and (part.joint or robot.base is Base.FREE):
            members = tuple(f"{robot.name}/{name}" for name, _ in part.members)
            yield LoadedSolid(members[0], part.inertia, members)


def _inertia(body: Any, context: Any) -> Inertia:
    """Read the inertia of a body in its own frame."""
    M_BBo = body.CalcSpatialInertiaInBodyFrame(context)
    center = M_BBo.get_com()
    central = M_BBo.Shift(center).CalcRotationalInertia().CopyToFullMatrix3()
    return Inertia(M_BBo.get_mass(), frozen(center), frozen(central))


def _joint(world: DrakeWorld, name: str, joint: Any, *, context: Any) -> LoadedJoint:
    axis = (
        joint.translation_axis()
        if joint.type_name() == JointType.PRISMATIC
        else joint.revolute_axis()
    )
    return LoadedJoint(
        name=name,
        axis=frozen(axis),
        damping=float(joint.GetDamping(context)),
        friction=friction_of(world.plant, joint),
        armature=armature_of(world.plant, joint),
        lower=float(joint.position_lower_limit()),
        upper=float(joint.position_upper_limit()),
    )


def _remarks(world: DrakeWorld, scene: Scene) -> Iterator[str]:
    shapes = {body.name: [type(body.shape)] for body in scene.bodies}
    for robot in scene.robots:
        for link in robot.model.links:
            shapes[f"{robot.name}/{link.name}"] = [type(part.shape) for part in link.collisions]
    touching = {shape for i in world.solids.values() for shape in shapes[scene.solids[i]]}
    if touching & {MeshData, MeshFile}:
        yield "meshes touch as their convex hulls"
    if touching & {Cylinder, Capsule}:
        yield "cylinders and capsules touch a flat surface at one point, not along a line"
    if world.options.touch is Touch.POINT and touching & {Box, MeshData, MeshFile}:
        yield "boxes and meshes touch a flat surface at one point, not over an area"
