"""A scene as DART holds it: skeletons, their surfaces, and loops.

A free root is known to DART by a frame at its centre of mass, which then flies
the parabola it should; every other body by the frame of its topmost link.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from itertools import combinations
from math import isfinite, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.model.robot import (
    IDENTITY,
    Box,
    Capsule,
    Cylinder,
    Inertia,
    Joint,
    JointType,
    LoopKind,
    MeshData,
    MeshFile,
    Shape,
    Sphere,
)
from kinetarium.scene import Base, Body, Motion, PlacedRobot, Plane, Scene, SceneError
from kinetarium.scene.robot import RigidBody, rigid_tree
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import inverse_pose, pose

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


class Surfaces:
    """The surfaces of a scene.

    Attributes:
        solids: Index of the solid of every shape.
    """

    def __init__(self, scene: Scene) -> None:
        """Begin without surfaces."""
        self._scene = scene
        self._index = {name: i for i, name in enumerate(scene.solids)}
        self._carriers: list[tuple[Any, int]] = []
        self.solids: dict[Any, int] = {}

    def cover(self, nodes: Iterable[Node]) -> None:
        """Attach to bodies the shapes of the solids they stand for.

        DART filters collisions by body. Solids of one body with different collision
        partners get a massless body each, welded to it.
        """
        for body in nodes:
            carriers: dict[bytes, Any] = {}
            for name, X_NL in body.members:
                solid = self._index[name]
                if not self._scene.may_meet[solid].any():
                    continue
                meets = self._scene.may_collide[solid].tobytes()
                if meets not in carriers:
                    carriers[meets] = _carrier(body.node) if carriers else body.node
                    self._carriers.append((carriers[meets], solid))
                for shape, X_LG in self._scene.geometry[solid]:
                    self._add(carriers[meets], solid, shape=shape, X_NG=X_NL @ X_LG)

    def exclude_pairs(self, blacklist: Any) -> None:
        """Add the pairs that never touch to DART's filter."""
        for (a, i), (b, j) in combinations(self._carriers, 2):
            if not self._scene.may_collide[i, j]:
                blacklist.addBodyNodePairToBlackList(a, b)

    def _add(self, node: Any, solid: int, *, shape: Shape | Plane, X_NG: Array) -> None:
        placed = node.createShapeNode(_shape(shape, self._scene.solids[solid]))
        placed.setRelativeTransform(isometry(X_NG))
        placed.createCollisionAspect()
        rubs = placed.createDynamicsAspect()
        material = self._scene.materials[solid]
        rubs.setFrictionCoeff(material.friction)
        # DART multiplies restitutions; the roots of two equal ones multiply to theirs.
        rubs.setRestitutionCoeff(sqrt(material.restitution))
        self.solids[placed] = solid


def _carrier(node: Any) -> Any:
    """Weld a massless body to one."""
    _, carrier = node.createWeldJointAndBodyNodePair()
    carrier.setInertia(inertia_of(None))
    return carrier


def _shape(shape: Shape | Plane, solid: str) -> Any:
    match shape:
        case Plane():
            return dynamics.PlaneShape([0.0, 0.0, 1.0], 0.0)
        case Box():
            return dynamics.BoxShape(shape.size)
        case Sphere():
            return dynamics.SphereShape(shape.radius)
        case Cylinder():
            return dynamics.CylinderShape(shape.radius, shape.length)
        case Capsule():
            return dynamics.CapsuleShape(shape.radius, shape.length)
        case MeshFile() | MeshData():
            raise SceneError(
                f"'{solid}' collides by a mesh, which dartpy cannot make; use boxes, spheres,"
                " cylinders or capsules"
            )


def close_loops(world: Any, robot: PlacedRobot, *, nodes: Mapping[str, tuple[Any, Array]]) -> None:
    """Hold the two points or frames of every loop together.

    Args:
        world: DART's world.
        nodes: DART's body of every solid, and the solid's pose in it.
    """
    solver = world.getConstraintSolver()
    for loop in robot.model.loops:
        a, X_AL = nodes[f"{robot.name}/{loop.link_a}"]
        b, X_BL = nodes[f"{robot.name}/{loop.link_b}"]
        X_AB = X_AL @ loop.X_AC @ inverse_pose(X_BL @ loop.X_BC)
        if loop.kind is LoopKind.POSE:
            weld = constraint.WeldJointConstraint(a, b)
            weld.setRelativeTransform(isometry(inverse_pose(X_AB)))
            solver.addConstraint(weld)
        else:
            solver.addConstraint(_point(a, b, X_AB=X_AB, p_BC=(X_BL @ loop.X_BC)[:3, 3]))


