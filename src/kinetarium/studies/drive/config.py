"""Config and case of the drive study."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from kinetarium.ranges import Iterations, Range, Seed

MOST_STARTS = 1000
"""Maximum per case; each start is a separate run."""
STEP = Range(5e-5, 0.01, unit="s")
"""The longest is the control period; with the shortest a run takes minutes to simulate."""
FRICTION = Range(0.01, 10.0, unit="-")
"""Without friction wheels do not drive, and the ideal is undefined."""


class Robot(StrEnum):
    """A mobile robot."""

    HUSKY4 = "husky4"
    """Four cylindrical wheels; skids in every turn."""
    HUSKY2 = "husky2"
    """Two spherical wheels and frictionless casters; does not skid."""


class PathControl(StrEnum):
    """How the robot follows its path."""

    OPEN = "open"
    """Wheel speeds from the reference alone."""
    CLOSED = "closed"
    """Kanayama's tracking controller, with the exact pose."""


class PathName(StrEnum):
    """A reference path."""

    CIRCLE = "circle"
    SQUARE = "square"
    EIGHT = "eight"


class Profile(StrEnum):
    """The settings of an engine."""

    DEFAULTS = "defaults"
    """Each engine's defaults."""
    MATCHED = "matched"
    """Only the engine differs."""
    TUNED = "tuned"
    """The best settings known for each engine."""


@dataclass(frozen=True, kw_only=True)
class DriveConfig:
    """Robots that follow paths.

    Attributes:
        engine: Engines to run; all available ones by default.
        robot: Robots: four wheels that skid (husky4), two wheels and casters (husky2).
        control: Open loop, closed loop or both.
        path: Reference paths.
        profile: Engine settings: defaults, matched between engines, or tuned for each.
        starts: Runs per case, all but the first from a displaced initial pose [-].
        timestep: Physics time steps, instead of the profile's [s].
        iterations: Solver iterations, instead of the profile's [-]; 0 for the profile's.
        friction: Friction coefficients between wheels and ground, instead of the profile's [-].
        seed: Seed of the displacements and of the engine's random numbers.
    """

    engine: tuple[str, ...] = ()
    robot: tuple[Robot, ...] = (Robot.HUSKY4,)
    control: tuple[PathControl, ...] = (PathControl.OPEN, PathControl.CLOSED)
    path: tuple[PathName, ...] = (PathName.CIRCLE, PathName.SQUARE, PathName.EIGHT)
    profile: tuple[Profile, ...] = (Profile.MATCHED,)
    starts: Annotated[int, Range(1, MOST_STARTS, unit="-")] = 5
    timestep: Annotated[tuple[float, ...], STEP] = ()
    iterations: tuple[Iterations, ...] = ()
    friction: Annotated[tuple[float, ...], FRICTION] = ()
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class DriveCase:
    """One robot that follows one path in one engine; other values are those of the config.

    Attributes:
        start: Index of the initial pose [-]; 0 is not displaced.
        iterations: Solver iterations [-]; 0 for the profile's.
    """

    engine: str
    robot: Robot
    control: PathControl
    path: PathName
    profile: Profile
    start: Annotated[int, Range(0, MOST_STARTS - 1, unit="-")]
    timestep: Annotated[float, STEP]
    iterations: Iterations
    friction: Annotated[float, FRICTION]
    seed: Seed
