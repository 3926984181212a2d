"""A robot placed in a scene, and its rigid bodies: links joined by fixed joints, lumped."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import inf

import numpy as np

from kinetarium.model.robot import IDENTITY, Inertia, Joint, JointType, RobotModel
from kinetarium.scene.body import DRY, Material
from kinetarium.spatial.arrays import Array, frozen


class DriveMode(StrEnum):
    """What a joint's command means."""

    TORQUE = "torque"
    """The command is a torque [N m] or force [N], constant over the step."""
    POSITION = "position"
    """The command is a position [rad or m]; the engine's own servo follows it."""
    VELOCITY = "velocity"
    """The command is a speed [rad/s or m/s]; the engine's own servo follows it."""
    PASSIVE = "passive"
    """The joint takes no command and moves freely."""


@dataclass(frozen=True, slots=True)
class Actuation:
    """The drive of a joint.

    A servo is a spring and a damper between the joint and its command, solved
    implicitly by the engine and clipped at the effort limit:
    effort = clip(stiffness (command - q) - damping v) for POSITION and
    clip(damping (command - v)) for VELOCITY.

    Attributes:
        drive: What the command means.
        stiffness: Of the position servo [N m/rad or N/m].
        damping: Of either servo [N m s/rad or N s/m].
        effort: Highest torque or force [N m or N]; infinite means the model's own limit.
    """

    drive: DriveMode = DriveMode.TORQUE
    stiffness: float = 0.0
    damping: float = 0.0
    effort: float = inf


class Base(StrEnum):
    """Whether a robot's root link is fixed or free."""

    FIXED = "fixed"
    FREE = "free"


@dataclass(frozen=True, slots=True, eq=False)
class PlacedRobot:
    """A robot, its pose in the scene and its drives.

    Attributes:
        name: Its name in the scene; solids of the scene are named "name/link".
        model: The robot.
        base: Whether its root is fixed or free.
        X_WB: Initial pose of its root link, shape (4, 4).
        positions: Initial joint positions by joint name [rad or m]; zero where not given.
        actuation: The drive of each joint by name; passive where not given.
        material: The surface of its links.
        link_materials: Surfaces of single links by name.
        self_collision: Whether links that are not joined may be in contact.
    """

    name: str
    model: RobotModel
    base: Base = Base.FIXED
    X_WB: Array = field(default_factory=lambda: IDENTITY)
    positions: Mapping[str, float] = field(default_factory=dict)
    actuation: Mapping[str, Actuation] = field(default_factory=dict)
    material: Material = DRY
    link_materials: Mapping[str, Material] = field(default_factory=dict)
    self_collision: bool = False


@dataclass(frozen=True, slots=True)
class WrenchSensor:
    """A force-torque sensor in a joint, fixed or moving.

    It reads the wrench [f; m] of the load (everything below the joint, with
    gravity and contacts) on the sensor, in the child link's frame about its origin.

    Attributes:
        name: Its name, unique in the scene.
        robot: The placed robot's name.
        joint: The joint that it measures.
    """

    name: str
    robot: str
    joint: str


@dataclass(frozen=True, slots=True, eq=False)
class RigidBody:
    """Links that move as one.

    Attributes:
        name: The topmost of the links; the body's frame is that link's frame.
        parent: Index of the parent body, -1 for the root.
        joint: The joint to the parent body, None for the root; FIXED only where it was kept.
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
    """Lump the links that are joined by fixed joints into rigid bodies.

    Args:
        keep: Fixed joints to keep as joints, because they have a sensor.

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
