"""A scene as the pieces PhysX is to simulate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetarium.engines.base.audit import LoadedFrames
from kinetarium.engines.base.simulation import Setup
from kinetarium.engines.physx.body_specs import (
    FASTEST,
    NEGLIGIBLE,
    PhysxJoint,
    PhysxModel,
    PhysxSensor,
    PhysxSolid,
    PhysxTie,
    free_of_extras,
    resist,
    set_inertia,
)
from kinetarium.engines.physx.contacts import X_TO_Z, Surfaces
from kinetarium.engines.physx.coupling import couple, directions
from kinetarium.engines.physx.library import Entity, matrix, physx, physx_pose
from kinetarium.engines.physx.options import PhysxOptions
from kinetarium.engines.protocol import LoadedCoupling
from kinetarium.model.robot import JointType, Loop, LoopKind
from kinetarium.scene import Actuation, Base, Body, DriveMode, Motion, PlacedRobot
from kinetarium.scene.robot import RigidBody, rigid_tree
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose, pose, rotation_from_quaternion, rotation_onto

_CORNERS = ((1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1))
_ARM = 0.06
"""Half an edge [m] of the cube whose four corners hold a pose, since PhysX through SAPIEN has
no constraint that holds the rotation."""


def close_loop(loop: Loop, homes: Mapping[str, tuple[Any, Array]]) -> Any:
    """Hold two points together, or four of each body where the whole pose is to be held.

    Args:
        homes: For each link of the robot, the body it is part of and its pose there.

    Returns:
        The constraint, the last of them where there are four.
    """
    body_a, X_A = homes[loop.link_a]
    body_b, X_B = homes[loop.link_b]
    corners = _CORNERS if loop.kind is LoopKind.POSE else ((0, 0, 0),)
    for corner in corners:
        X_CP = pose([_ARM * side for side in corner])
        hold = physx.PhysxDriveComponent(body_b)
        hold.parent = body_a
        hold.pose_in_parent = physx_pose(X_A @ loop.X_AC @ X_CP)
        hold.pose_in_child = physx_pose(X_B @ loop.X_BC @ X_CP)
        for lock in (hold.set_limit_x, hold.set_limit_y, hold.set_limit_z):
            lock(0.0, 0.0)
        body_b.entity.add_component(hold)
    return hold


UNBOUNDED = 1e10
"""Stands for an infinite limit of a joint that is limited on one side only [rad or m]."""

_TYPES = {
    JointType.FIXED: "fixed",
    JointType.REVOLUTE: "revolute_unwrapped",
    JointType.CONTINUOUS: "revolute_unwrapped",
    JointType.PRISMATIC: "prismatic",
}


@dataclass(frozen=True, slots=True, eq=False)
class Articulated:
    """A robot in PhysX.

    Attributes:
        bodies: Its rigid bodies.
        entities: The entity of each.
        links: The link of each.
        homes: For each link of the model, the link it is part of and its pose there.
        joints: The moving joints by name in the model.
        solids: The bodies that move.
        massless: Names of bodies that were given a negligible mass.
        couplings: Its mimic joints.
        loops: What holds each loop, by name.
    """

    bodies: tuple[RigidBody, ...]
    entities: tuple[Any, ...]
    links: tuple[Any, ...]
    homes: dict[str, tuple[Any, Array]]
    joints: dict[str, PhysxJoint]
    solids: tuple[PhysxSolid, ...]
    massless: tuple[str, ...]
    couplings: tuple[LoadedCoupling, ...]
    loops: dict[str, PhysxTie]


def articulate(robot: PlacedRobot, setup: Setup[PhysxOptions]) -> Articulated:
    """Build a robot without its surfaces.

    Raises:
        CapabilityError: If a mimic joint cannot be coupled to its leader.
    """
    options, timestep = setup.options, setup.timestep
    moving_joints = robot.model.moving_joints
    actuations = {
        moving_joints[joint].name: drive for _, joint, drive in setup.layout.drives(robot.name)
    }
    bodies = rigid_tree(robot.model, keep=setup.scene.sensed_joints(robot.name))
    coupled = any(joint.mimic for joint in robot.model.joints)
    signs = directions(bodies) if coupled else [1.0] * len(bodies)
    held = robot.base is Base.FIXED
    entities: list[Any] = []  # links do not keep the entity they belong to
    links: list[Any] = []
    joints: dict[str, PhysxJoint] = {}
    for body, sign in zip(bodies, signs, strict=True):
        link = physx.PhysxArticulationLinkComponent(
            None if body.joint is None else links[body.parent]
        )
        free_of_extras(link)
        set_inertia(link, body.inertia or NEGLIGIBLE)
        entity = Entity()
        entity.add_component(link)
        entities.append(entity)
        links.append(link)
        if body.joint is None:
            entity.pose = physx_pose(robot.X_WB)
            if held:
                link.joint.type = "fixed"
            continue
        _join(link, body, sign=sign)
        if body.joint.type is not JointType.FIXED:
            actuation = actuations.get(body.joint.name, Actuation(DriveMode.PASSIVE))
            resistance = resist(link, body.joint, actuation=actuation, timestep=timestep, sign=sign)
            name = f"{robot.name}/{body.joint.name}"
            joints[body.joint.name] = PhysxJoint(name, link.joint, sign, resistance)
    articulation = links[0].articulation
    articulation.set_solver_position_iterations(options.position_iterations)
    articulation.set_solver_velocity_iterations(options.velocity_iterations)
    articulation.set_sleep_threshold(0.0)
    couplings = couple(robot, bodies, links, timestep=timestep)
    homes = {
        name: (link, X_BL)
        for body, link in zip(bodies, links, strict=True)
        for name, X_BL in body.members
    }
    tops = {link: body.name for body in bodies for link, _ in body.members}
    loops = {
        f"{robot.name}/{loop.name}": PhysxTie(
            close_loop(loop, homes), (tops[loop.link_a], tops[loop.link_b])
        )
        for loop in robot.model.loops
    }
    moving = range(1 if held else 0, len(bodies))
    return Articulated(
        bodies=bodies,
        entities=tuple(entities),
        links=tuple(links),
        homes=homes,
        joints=joints,
        solids=tuple(_solid(robot.name, bodies[i], links[i]) for i in moving),
        massless=tuple(f"{robot.name}/{bodies[i].name}" for i in moving if not bodies[i].inertia),
        couplings=tuple(couplings),
        loops=loops,
    )


def _join(link: Any, body: RigidBody, *, sign: float) -> None:
    """Make the joint above a link, whose axis is along x in PhysX."""
    assert body.joint
    joint = link.joint
    joint.type = _TYPES[body.joint.type]
    joint.friction = 0.0
    joint.max_velocity = FASTEST
    if body.joint.type is JointType.FIXED:
        joint.pose_in_parent = physx_pose(body.X_PJ)
        return
    X_LJ = pose(rotation=rotation_onto(sign * body.joint.axis) @ X_TO_Z)
    joint.pose_in_parent = physx_pose(body.X_PJ @ X_LJ)
    joint.pose_in_child = physx_pose(X_LJ)
    limits = np.array([body.joint.limits.lower, body.joint.limits.upper])
    if np.isfinite(limits).any():
        limits = limits.clip(-UNBOUNDED, UNBOUNDED)
    joint.limits = np.sort(sign * limits)[np.newaxis]
    joint.armature = [body.joint.armature]


def _solid(robot: str, body: RigidBody, link: Any) -> PhysxSolid:
    members = tuple(f"{robot}/{name}" for name, _ in body.members)
    return PhysxSolid(f"{robot}/{body.name}", link, members)


def build(setup: Setup[PhysxOptions]) -> PhysxModel:
    """Build everything in a scene.

    Raises:
        SceneError: If PhysX refuses a shape or the collision filter.
        CapabilityError: If a mimic joint cannot be coupled to its leader.
    """
    scene, options = setup.scene, setup.options
    surfaces = Surfaces(scene, contact_offset=options.contact_offset)
    entities: list[Any] = []
    joints: list[PhysxJoint] = []
    solids: list[PhysxSolid] = []
    roots: list[Any] = []
    sensors: dict[str, PhysxSensor] = {}
    remarks: list[str] = []
    frames: list[LoadedFrames] = []
    couplings: list[LoadedCoupling] = []
    loops: dict[str, PhysxTie] = {}
    first = 0
    for robot in scene.robots:
        made = articulate(robot, setup)
        _cover(made, robot, surfaces=surfaces, first=first)
        first += len(robot.model.links)
        entities += made.entities
        joints += [made.joints[joint.name] for joint in robot.model.moving_joints]
        solids += made.solids
        frames.append(_frames(made, robot, keep=scene.sensed_joints(robot.name)))
        couplings += made.couplings
        loops |= made.loops
        if robot.base is Base.FREE:
            roots.append(made.links[0])
        for sensor in scene.sensors:
            if sensor.robot == robot.name:
                link, _ = made.homes[robot.model.joint(sensor.joint).child]
                R_LJ = rotation_from_quaternion(link.joint.pose_in_child.q)
                sensors[sensor.name] = PhysxSensor(link, R_LJ)
        remarks += _robot_remarks(robot, made, sensed=scene.sensed_joints(robot.name))
    free: list[Any] = []
    for solid, body in enumerate(scene.bodies, first):
        entity, component = _body(body, options=options)
        surfaces.cover(solid, component)
        entities.append(entity)
        if body.motion is Motion.FREE:
            free.append(component)
            solids.append(PhysxSolid(body.name, component, (body.name,)))
    remarks += _surface_remarks(surfaces)
    return PhysxModel(
        entities=tuple(entities),
        joints=tuple(joints),
        solids=tuple(solids),
        floating=(*roots, *free),
        shapes=surfaces.solids,
        sensors=sensors,
        remarks=tuple(remarks),
        frames=tuple(frames),
        couplings=tuple(couplings),
        loops=loops,
    )


def _frames(made: Articulated, robot: PlacedRobot, *, keep: frozenset[str]) -> LoadedFrames:
    """Read back the frames of a robot."""
    loaded = {}
    for body, link in zip(made.bodies, made.links, strict=True):
        if body.joint:
            above, below = map(matrix, (link.joint.pose_in_parent, link.joint.pose_in_child))
            loaded[body.joint.name] = above @ inverse_pose(below)
    return LoadedFrames.of(robot, loaded, keep=keep)


def _body(body: Body, *, options: PhysxOptions) -> tuple[Any, Any]:
    """Return the entity and the component of a body without its surface."""
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
        surfaces.cover(solid, component, X_BL=X_BL, axle=axles.get(link.name))


def _robot_remarks(robot: PlacedRobot, made: Articulated, *, sensed: frozenset[str]) -> list[str]:
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
        name for name, own in made.joints.items() if name in sensed and own.resistance.beside
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
            "wheels are rows of spheres of the wheel's radius across its width on planes, and"
            f" prisms of 96 sides to others: {_named(surfaces.wheels)}"
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
