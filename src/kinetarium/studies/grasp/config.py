"""Config and case of the grasp study."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

from kinetarium.ranges import Friction, Iterations, Range, Seed
from kinetarium.roles.options import RoleOptions

MOST_STARTS = 1000
"""Maximum per case; each start is a separate run."""
STEP = Range(5e-5, 0.01, unit="s")
"""The longest is the sampling period; with the shortest a path takes minutes to simulate."""
Duration = Annotated[float, Range(0.5, 1e3, unit="s")]
"""The shortest is one window of the moving variance."""
Mass = Annotated[float, Range(1e-4, 100.0, unit="kg")]
"""From a paper clip to more than any arm here lifts."""
Force = Annotated[float, Range(0.01, 1e5, unit="N")]
"""From what holds a paper clip to what crushes a gripper."""
Size = Annotated[float, Range(1e-3, 2.0, unit="m")]
"""The largest is beyond the reach of most arms: paths are scaled into reach."""
Speed = Annotated[float, Range(0.0, 5.0, unit="m/s")]
"""Arms are not faster; 0 for one lap in 8 s."""
Share = Annotated[float, Range(-1.0, 10.0, unit="-")]
"""From a controller that knows of no load to one that expects eleven times as much."""
Push = Annotated[float, Range(0.0, 1e4, unit="N")]
"""More than any grip holds."""


class ToolPath(StrEnum):
    """What the hand does with the object, unless it follows a path in a file."""

    CIRCLE = "circle"
    SQUARE = "square"
    EIGHT = "eight"
    STILL = "still"
    """Stands still: any force variation is the engine's own."""
    RELEASE = "release"
    """Releases: the grip force is lowered until the object slides."""


class Plane(StrEnum):
    """The plane of a path in the world; a path starts along the first axis."""

    YZ = "yz"
    XY = "xy"
    XZ = "xz"


class Start(StrEnum):
    """How the reference sets off and stops."""

    RAMP = "ramp"
    """Its speed rises and falls smoothly, within two seconds each."""
    ABRUPT = "abrupt"
    """At full speed, as in the paper: most of the force variation is that jerk."""


class Closing(StrEnum):
    """The closing axis of the gripper, from one finger to the other, at the start of the path."""

    HOME = "home"
    """As in the arm's home pose, if the path is in reach from there."""
    LEVEL = "level"
    """Horizontal: friction carries the object."""
    UPRIGHT = "upright"
    """Vertical: one finger carries the object, and the other presses it down."""


class Profile(StrEnum):
    """The settings of an engine."""

    DEFAULTS = "defaults"
    """Each engine's defaults, with its own servos."""
    MATCHED = "matched"
    """The same controller, friction and time step in all engines: only the engine differs."""
    TUNED = "tuned"
    """The best settings known for each engine, with its own servos."""


@dataclass(frozen=True, kw_only=True)
class Config(RoleOptions):
    """An object that an arm carries along a path.

    Attributes:
        robot: Robot file or name of the catalogue, with an arm and a gripper.
        gripper: Name of the gripper, if the robot has several.
        object: box:EDGE or box:X:Y:Z, sphere:RADIUS, cylinder:RADIUS:LENGTH,
            capsule:RADIUS:LENGTH [m], or mesh:FILE; gripped along its y axis.
        mass: Mass of the object [kg].
        force: Grip force at each finger [N].
        engine: Engines to run; all available ones by default.
        path: Paths of the hand: circle, square, eight, still, or files of points [m], two or
            three numbers a line.
        size: Radius of the circle, half height of the eight, half side of the square [m].
        speed: Speed along the path [m/s]; 0 for one lap in 8 s.
        plane: Plane of the paths in the world.
        closing: Whether the gripper's closing axis is as at home, level or upright.
        start: Whether the reference sets off smoothly or at full speed.
        payload_error: Error of the controller's mass of the object, as a share of it [-].
        push: Force on the object along the closing axis, for 0.1 s in mid-path [N].
        profile: Engine settings: defaults, matched between engines, or tuned for each.
        starts: Number of initial positions of the object between the fingers [-].
        release: Also lower the grip force until the object slides.
        duration: Simulated part of a path [s].
        timestep: Physics time steps, instead of the profile's [s].
        iterations: Solver iterations, instead of the profile's [-]; 0 for the profile's.
        friction: Friction coefficients between fingers and object, instead of the profile's [-].
        seed: Seed of the object's initial positions and of the engine's random numbers.
    """

    robot: str = "panda"
    gripper: str = ""
    object: str = "box:0.04"
    mass: Mass = 1.0
    force: Force = 100.0
    engine: tuple[str, ...] = ()
    path: tuple[str, ...] = (ToolPath.CIRCLE, ToolPath.SQUARE, ToolPath.EIGHT)
    size: Size = 0.1
    speed: Speed = 0.0
    plane: Plane = Plane.YZ
    closing: Closing = Closing.HOME
    start: Start = Start.RAMP
    payload_error: Share = 0.0
    push: Push = 0.0
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
    """One object in one engine; other values are those of the config.

    Attributes:
        path: A ToolPath, or a file of points.
        start: Index of the object's initial position; 0 is the middle of the fingers.
        iterations: Solver iterations [-]; 0 for the profile's.
        reading: How the robot is read.
        sha256: Hash of the robot's files and roles; empty if they are not checked.
        files: Hash of the files of path and object; empty if there are none.
        ramp: Whether the reference sets off smoothly.
    """

    engine: str
    path: str
    profile: Profile
    start: Annotated[int, Range(0, MOST_STARTS - 1, unit="-")]
    duration: Duration
    timestep: Annotated[float, STEP]
    iterations: Iterations
    friction: Friction
    seed: Seed
    robot: str = "panda"
    reading: RoleOptions = field(default_factory=RoleOptions)
    sha256: str = ""
    gripper: str = ""
    object: str = "box:0.04"
    mass: Mass = 1.0
    force: Force = 100.0
    files: str = ""
    size: Size = 0.1
    speed: Speed = 0.0
    plane: Plane = Plane.YZ
    closing: Closing = Closing.HOME
    ramp: bool = False
    payload_error: Share = 0.0
    push: Push = 0.0

    @property
    def release(self) -> bool:
        """Whether the grip force is lowered instead of following a path."""
        return self.path == ToolPath.RELEASE
