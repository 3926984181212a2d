"""The model as an engine really loaded it, to be held against the one it was given."""

from dataclasses import dataclass

from kinetarium.model.robot import Inertia
from kinetarium.spatial.arrays import Array


@dataclass(frozen=True, slots=True, eq=False)
class LoadedSolid:
    """A moving solid as loaded; links fixed together count as the topmost of them.

    Attributes:
        name: Its name in the scene.
        inertia: Mass, centre and moment in the frame of that link or body.
        members: The links it stands for.
    """

    name: str
    inertia: Inertia
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class LoadedJoint:
    """A moving joint as loaded.

    Attributes:
        name: "robot/joint".
        axis: Axis in the child link's frame, shape (3,).
        damping: Viscous damping [N m s/rad or N s/m].
        friction: Coulomb friction [N m or N].
        armature: Drive inertia [kg m^2 or kg].
        lower: Lowest position [rad or m].
        upper: Highest position [rad or m].
    """

    name: str
    axis: Array
    damping: float
    friction: float
    armature: float
    lower: float
    upper: float


@dataclass(frozen=True, slots=True, eq=False)
class Audit:
    """What an engine loaded.

    Attributes:
        solids: The moving solids.
        joints: The moving joints.
        gravity: Gravity [m/s^2], shape (3,).
        remarks: Where the engine's model differs from the scene on purpose, in words.
    """

    solids: tuple[LoadedSolid, ...]
    joints: tuple[LoadedJoint, ...]
    gravity: Array
    remarks: tuple[str, ...] = ()
