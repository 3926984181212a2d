"""A Drake plant read back into the terms of the scene."""

from collections.abc import Iterator
from typing import Any

from kinetarium.engines.base.audit import lumped_solids
from kinetarium.engines.drake.build import DrakeWorld
from kinetarium.engines.drake.drives import armature_of, friction_of
from kinetarium.engines.drake.options import Touch
from kinetarium.engines.protocol import Audit, LoadedJoint, LoadedSolid
from kinetarium.model.robot import Box, Capsule, Cylinder, Inertia, JointType, MeshData, MeshFile
from kinetarium.scene import Motion, Scene
from kinetarium.spatial.arrays import frozen


def audit(world: DrakeWorld, scene: Scene, *, context: Any) -> Audit:
    """Read back masses, joints and gravity in a context of the plant."""
    solids: list[LoadedSolid] = []
    for robot in scene.robots:
        inertias = {}
        for link in robot.model.links:
            body = world.bodies[f"{robot.name}/{link.name}"]
            if body.name() == link.name and body.get_mass(context) > 0:
                inertias[link.name] = _inertia(body, context)
        solids += lumped_solids(robot, inertias)
    for free in scene.bodies:
        if free.motion is Motion.FREE:
            inertia = _inertia(world.bodies[free.name], context)
            solids.append(LoadedSolid(free.name, inertia, (free.name,)))
    joints = tuple(
        _joint(world, name, joint, context=context)
        for name, joint in zip(world.layout.joints, world.joints, strict=True)
    )
    gravity = frozen(world.plant.gravity_field().gravity_vector())
    return Audit(tuple(solids), joints, gravity, tuple(_remarks(world, scene)))


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
    touching = {type(shape) for i in world.solids.values() for shape, _ in scene.geometry[i]}
    if touching & {MeshData, MeshFile}:
        yield "meshes touch as their convex hulls"
    if touching & {Cylinder, Capsule}:
        yield "cylinders and capsules touch a flat surface at one point, not along a line"
    if world.options.touch is Touch.POINT and touching & {Box, MeshData, MeshFile}:
        yield "boxes and meshes touch a flat surface at one point, not over an area"
