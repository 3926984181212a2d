"""A robot as an articulation of PhysX."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetarium.engines.physx.bodies import FASTEST, NEGLIGIBLE, free_of_extras, set_inertia
from kinetarium.engines.physx.coupling import couple, directions
from kinetarium.engines.physx.library import Entity, physx, physx_pose
from kinetarium.engines.physx.loops import close_loop
from kinetarium.engines.physx.options import PhysxOptions
from kinetarium.engines.physx.parts import JointPart, SolidPart
from kinetarium.engines.physx.resistance import resist
from kinetarium.engines.physx.surfaces import X_TO_Z
from kinetarium.model.robot import JointType
from kinetarium.scene import Actuation, Base, Drive, PlacedRobot
from kinetarium.scene.rigid_tree import RigidBody, rigid_tree
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import pose, rotation_onto

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
    """

    bodies: tuple[RigidBody, ...]
    entities: tuple[Any, ...]
    links: tuple[Any, ...]
    homes: dict[str, tuple[Any, Array]]
    joints: dict[str, JointPart]
    solids: tuple[SolidPart, ...]
    massless: tuple[str, ...]


def articulate(
    robot: PlacedRobot,
    *,
    keep: frozenset[str],
    actuations: Mapping[str, Actuation],
    timestep: float,
    options: PhysxOptions,
) -> Articulated:
    """Build a robot without its surfaces.

    Args:
        robot: The robot.
        keep: Fixed joints to keep, because a sensor sits in them.
        actuations: The drives of its joints, by name.
        timestep: Time step [s].
        options: Settings.

    Raises:
        CapabilityError: If a mimic joint cannot be coupled to its leader.
    """
    bodies = rigid_tree(robot.model, keep=keep)
    coupled = any(joint.mimic for joint in robot.model.joints)
    signs = directions(bodies) if coupled else [1.0] * len(bodies)
    held = robot.base is Base.FIXED
    entities: list[Any] = []  # links do not keep the entity they belong to
    links: list[Any] = []
    joints: dict[str, JointPart] = {}
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
            actuation = actuations.get(body.joint.name, Actuation(Drive.PASSIVE))
            resistance = resist(link, body.joint, actuation=actuation, timestep=timestep)
            name = f"{robot.name}/{body.joint.name}"
            joints[body.joint.name] = JointPart(name, link.joint, sign, resistance)
    articulation = links[0].articulation
    articulation.set_solver_position_iterations(options.position_iterations)
    articulation.set_solver_velocity_iterations(options.velocity_iterations)
    articulation.set_sleep_threshold(0.0)
    couple(robot, bodies, links, timestep=timestep)
    homes = {
        name: (link, X_BL)
        for body, link in zip(bodies, links, strict=True)
        for name, X_BL in body.members
    }
    for loop in robot.model.loops:
        close_loop(loop, homes)
    moving = range(1 if held else 0, len(bodies))
    return Articulated(
        bodies=bodies,
        entities=tuple(entities),
        links=tuple(links),
        homes=homes,
        joints=joints,
        solids=tuple(_solid(robot.name, bodies[i], links[i]) for i in moving),
        massless=tuple(f"{robot.name}/{bodies[i].name}" for i in moving if not bodies[i].inertia),
    )


def _join(link: Any, body: RigidBody, *, sign: float) -> None:
    """Make the joint above a link, whose axis PhysX wants along x."""
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


def _solid(robot: str, body: RigidBody, link: Any) -> SolidPart:
    members = tuple(f"{robot}/{name}" for name, _ in body.members)
    return SolidPart(f"{robot}/{body.name}", link, members)
