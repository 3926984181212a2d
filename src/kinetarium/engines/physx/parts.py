"""The pieces a scene becomes in PhysX, and where each belongs."""

from dataclasses import dataclass
from typing import Any

from kinetarium.engines.physx.resistance import Resistance
from kinetarium.spatial.arrays import Array


@dataclass(frozen=True, slots=True, eq=False)
class JointPart:
    """A moving joint.

    Attributes:
        name: "robot/joint".
        joint: The joint in PhysX.
        sign: Whether PhysX counts its position in the same direction, 1 or -1.
        resistance: Its damping and friction.
    """

    name: str
    joint: Any
    sign: float
    resistance: Resistance


@dataclass(frozen=True, slots=True, eq=False)
class SolidPart:
    """A rigid body that moves.

    Attributes:
        name: The topmost of the solids it consists of.
        component: The body in PhysX.
        members: All the solids it consists of.
    """

    name: str
    component: Any
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class SensorPart:
    """A force-torque sensor.

    Attributes:
        link: The child link of its joint.
        R_LJ: Orientation of PhysX's joint frame in that link, shape (3, 3).
    """

    link: Any
    R_LJ: Array


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """A scene taken to pieces.

    Attributes:
        entities: Everything, in the order it is added to a PhysX scene.
        joints: The moving joints in the order of the layout.
        solids: The rigid bodies that move.
        floating: Those that fly freely, in the order of the layout.
        shapes: Number and solid of every collision shape, by shape.
        sensors: The sensors by name.
        remarks: Where PhysX's model differs from the scene on purpose, in words.
    """

    entities: tuple[Any, ...]
    joints: tuple[JointPart, ...]
    solids: tuple[SolidPart, ...]
    floating: tuple[Any, ...]
    shapes: dict[Any, tuple[int, int]]
    sensors: dict[str, SensorPart]
    remarks: tuple[str, ...]
