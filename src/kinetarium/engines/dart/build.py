"""World: a scene as DART holds it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetarium.engines.dart.contacts import Surfaces
from kinetarium.engines.dart.skeletons import (
    Articulation,
    Node,
    constraint,
    dynamics,
    free_body_skeleton,
    isometry,
    robot_skeleton,
    simulation,
)
from kinetarium.model.robot import IDENTITY, LoopKind
from kinetarium.scene import Motion, PlacedRobot, Scene
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose


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
