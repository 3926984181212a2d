"""A robot placed in a scene."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import inf

from kinetarium.model.robot import IDENTITY, RobotModel
from kinetarium.scene.body import DRY, Material
from kinetarium.spatial.arrays import Array


class Drive(StrEnum):
    """What a joint's command means."""

    TORQUE = "torque"
    """The command is a torque [N m] or force [N], held over the step."""
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
    implicitly by the engine and cut off at the effort limit:
    effort = clip(stiffness (command - q) - damping v) for POSITION and
    clip(damping (command - v)) for VELOCITY.

    Attributes:
        drive: What the command means.
        stiffness: Of the position servo [N m/rad or N/m].
        damping: Of either servo [N m s/rad or N s/m].
        effort: Highest torque or force [N m or N]; infinite means the model's own limit.
    """

    drive: Drive = Drive.TORQUE
    stiffness: float = 0.0
    damping: float = 0.0
    effort: float = inf


class Base(StrEnum):
    """How a robot's root link is held."""

    FIXED = "fixed"
    FREE = "free"


@dataclass(frozen=True, slots=True, eq=False)
class PlacedRobot:
    """A robot, where it stands and how it is driven.

    Attributes:
        name: Its name in the scene; solids of the scene are named "name/link".
        model: The robot.
        base: Whether its root is held or free.
        X_WB: Pose of its root link at the start, shape (4, 4).
        positions: Joint positions at the start by joint name [rad or m]; zero where not given.
        actuation: The drive of each joint by name; passive where not given.
        material: The surface of its links.
        link_materials: Surfaces of single links by name.
        self_collision: Whether links that are not joined may touch each other.
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
        joint: The joint it sits in.
    """

    name: str
    robot: str
    joint: str
