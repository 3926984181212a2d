"""A robot placed in a scene."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from kinetarium.model.robot import IDENTITY, RobotModel
from kinetarium.scene.actuation import Actuation
from kinetarium.scene.material import DRY, Material
from kinetarium.spatial.arrays import Array


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