def _point(a: Any, b: Any, *, X_AB: Array, p_BC: Array) -> Any:
    """Join two bodies in a point.

    DART takes the point from where the bodies are; so one of them, which the
    other is not attached to, is moved for that moment to where they meet.
    """
    if _hangs_on(a, b):
        a, b, X_AB, p_BC = b, a, inverse_pose(X_AB), (X_AB @ np.append(p_BC, 1.0))[:3]
    joint = b.getParentJoint()
    kept = joint.getTransformFromParentBodyNode()
    X_WB = a.getWorldTransform().matrix() @ X_AB
    X_moved = X_WB @ inverse_pose(b.getWorldTransform().matrix())
    above = b.getParentBodyNode()
    X_WP = above.getWorldTransform().matrix() if above else np.eye(4)
    joint.setTransformFromParentBodyNode(
        isometry(inverse_pose(X_WP) @ X_moved @ X_WP @ kept.matrix())
    )
    closure = constraint.BallJointConstraint(a, b, X_WB[:3, :3] @ p_BC + X_WB[:3, 3])
    joint.setTransformFromParentBodyNode(kept)
    return closure


def _hangs_on(body: Any, other: Any) -> bool:
    """Whether a body is below another in the tree."""
    above = body
    while above is not None and above is not other:
        above = above.getParentBodyNode()
    return above is not None


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """A scene in one of DART's worlds.

    Attributes:
        bare: DART's world.
        robots: The robots, in the scene's order.
        free: The free bodies, in the scene's order.
        nodes: The body that each solid moves with and its pose in DART's frame of that.
        surfaces: What touches.
    """

    bare: Any
    robots: tuple[Articulation, ...]
    free: tuple[Articulation, ...]
    nodes: dict[str, tuple[Any, Array]]
    surfaces: Surfaces

    def forget_contacts(self) -> None:
        """Clear the contacts; ODE's detector would return some of earlier steps."""
        self.bare.setCollisionDetector(simulation.CollisionDetectorType.ODE)


def build_world(scene: Scene, *, timestep: float) -> World:
    """Build a scene in a world of its own.

    Raises:
        SceneError: If DART cannot have something of it.
    """
    bare = simulation.World()
    bare.setTimeStep(timestep)
    bare.setGravity(np.array(scene.gravity))
    # Of the four that DART has, ODE's alone meets boxes and cylinders in enough points.
    bare.setCollisionDetector(simulation.CollisionDetectorType.ODE)
    # What sleeps has no forces.
    sleep = bare.getDeactivationOptions()
    sleep.mEnabled = False
    bare.setDeactivationOptions(sleep)
    robots = tuple(
        robot_skeleton(robot, keep=scene.sensed_joints(robot.name)) for robot in scene.robots
    )
    free = tuple(free_body_skeleton(body) for body in scene.bodies if body.motion is Motion.FREE)
    still, nodes = _still(scene)
    for part in (*robots, *free):
        nodes += part.nodes
    surfaces = Surfaces(scene)
    surfaces.cover(nodes)
    surfaces.exclude_pairs(bare.getConstraintSolver().getCollisionOption().collisionFilter)
    for robot, placed in zip(robots, scene.robots, strict=True):
        if placed.self_collision:
            robot.skeleton.enableSelfCollisionCheck()
            robot.skeleton.enableAdjacentBodyCheck()  # the pairs that are joined are filtered
    for skeleton in (still, *(part.skeleton for part in (*robots, *free))):
        bare.addSkeleton(skeleton)
    places = {solid: (node.node, X) for node in nodes for solid, X in node.members}
    for placed in scene.robots:
        close_loops(bare, placed, nodes=places)
    return World(bare, robots, free, places, surfaces)


def _still(scene: Scene) -> tuple[Any, list[Node]]:
    """Return a skeleton of the bodies that rest, and those bodies."""
    skeleton = dynamics.Skeleton("still")
    nodes = []
    for body in scene.bodies:
        if body.motion is Motion.STATIC:
            joint, node = skeleton.createWeldJointAndBodyNodePair()
            joint.setTransformFromParentBodyNode(isometry(body.X_WB))
            nodes.append(Node(node, ((body.name, IDENTITY),)))
    return skeleton, nodes
