"""A DART world read back into the terms of the scene."""

from collections.abc import Iterator, Mapping

from kinetarium.engines.base.audit import lumped_solids
from kinetarium.engines.base.joint_law import JointLaw
from kinetarium.engines.dart.build import World
from kinetarium.engines.dart.skeletons import Articulation
from kinetarium.engines.protocol import Audit, LoadedJoint, LoadedSolid
from kinetarium.model.robot import Inertia
from kinetarium.scene import PlacedRobot, Scene
from kinetarium.spatial.arrays import frozen


def audit(scene: Scene, *, world: World, laws: Mapping[str, JointLaw]) -> Audit:
    """Read back masses, joints and gravity.

    Args:
        laws: What applies damping and armature, by robot.
    """
    solids: list[LoadedSolid] = []
    joints: list[LoadedJoint] = []
    for robot, placed in zip(world.robots, scene.robots, strict=True):
        inertias = {
            node.members[0][0].partition("/")[2]: _inertia(robot, i)
            for i, node in enumerate(robot.nodes)
            if node.node.getInertia().getMass()
        }
        solids += lumped_solids(placed, inertias)
        joints += _joints(robot, placed, laws[robot.name])
    for body in world.free:
        solids.append(LoadedSolid(body.name, _inertia(body, 0), (body.name,)))
    return Audit(
        tuple(solids),
        tuple(joints),
        frozen(world.bare.getGravity()),
        tuple(_remarks(scene)),
    )


def _inertia(part: Articulation, node: int) -> Inertia:
    """Read the inertia of a body in the frame of its topmost link."""
    loaded = part.nodes[node].node.getInertia()
    center = loaded.getLocalCOM()
    if part.p_BC is not None and node == 0:
        center = center + part.p_BC
    return Inertia(loaded.getMass(), frozen(center), frozen(loaded.getMoment()))


def _joints(robot: Articulation, placed: PlacedRobot, law: JointLaw) -> Iterator[LoadedJoint]:
    joints = zip(robot.joints, placed.model.moving_joints, strict=True)
    for i, (there, joint) in enumerate(joints, 6 * robot.free):
        yield LoadedJoint(
            name=f"{robot.name}/{joint.name}",
            axis=frozen(there.getAxis()),
            damping=there.getDampingCoefficient(0) + float(law.damping[i]),
            friction=there.getCoulombFriction(0),
            armature=float(law.armature[i]),
            lower=there.getPositionLowerLimit(0),
            upper=there.getPositionUpperLimit(0),
        )


def _remarks(scene: Scene) -> Iterator[str]:
    if any(joint.mimic for robot in scene.robots for joint in robot.model.moving_joints):
        yield "couplings hold against contacts with a delay of one time step"
