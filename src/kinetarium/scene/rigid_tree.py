"""A robot as the moving bodies it consists of: fixed links lumped, except where a sensor sits."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from kinetarium.model.robot import IDENTITY, Inertia, Joint, JointType, RobotModel
from kinetarium.spatial.arrays import Array, frozen


@dataclass(frozen=True, slots=True, eq=False)
class RigidBody:
    """Links that move as one.

    Attributes:
        name: The topmost of the links; the body's frame is that link's frame.
        parent: Index of the body above, -1 for the root.
        joint: The joint to the body above, None for the root; FIXED only where it was kept.
        X_PJ: Pose of that joint's frame in the parent body's frame at position zero, shape (4, 4).
        inertia: Mass properties of all the links together; None if they have no mass.
        members: The links and the pose of each in the body's frame.
    """

    name: str
    parent: int
    joint: Joint | None
    X_PJ: Array
    inertia: Inertia | None
    members: tuple[tuple[str, Array], ...]


def rigid_tree(model: RobotModel, *, keep: Collection[str] = ()) -> tuple[RigidBody, ...]:
    """Lump the links that fixed joints hold together.

    Args:
        model: The robot.
        keep: Fixed joints to keep as joints, because a sensor sits in them.

    Returns:
        The bodies, a parent before its children.
    """
    home: dict[str, tuple[int, Array]] = {model.root: (0, IDENTITY)}
    tops: list[tuple[str, int, Joint | None, Array]] = [(model.root, -1, None, IDENTITY)]
    for joint in model.joints:
        index, X_BP = home[joint.parent]
        X_BJ = frozen(X_BP @ joint.X_PJ)
        if joint.type is JointType.FIXED and joint.name not in keep:
            home[joint.child] = (index, X_BJ)
        else:
            home[joint.child] = (len(tops), IDENTITY)
            tops.append((joint.child, index, joint, X_BJ))
    members: list[list[tuple[str, Array]]] = [[] for _ in tops]
    for link in model.links:
        index, X_BL = home[link.name]
        members[index].append((link.name, X_BL))
    return tuple(
        RigidBody(name, parent, joint, X_PJ, _lump(model, members[i]), tuple(members[i]))
        for i, (name, parent, joint, X_PJ) in enumerate(tops)
    )


def _lump(model: RobotModel, members: list[tuple[str, Array]]) -> Inertia | None:
    """Add up inertias in one frame (parallel axis theorem)."""
    parts = [(model.link(name).inertia, X) for name, X in members]
    solid = [(inertia, X) for inertia, X in parts if inertia is not None]
    if not solid:
        return None
    if len(solid) == 1 and np.array_equal(solid[0][1], IDENTITY):
        return solid[0][0]
    mass = sum(inertia.mass for inertia, _ in solid)
    centers = [X[:3, :3] @ inertia.center + X[:3, 3] for inertia, X in solid]
    center = sum(inertia.mass * c for (inertia, _), c in zip(solid, centers, strict=True)) / mass
    moment = np.zeros((3, 3))
    for (inertia, X), c in zip(solid, centers, strict=True):
        R, d = X[:3, :3], c - center
        moment += R @ inertia.moment @ R.T + inertia.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return Inertia(mass, frozen(center), frozen(moment))
