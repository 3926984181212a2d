"""Config and case of the calibrate study."""

from dataclasses import dataclass
from typing import Annotated

from kinetarium.ranges import Range, Seed
from kinetarium.roles.options import RoleOptions
from kinetarium.studies.drive.config import Profile

FORWARD = Range(0.0, 2.0, unit="m/s")
TURNING = Range(0.05, 2.0, unit="rad/s")
"""Slower turns take minutes; faster ones are beyond the robots."""


@dataclass(frozen=True, kw_only=True)
class CalibrateConfig(RoleOptions):
    """Robots that turn at constant speeds.

    Attributes:
        engine: Engines to run; all available ones by default.
        robot: Robots with wheels: names of the catalogue, or URDF, xacro or MJCF files.
        profile: Engine settings: defaults, matched between engines, or tuned for each.
        v: Commanded forward speeds [m/s].
        w: Commanded yaw rates [rad/s].
        seed: Seed of the engine's random numbers.
    """

    engine: tuple[str, ...] = ()
    robot: tuple[str, ...] = ("husky4",)
    profile: tuple[Profile, ...] = (Profile.MATCHED,)
    v: Annotated[tuple[float, ...], FORWARD] = (0.0, 0.25, 0.5, 1.0)
    w: Annotated[tuple[float, ...], TURNING] = (0.25, 0.5, 1.0)
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class CalibrateCase:
    """One turn of one robot in one engine; its values are those of the config.

    Attributes:
        reading: How the robot was read.
        sha256: Hash of what was read.
    """

    engine: str
    robot: str
    reading: RoleOptions
    sha256: str
    profile: Profile
    v: Annotated[float, FORWARD]
    w: Annotated[float, TURNING]
    seed: Seed
