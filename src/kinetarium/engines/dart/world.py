"""World: a scene as DART holds it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetarium.engines.dart.library import dynamics, isometry, simulation
from kinetarium.engines.dart.loops import close_loops
from kinetarium.engines.dart.skeletons import (
    Articulation,
    Node,
    free_body_skeleton,
    robot_skeleton,
)
from kinetarium.engines.dart.surfaces import Surfaces
from kinetarium.model.robot import IDENTITY
from kinetarium.scene import Motion, Scene
from kinetarium.spatial.arrays import Array


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
        """Let DART look at contacts anew; ODE's detector brings some of earlier steps back."""
        self.bare.setCollisionDetector(simulation.CollisionDetectorType.ODE)


def build_world(scene: Scene, *, timestep: float) -> World:
    """Build a scene in a world of its own.

    Args:
        scene: The scene.
        timestep: Time step [s].

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
        robot_skeleton(
            robot, keep={sensor.joint for sensor in scene.sensors if sensor.robot == robot.name}
        )
        for robot in scene.robots
    )
    free = tuple(free_body_skeleton(body) for body in scene.bodies if body.motion is Motion.FREE)
    still, nodes = _still(scene)
    for part in (*robots, *free):
        nodes += part.nodes
    surfaces = Surfaces(scene)
    surfaces.cover(nodes)
    surfaces.part(bare.getConstraintSolver().getCollisionOption().collisionFilter)
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
    """Give a skeleton of the bodies that rest, and those bodies."""
    skeleton = dynamics.Skeleton("still")
    nodes = []
    for body in scene.bodies:
        if body.motion is Motion.STATIC:
            joint, node = skeleton.createWeldJointAndBodyNodePair()
            joint.setTransformFromParentBodyNode(isometry(body.X_WB))
            nodes.append(Node(node, ((body.name, IDENTITY),)))
    return skeleton, nodes
