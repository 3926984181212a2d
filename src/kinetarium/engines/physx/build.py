"""A scene as the pieces PhysX is to simulate."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetarium.engines.layout import Layout
from kinetarium.engines.physx.bodies import free_of_extras, set_inertia
from kinetarium.engines.physx.library import Entity, physx, physx_pose
from kinetarium.engines.physx.options import PhysxOptions
from kinetarium.engines.physx.parts import JointPart, Parts, SensorPart, SolidPart
from kinetarium.engines.physx.robot import Articulated, articulate
from kinetarium.engines.physx.surfaces import Surfaces
from kinetarium.model.robot import JointType
from kinetarium.scene import Base, Body, Motion, PlacedRobot, Scene, rigid_groups
from kinetarium.spatial.rotation import pose, rotation_from_quaternion


def build(scene: Scene, layout: Layout, *, timestep: float, options: PhysxOptions) -> Parts:
    """Build everything in a scene.

    Args:
        scene: The scene.
        layout: Its layout.
        timestep: Time step [s].
        options: Settings.

    Raises:
        SceneError: If PhysX refuses a shape or the rules of who may touch whom.
        CapabilityError: If a mimic joint cannot be coupled to its leader.
    """
    surfaces = Surfaces(scene.solids, _may_meet(scene), contact_offset=options.contact_offset)
    drives = dict(zip(layout.commands, layout.actuations, strict=True))
    entities: list[Any] = []
    joints: list[JointPart] = []
    solids: list[SolidPart] = []
    roots: list[Any] = []
    sensors: dict[str, SensorPart] = {}
    remarks: list[str] = []
    for robot in scene.robots:
        own = [sensor for sensor in scene.sensors if sensor.robot == robot.name]
        made = articulate(
            robot,
            keep=frozenset(sensor.joint for sensor in own),
            actuations={
                joint.name: drives[name]
                for joint in robot.model.moving_joints
                if (name := f"{robot.name}/{joint.name}") in drives
            },
            timestep=timestep,
            options=options,
        )
        _cover(
            made,
            robot,
            surfaces=surfaces,
            first=scene.solids.index(f"{robot.name}/{robot.model.root}"),
        )
        entities += made.entities
        joints += [made.joints[joint.name] for joint in robot.model.moving_joints]
        solids += made.solids
        if robot.base is Base.FREE:
            roots.append(made.links[0])
        for sensor in own:
            link, _ = made.homes[robot.model.joint(sensor.joint).child]
            sensors[sensor.name] = SensorPart(
                link, rotation_from_quaternion(link.joint.pose_in_child.q)
            )
        remarks += _robot_remarks(robot, made, sensed={sensor.joint for sensor in own})
    free: list[Any] = []
    for body in scene.bodies:
        entity, component = _body(body, options=options)
        surfaces.cover(
            component,
            body.shape,
            X_BG=pose(),
            solid=scene.solids.index(body.name),
            material=body.material,
        )
        entities.append(entity)
        if body.motion is Motion.FREE:
            free.append(component)
            solids.append(SolidPart(body.name, component, (body.name,)))
    remarks += _surface_remarks(surfaces)
    return Parts(
        entities=tuple(entities),
        joints=tuple(joints),
        solids=tuple(solids),
        floating=(*roots, *free),
        shapes=surfaces.solids,
        sensors=sensors,
        remarks=tuple(remarks),
    )


def _may_meet(scene: Scene) -> NDArray[np.bool_]:
    """Give who may touch whom, without pairs of solids that are both fixed to the world."""
    held = []
    for robot in scene.robots:
        tops = rigid_groups(robot.model)
        fixed = robot.base is Base.FIXED
        held += [fixed and tops[link.name] == robot.model.root for link in robot.model.links]
    held += [body.motion is Motion.STATIC for body in scene.bodies]
    fixed_pairs = np.outer(held, held).astype(np.bool_)
    return np.asarray(scene.may_touch & ~fixed_pairs)


def _body(body: Body, *, options: PhysxOptions) -> tuple[Any, Any]:
    """Give the entity and the component of a body without its surface."""
    entity = Entity()
    if body.motion is Motion.STATIC:
        component = physx.PhysxRigidStaticComponent()
    else:
        component = physx.PhysxRigidDynamicComponent()
        assert body.inertia
        free_of_extras(component)
        set_inertia(component, body.inertia)
        component.set_solver_position_iterations(options.position_iterations)
        component.set_solver_velocity_iterations(options.velocity_iterations)
        component.set_sleep_threshold(0.0)
    entity.add_component(component)
    entity.pose = physx_pose(body.X_WB)
    return entity, component


def _cover(made: Articulated, robot: PlacedRobot, *, surfaces: Surfaces, first: int) -> None:
    """Put the collision geometry of all links on the bodies they are part of."""
    axles = {
        name: body.joint.axis
        for body in made.bodies
        for name, _ in body.members
        if body.joint and body.joint.type is JointType.CONTINUOUS
    }
    for solid, link in enumerate(robot.model.links, first):
        component, X_BL = made.homes[link.name]
        for geometry in link.collisions:
            surfaces.cover(
                component,
                geometry.shape,
                X_BG=X_BL @ geometry.X_LG,
                solid=solid,
                material=robot.link_materials.get(link.name, robot.material),
                axle=axles.get(link.name),
            )


def _robot_remarks(robot: PlacedRobot, made: Articulated, *, sensed: set[str]) -> list[str]:
    remarks = []
    if made.massless:
        remarks.append(f"links without mass have 1e-6 kg: {_named(made.massless)}")
    followers = [joint.name for joint in robot.model.joints if joint.mimic]
    if followers:
        remarks.append(
            "mimic joints are held by tendons whose forces are those of a rigid coupling at "
            f"the inertia of the start: {_named(followers)}"
        )
    rubbing = [
        name for name, part in made.joints.items() if name in sensed and part.resistance.beside
    ]
    if rubbing:
        remarks.append(
            "sensors read the torque or force along the axis without part of the joint's own "
            f"friction and damping: {_named(rubbing)}"
        )
    return remarks


def _surface_remarks(surfaces: Surfaces) -> list[str]:
    remarks = []
    if surfaces.wheels:
        remarks.append(
            "wheels are rows of spheres of the wheel's radius across its width, which bulge "
            f"sideways: {_named(surfaces.wheels)}"
        )
    if surfaces.faceted:
        remarks.append(f"cylinders are prisms of 96 sides: {_named(surfaces.faceted)}")
    if surfaces.hulls:
        remarks.append(
            f"meshes touch as their convex hulls, of at most 255 faces: {_named(surfaces.hulls)}"
        )
    return remarks


def _named(names: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(names))
