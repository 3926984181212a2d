"""Closed loops, as constraints of DART's solver."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from kinetarium.engines.dart.library import constraint, isometry
from kinetarium.model.robot import LoopKind
from kinetarium.scene import PlacedRobot
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose


def close_loops(world: Any, robot: PlacedRobot, *, nodes: Mapping[str, tuple[Any, Array]]) -> None:
    """Hold the two points or frames of every loop together.

    Args:
        world: DART's world.
        robot: The robot.
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
    other does not hang on, is moved for that moment to where they meet.
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
