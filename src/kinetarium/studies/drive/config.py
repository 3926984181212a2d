"""Config and case of the drive study."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from kinetarium.ranges import Iterations, Range, Seed
from kinetarium.roles.options import RoleOptions

MOST_STARTS = 1000
"""Maximum per case; each start is a separate run."""
STEP = Range(5e-5, 0.01, unit="s")
"""The longest is the control period; with the shortest a run takes minutes to simulate."""
FRICTION = Range(0.01, 10.0, unit="-")
"""Without friction wheels do not drive, and the ideal is undefined."""
MULTIPLIER = Range(0.0, 20.0, unit="-")
"""Beyond it wheels turn for minutes and the robot hardly does."""
SLOPE = Range(-30.0, 30.0, unit="deg")
"""Steeper ground is beyond wheels with a friction of 0.6."""
PAYLOAD = Range(0.0, 1000.0, unit="kg")
RISE = Range(0.001, 0.5, unit="m")
ROLLING = Range(0.0, 0.1, unit="m")
"""Of a tyre on sand it is some centimetres."""


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


class Terrain(StrEnum):
    """The ground that a robot drives on; it is level where the robot starts."""

    FLAT = "flat"
    STEPS = "steps"
    """Terraces across x, one metre wide and one apart."""
    ROUGH = "rough"
    """Paving of slabs of random height."""


@dataclass(frozen=True, kw_only=True)
class DriveConfig(RoleOptions):
    """Robots that follow paths.

    Attributes:
        engine: Engines to run; all available ones by default.
        robot: Robots with wheels: names of the catalogue, or URDF, xacro or MJCF files.
        control: Open loop, closed loop or both.
        path: Reference paths.
        profile: Engine settings: defaults, matched between engines, or tuned for each.
        starts: Runs per case, all but the first from a displaced initial pose [-].
        timestep: Physics time steps, instead of the profile's [s].
        iterations: Solver iterations, instead of the profile's [-]; 0 for the profile's.
        friction: Friction coefficients between wheels and ground, instead of the profile's [-].
        multiplier: Track multiplier of wheels that skid, as `calibrate` finds it [-]; 0 for the
            profile's.
        slope: Inclination of the ground, which rises along x [deg].
        payload: Mass of a box on top of the base, above the middle of its wheels [kg].
        terrain: Flat ground, steps, or rough paving.
        rise: Height of the steps, or of the highest slabs of the paving [m].
        rolling: Rolling resistance of the wheels: torque over normal force [m]; engines that do
            not have it are refused.
        seed: Seed of the displacements and of the engine's random numbers.
    """

    engine: tuple[str, ...] = ()
    robot: tuple[str, ...] = ("husky4",)
    control: tuple[PathControl, ...] = (PathControl.OPEN, PathControl.CLOSED)
    path: tuple[PathName, ...] = (PathName.CIRCLE, PathName.SQUARE, PathName.EIGHT)
    profile: tuple[Profile, ...] = (Profile.MATCHED,)
    starts: Annotated[int, Range(1, MOST_STARTS, unit="-")] = 5
    timestep: Annotated[tuple[float, ...], STEP] = ()
    iterations: tuple[Iterations, ...] = ()
    friction: Annotated[tuple[float, ...], FRICTION] = ()
    multiplier: Annotated[float, MULTIPLIER] = 0.0
    slope: Annotated[float, SLOPE] = 0.0
    payload: Annotated[float, PAYLOAD] = 0.0
    terrain: Terrain = Terrain.FLAT
    rise: Annotated[float, RISE] = 0.02
    rolling: Annotated[float, ROLLING] = 0.0
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class DriveCase:
    """One robot that follows one path in one engine; other values are those of the config.

    Attributes:
        robot: Name in the catalogue, or file.
        reading: How it was read.
        sha256: Hash of what was read.
        start: Index of the initial pose [-]; 0 is not displaced.
        iterations: Solver iterations [-]; 0 for the profile's.
    """

    engine: str
    robot: str
    reading: RoleOptions
    sha256: str
    control: PathControl
    path: PathName
    profile: Profile
    start: Annotated[int, Range(0, MOST_STARTS - 1, unit="-")]
    timestep: Annotated[float, STEP]
    iterations: Iterations
    friction: Annotated[float, FRICTION]
    multiplier: Annotated[float, MULTIPLIER]
    slope: Annotated[float, SLOPE]
    payload: Annotated[float, PAYLOAD]
    terrain: Terrain = Terrain.FLAT
    rise: Annotated[float, RISE] = 0.02
    rolling: Annotated[float, ROLLING] = 0.0
    seed: Seed
