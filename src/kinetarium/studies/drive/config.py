"""What the driving studies are asked, and single cases of them."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from kinetarium.ranges import Iterations, Range, Seed

MOST_STARTS = 1000
"""Of each case; each is a run of its own."""
STEP = Range(5e-5, 0.01, unit="s")
"""Of physics: the longest is the period of control; with the shortest a drive takes minutes."""
FRICTION = Range(0.01, 10.0, unit="-")
"""Wheels without any do not drive, and their ideal is not defined."""
FORWARD = Range(0.0, 2.0, unit="m/s")
TURNING = Range(0.05, 2.0, unit="rad/s")
"""What is identified: slower turns take minutes, faster ones are beyond the robots."""


class Robot(StrEnum):
    """A robot that drives."""

    HUSKY4 = "husky4"
    """Four cylindrical wheels, which skid in every turn."""
    HUSKY2 = "husky2"
    """Two spherical wheels and casters without friction, which do not."""


class PathControl(StrEnum):
    """How the robot follows its path."""

    OPEN = "open"
    """Wheel speeds from the reference alone."""
    CLOSED = "closed"
    """Kanayama's law, with the pose known exactly."""


class PathName(StrEnum):
    """A reference."""

    CIRCLE = "circle"
    SQUARE = "square"
    EIGHT = "eight"


class Profile(StrEnum):
    """What is set in the engines."""

    DEFAULTS = "defaults"
    """Each engine as it comes."""
    MATCHED = "matched"
    """Only the engine differs."""
    TUNED = "tuned"
    """The best that is known for each engine."""


@dataclass(frozen=True, kw_only=True)
class DriveConfig:
    """Robots that follow paths.

    Attributes:
        engine: The engines; all that are available by default.
        robot: The robots.
        control: Open loop, closed loop or both.
        path: The paths.
        profile: What is set in the engines; results of two profiles are never mixed.
        starts: Runs of each case, all but the first from a displaced start [-].
        timestep: Physics steps to use instead of the profile's own [s].
        iterations: Iterations of the solver to use instead of the profile's own [-]; 0 for those.
        friction: Friction between wheels and ground to use instead of the profile's own [-].
        seed: Seed of the displacements and of everything random in an engine.
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
    """One robot that follows one path in one engine.

    Attributes:
        engine: The engine.
        robot: The robot.
        control: Open or closed loop.
        path: The path.
        profile: What is set in the engine.
        start: Which start [-]; number 0 is not displaced.
        timestep: Physics step [s].
        iterations: Iterations of the solver [-]; 0 for the profile's own.
        friction: Between wheels and ground [-].
        seed: Seed of the displacement and of everything random in the engine.
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


@dataclass(frozen=True, kw_only=True)
class CalibrateConfig:
    """Robots that turn at constant speeds.

    Attributes:
        engine: The engines; all that are available by default.
        robot: The robots.
        profile: What is set in the engines.
        v: Forward speeds [m/s].
        w: Yaw rates [rad/s].
        seed: Seed of everything random in an engine.
    """

    engine: tuple[str, ...] = ()
    robot: tuple[Robot, ...] = (Robot.HUSKY4,)
    profile: tuple[Profile, ...] = (Profile.MATCHED,)
    v: Annotated[tuple[float, ...], FORWARD] = (0.0, 0.25, 0.5, 1.0)
    w: Annotated[tuple[float, ...], TURNING] = (0.25, 0.5, 1.0)
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class CalibrateCase:
    """One turn of one robot in one engine.

    Attributes:
        engine: The engine.
        robot: The robot.
        profile: What is set in the engine.
        v: Commanded forward speed [m/s].
        w: Commanded yaw rate [rad/s].
        seed: Seed of everything random in the engine.
    """

    engine: str
    robot: Robot
    profile: Profile
    v: Annotated[float, FORWARD]
    w: Annotated[float, TURNING]
    seed: Seed
