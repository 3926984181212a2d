"""Config and cases of the drop study: one fall in each engine."""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import sqrt
from typing import Annotated

from kinetarium.batch.study import ConfigError, case_of
from kinetarium.ranges import Range, Seed, check_ranges
from kinetarium.roles.options import RoleOptions
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.gravity import GRAVITY

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


def fall_time(height: float) -> float:
    """Return the duration of a fall [s] from a height [m]."""
    return sqrt(2 * height / GRAVITY)


def impact_speed(height: float) -> float:
    """Return the speed at the end of a fall [m/s] from a height [m]."""
    return sqrt(2 * GRAVITY * height)


def fallen(time: Array) -> Array:
    """Return the fallen distance [m] after times [s], shape (n,)."""
    distance: Array = GRAVITY * time**2 / 2
    return distance


_MOST_STEPS = 1_000_000


def cases(config: Config) -> tuple[Case, ...]:
    """Return a case for each engine.

    Raises:
        KinetariumError: If an engine is not available, the robot is refused, or values contradict
            each other.
    """
    from kinetarium.engines.registry import chosen_engines
    from kinetarium.roles.roles import BaseKind

    check_ranges(config)
    if config.duration / config.timestep > _MOST_STEPS:
        raise ConfigError(
            f"a --duration of {config.duration:g} s in steps of {config.timestep:g} s takes more"
            f" than {_MOST_STEPS} steps"
        )
    if config.duration < config.timestep:
        raise ConfigError(
            f"a --duration of {config.duration:g} s is shorter than one step of"
            f" {config.timestep:g} s"
        )
    if config.duration < 2 * fall_time(config.height):
        raise ConfigError(
            f"a fall of {config.height:g} m takes {fall_time(config.height):.3g} s;"
            f" a --duration of {config.duration:g} s leaves no time to rest"
        )
    reading, sha256 = RoleOptions(), ""
    if config.robot:
        if config.base not in (None, BaseKind.FREE):
            raise ConfigError(f"a robot falls with a free base, not a {config.base} one")
        reading = replace(config.reading, base=BaseKind.FREE)
        sha256 = reading.open(config.robot).sha256
    return tuple(
        case_of(config, Case, engine=name, reading=reading, sha256=sha256)
        for name in chosen_engines(config.engine)
    )
