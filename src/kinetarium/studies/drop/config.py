"""Config and case of the drop study."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

from kinetarium.ranges import Range, Seed
from kinetarium.roles.studied_robot import RoleOptions

Height = Annotated[float, Range(1e-4, 1e3, unit="m")]
"""Below it the fall is within the penetration depth of contacts."""
Size = Annotated[float, Range(1e-3, 100.0, unit="m")]
"""The smallest is about as large as contact margins."""
Mass = Annotated[float, Range(1e-6, 1e5, unit="kg")]
"""From a millimetre cube of water; engines treat lighter bodies as massless."""
Slope = Annotated[float, Range(0.0, 60.0, unit="deg")]
"""On a steeper one a body hardly touches the ground."""
Timestep = Annotated[float, Range(1e-6, 0.1, unit="s")]
"""A fall of 1 m takes four of the longest steps."""
Duration = Annotated[float, Range(1e-3, 1e5, unit="s")]
"""A million of the longest steps."""


class Falling(StrEnum):
    """The shapes that can be dropped."""

    BOX = "box"
    SPHERE = "sphere"
    CYLINDER = "cylinder"
    """Upright, as long as it is wide."""
    CAPSULE = "capsule"
    """Lying, its cylinder as long as it is wide."""


@dataclass(frozen=True, kw_only=True)
class Config(RoleOptions):
    """A body or a robot that falls.

    Attributes:
        engine: Engines to run; all available ones by default.
        robot: Drop this robot, held at its home pose by servos: its name in the catalogue, or a
            URDF, xacro or MJCF file. By default a body is dropped.
        shape: Shape of the body.
        height: Drop height [m].
        size: Edge length or diameter of the body [m].
        mass: Mass of the body [kg].
        slope: Slope of the ground about y; what falls is aligned with it [deg].
        timestep: Physics time step [s].
        duration: Simulated time [s].
        seed: Seed of the engine's random numbers.
    """

    engine: tuple[str, ...] = ()
    robot: str = ""
    shape: Falling = Falling.BOX
    height: Height = 0.5
    size: Size = 0.1
    mass: Mass = 1.0
    slope: Slope = 0.0
    timestep: Timestep = 1e-3
    duration: Duration = 2.0
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class Case:
    """One fall in one engine; its values are those of the config.

    Attributes:
        reading: How the robot is read and its roles are found.
        sha256: Hash of the robot's files, base and roles; empty for a body.
    """

    engine: str
    height: Height
    size: Size
    mass: Mass
    timestep: Timestep
    duration: Duration
    seed: Seed
    shape: Falling = Falling.BOX
    slope: Slope = 0.0
    robot: str = ""
    reading: RoleOptions = field(default_factory=RoleOptions)
    sha256: str = ""
