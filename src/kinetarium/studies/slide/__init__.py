"""slide: boxes set sliding in several directions, compared with Coulomb's friction."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from kinetarium.batch.study import Study
from kinetarium.ranges import Range, Seed

__all__ = ["Slide"]

Angle = Annotated[float, Range(-360.0, 360.0, unit="deg")]
Speed = Annotated[float, Range(0.02, 10.0, unit="m/s")]
"""The slowest stops within a few of the usual time steps."""
Friction = Annotated[float, Range(0.05, 0.9, unit="-")]
"""A box twice as wide as high slides, and does not tip over, up to a friction of 2."""
Timestep = Annotated[float, Range(1e-5, 0.01, unit="s")]
MOST_STARTS = 1000
"""Maximum per case; each start is a separate run."""


class Profile(StrEnum):
    """The settings of an engine."""

    DEFAULTS = "defaults"
    """Each engine's defaults."""
    MATCHED = "matched"
    """The one set of settings in which all studies compare engines: only the engine differs."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """Boxes that are set sliding.

    Attributes:
        engine: Engines to run; all available ones by default.
        profile: Engine settings: the engine's defaults, or matched between engines.
        angle: Directions of the motion, from the x axis [deg].
        speed: Initial speeds [m/s].
        friction: Friction coefficient between boxes and ground [-].
        starts: Runs per case, all but the first with displaced directions and speeds [-].
        timestep: Physics time step [s].
        seed: Seed of the displacements and of the engine's random numbers.
    """

    engine: tuple[str, ...] = ()
    profile: tuple[Profile, ...] = (Profile.MATCHED,)
    angle: tuple[Angle, ...] = (0.0, 15.0, 30.0, 45.0, 60.0, 75.0, 90.0)
    speed: tuple[Speed, ...] = (0.1, 0.5, 1.0, 2.0)
    friction: Friction = 0.5
    starts: Annotated[int, Range(1, MOST_STARTS, unit="-")] = 1
    timestep: Timestep = 1e-3
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class Case:
    """Boxes in all directions at one speed in one engine; other values are those of the config.

    Attributes:
        start: Index of the start [-]; 0 is not displaced.
    """

    engine: str
    profile: Profile
    angle: tuple[Angle, ...]
    speed: Speed
    friction: Friction
    start: Annotated[int, Range(0, MOST_STARTS - 1, unit="-")]
    timestep: Timestep
    seed: Seed


class Slide(Study[Config, Case]):
    """Measures whether friction is the same in every direction, and what it lifts."""

    name = "slide"
    help = "slide boxes in all directions, compared with Coulomb friction"
    title = "Friction in all directions"
    config = Config
    case = Case
