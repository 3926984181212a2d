"""Robots and free bodies as DART's skeletons.

A free root is known to DART by a frame at its centre of mass, which then flies
the parabola it should; every other body by the frame of its topmost link.
"""

from collections.abc import Collection
from dataclasses import dataclass
from importlib import import_module
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.model.robot import IDENTITY, Inertia, Joint, JointType
from kinetarium.scene import Base, Body, PlacedRobot, SceneError
from kinetarium.scene.robot import RigidBody, rigid_tree
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose

_dartpy: Any = import_module("dartpy")

constraint: Any = _dartpy.constraint
dynamics: Any = _dartpy.dynamics
simulation: Any = _dartpy.simulation


def isometry(X: ArrayLike) -> Any:
    """Return a pose, shape (4, 4), as DART has it."""
    return _dartpy.math.Isometry3(np.array(X, dtype=np.float64))


def inertia_of(inertia: Inertia | None, *, about: ArrayLike = (0.0, 0.0, 0.0)) -> Any:
    """Return mass properties as DART has them; zero if there are none.

    Args:
        inertia: Mass properties in the frame of a link.
        about: Origin of the frame they are wanted in, which has the same axes [m], shape (3,).
    """
    if inertia is None:
        return dynamics.Inertia(0.0, np.zeros(3), np.zeros((3, 3)))
    return dynamics.Inertia(inertia.mass, inertia.center - np.asarray(about), inertia.moment)


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A rigid body in DART.

    Attributes:
        node: DART's BodyNode.
        members: The solids it stands for and the pose of each in DART's frame of it.
    """

    node: Any
    members: tuple[tuple[str, Array], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Articulation:
    """A robot or free body in DART.

    Attributes:
        name: Its name in the scene.
        skeleton: DART's Skeleton.
        nodes: Its bodies, a parent before its children.
        joints: DART's joints that move, in the model's order.
        p_BC: For a free root, where DART has its frame: its centre of mass in the frame of the
            root link or body [m], shape (3,); None if the root is held.
    """

    name: str
    skeleton: Any
    nodes: tuple[Node, ...]
    joints: tuple[Any, ...]
    p_BC: Array | None

    @property
    def free(self) -> bool:
        """Whether its root flies freely."""
        return self.p_BC is not None


def free_body_skeleton(body: Body) -> Articulation:
    """Build a free body."""
    assert body.inertia is not None  # as the scene made sure
    skeleton = dynamics.Skeleton(body.name)
    node, X_NB = _free_root(skeleton, body.inertia)
    nodes = (Node(node, ((body.name, X_NB),)),)
    return Articulation(body.name, skeleton, nodes, (), body.inertia.center)


def robot_skeleton(robot: PlacedRobot, *, keep: Collection[str]) -> Articulation:
    """Build a robot.

    Args:
        keep: Fixed joints to keep as joints, because a sensor sits in them.

    Raises:
        SceneError: If something without mass is to move.
    """
    bodies = rigid_tree(robot.model, keep=keep)
    _refuse_massless(robot, bodies)
    skeleton = dynamics.Skeleton(robot.name)
    p_BC: Array | None = None
    nodes: list[Node] = []
    frames: list[Array] = []
    joints: list[Any] = []
    for body in bodies:
        X_NB: Array = IDENTITY
        if body.joint is None:
            if robot.base is Base.FREE:
                assert body.inertia is not None
                p_BC = body.inertia.center
                node, X_NB = _free_root(skeleton, body.inertia)
            else:
                joint, node = skeleton.createWeldJointAndBodyNodePair()
                joint.setTransformFromParentBodyNode(isometry(robot.X_WB))
        else:
            joint, node = _jointed(nodes[body.parent].node, body.joint)
            joint.setTransformFromParentBodyNode(isometry(frames[body.parent] @ body.X_PJ))
            if body.joint.type is not JointType.FIXED:
                joints.append(joint)
        if body.joint or robot.base is Base.FIXED:
            node.setInertia(inertia_of(body.inertia))
        members = tuple((f"{robot.name}/{link}", X_NB @ X_BL) for link, X_BL in body.members)
        nodes.append(Node(node, members))
        frames.append(X_NB)
    return Articulation(robot.name, skeleton, tuple(nodes), tuple(joints), p_BC)


def _free_root(skeleton: Any, inertia: Inertia) -> tuple[Any, Array]:
    """Make a free body with its frame at its centre of mass; return it and the pose of its own."""
    _, node = skeleton.createFreeJointAndBodyNodePair()
    node.setInertia(inertia_of(inertia, about=inertia.center))
    return node, frozen(pose(-inertia.center))


def _jointed(parent: Any, joint: Joint) -> tuple[Any, Any]:
    """Hang a body on its parent; return DART's joint and body."""
    if joint.type is JointType.FIXED:
        made, node = parent.createWeldJointAndBodyNodePair()
        return made, node
    slides = joint.type is JointType.PRISMATIC
    made, node = (
        parent.createPrismaticJointAndBodyNodePair()
        if slides
        else parent.createRevoluteJointAndBodyNodePair()
    )
    made.setAxis(joint.axis)
    made.setCoulombFriction(0, joint.friction)
    lower, upper = joint.limits.lower, joint.limits.upper
    made.setPositionLowerLimit(0, lower)
    made.setPositionUpperLimit(0, upper)
    made.setLimitEnforcement(isfinite(lower) or isfinite(upper))
    return made, node


def _refuse_massless(robot: PlacedRobot, bodies: tuple[RigidBody, ...]) -> None:
    """Refuse what moves without mass, which ends DART's process."""
    carried = [body.inertia.mass if body.inertia else 0.0 for body in bodies]
    for i in range(len(bodies) - 1, 0, -1):
        carried[bodies[i].parent] += carried[i]
    for body, mass in zip(bodies, carried, strict=True):
        if body.joint and body.joint.type is not JointType.FIXED and mass == 0:
            raise SceneError(f"joint '{body.joint.name}' of '{robot.name}' moves no mass at all")
    if robot.base is Base.FREE and bodies[0].inertia is None:
        raise SceneError(f"the root of robot '{robot.name}' is free, and has no mass to fly with")
