"""A DART world read back into the terms of the scene."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from kinetarium.engines.dart.build import World
from kinetarium.engines.dart.drives import Wiring
from kinetarium.engines.dart.skeletons import Articulation
from kinetarium.engines.protocol import Audit, LoadedJoint, LoadedSolid
from kinetarium.model.robot import Inertia
from kinetarium.scene import Base, PlacedRobot, Scene
from kinetarium.scene.robot import rigid_tree
from kinetarium.spatial.arrays import frozen


def audit(scene: Scene, *, world: World, wirings: Mapping[str, Wiring]) -> Audit:
    """Read back masses, joints and gravity.

    Args:
        world: The scene in DART.
        wirings: What applies damping and armature, by robot.
    """
    solids: list[LoadedSolid] = []
    joints: list[LoadedJoint] = []
    for robot, placed in zip(world.robots, scene.robots, strict=True):
        solids += _rigid_bodies(robot, placed)
        joints += _joints(robot, placed, wirings[robot.name])
    for body in world.free:
        solids.append(LoadedSolid(body.name, _inertia(body, 0), (body.name,)))
    return Audit(
        tuple(solids),
        tuple(joints),
        frozen(world.bare.getGravity()),
        tuple(_remarks(scene)),
    )


def _rigid_bodies(robot: Articulation, placed: PlacedRobot) -> Iterator[LoadedSolid]:
    """Read the inertias of a robot; what is fixed together counts as one."""
    read = {node.members[0][0]: _inertia(robot, i) for i, node in enumerate(robot.nodes)}
    links = tuple(
        replace(link, inertia=read.get(f"{robot.name}/{link.name}")) for link in placed.model.links
    )
    for body in rigid_tree(replace(placed.model, links=links)):
        if body.inertia and body.inertia.mass and (body.joint or placed.base is Base.FREE):
            members = tuple(f"{robot.name}/{link}" for link, _ in body.members)
            yield LoadedSolid(members[0], body.inertia, members)


def _inertia(part: Articulation, node: int) -> Inertia:
    """Read the inertia of a body in the frame of its topmost link."""
    loaded = part.nodes[node].node.getInertia()
    center = loaded.getLocalCOM()
    if part.p_BC is not None and node == 0:
        center = center + part.p_BC
    return Inertia(loaded.getMass(), frozen(center), frozen(loaded.getMoment()))


def _joints(robot: Articulation, placed: PlacedRobot, wiring: Wiring) -> Iterator[LoadedJoint]:
    joints = zip(robot.joints, placed.model.moving_joints, strict=True)
    for i, (there, joint) in enumerate(joints, 6 * robot.free):
        yield LoadedJoint(
            name=f"{robot.name}/{joint.name}",
            axis=frozen(there.getAxis()),
            damping=there.getDampingCoefficient(0) + float(wiring.resistance[i]),
            friction=there.getCoulombFriction(0),
            armature=float(wiring.armature[i]),
            lower=there.getPositionLowerLimit(0),
            upper=there.getPositionUpperLimit(0),
        )


def _remarks(scene: Scene) -> Iterator[str]:
    if any(joint.mimic for robot in scene.robots for joint in robot.model.moving_joints):
        yield "couplings hold against contacts with a delay of one time step"
