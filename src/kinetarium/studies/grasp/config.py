"""Config and case of the grasp study."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from kinetarium.ranges import Friction, Iterations, Range, Seed

MOST_STARTS = 1000
"""Maximum per case; each start is a separate run."""
STEP = Range(5e-5, 0.01, unit="s")
"""The longest is the sampling period; with the shortest a path takes minutes to simulate."""
Duration = Annotated[float, Range(0.5, 1e3, unit="s")]
"""The shortest is one window of the moving variance."""


class ToolPath(StrEnum):
    """What the hand does with the cube."""

    CIRCLE = "circle"
    SQUARE = "square"
    EIGHT = "eight"
    STILL = "still"
    """Stands still: any force variation is the engine's own."""
    RELEASE = "release"
    """Releases: the grip force is lowered until the cube slides."""


class Profile(StrEnum):
    """The settings of an engine."""

    DEFAULTS = "defaults"
    """Each engine's defaults, with its own servos."""
    MATCHED = "matched"
    """The same controller, friction and time step in all engines: only the engine differs."""
    TUNED = "tuned"
    """The best settings known for each engine, with its own servos."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """A cube that an arm carries along a path.

    Attributes:
        engine: Engines to run; all available ones by default.
        path: Paths of the hand.
        profile: Engine settings: defaults, matched between engines, or tuned for each.
        starts: Number of initial positions of the cube between the pads [-].
        release: Also lower the grip force until the cube slides.
        duration: Simulated part of a path [s]; one lap takes 8 s.
        timestep: Physics time steps, instead of the profile's [s].
        iterations: Solver iterations, instead of the profile's [-]; 0 for the profile's.
        friction: Friction coefficients between pads and cube, instead of the profile's [-].
        seed: Seed of the cube's initial positions and of the engine's random numbers.
    """

    engine: tuple[str, ...] = ()
    path: tuple[ToolPath, ...] = (ToolPath.CIRCLE, ToolPath.SQUARE, ToolPath.EIGHT)
    profile: tuple[Profile, ...] = (Profile.DEFAULTS, Profile.MATCHED)
    starts: Annotated[int, Range(1, MOST_STARTS, unit="-")] = 5
    release: bool = False
    duration: Duration = 8.0
    timestep: Annotated[tuple[float, ...], STEP] = ()
    iterations: tuple[Iterations, ...] = ()
    friction: tuple[Friction, ...] = ()
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class Case:
    """One cube in one engine; other values are those of the config.

    Attributes:
        start: Index of the cube's initial position; 0 is the middle of the pads.
        iterations: Solver iterations [-]; 0 for the profile's.
    """

    engine: str
    path: ToolPath
    profile: Profile
    start: Annotated[int, Range(0, MOST_STARTS - 1, unit="-")]
    duration: Duration
    timestep: Annotated[float, STEP]
    iterations: Iterations
    friction: Friction
    seed: Seed
