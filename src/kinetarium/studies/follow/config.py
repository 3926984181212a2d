"""Config and cases of the follow study: one robot on one line, by engine, speed and sensing."""

from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from itertools import pairwise
from math import dist
from typing import Annotated

from kinetarium.batch.study import ConfigError, case_of, refuse_empty
from kinetarium.ranges import Range, Seed, check_ranges
from kinetarium.roles.options import RoleOptions

Speed = Annotated[float, Range(0.01, 2.0, unit="m/s")]
Length = Annotated[float, Range(0.1, 100.0, unit="m")]
Timestep = Annotated[float, Range(1e-4, 0.002, unit="s")]
"""The longest is the period of the arm's law."""

CONTROL_RATE = 500.0
"""Of the arm's law [Hz]."""
LEAST_STEP = 1e-6
"""Least distance between consecutive poses of a line [m]."""


class Sensing(StrEnum):
    """What is known of the pose of the base."""

    TRUE = "true"
    """Pose and twist, at every tick of the arm's law."""
    LATE = "late"
    """Pose and twist 50 times a second and 20 ms late, held until the next."""
    PREDICTED = "predicted"
    """The same, extrapolated by the twist."""
    NOISY = "noisy"
    """Predicted, the pose with noise of 2 mm and 0.1 degrees, filtered."""
    RAW = "raw"
    """Predicted, with the same noise, not filtered."""
    ODOMETRY = "odometry"
    """What the speeds of the wheels add up to from the start."""


@dataclass(frozen=True, kw_only=True)
class Config(RoleOptions):
    """A robot with wheels and an arm whose tool is to stay on a line.

    Attributes:
        robot: Name of a robot in the catalogue, or a URDF, xacro or MJCF file.
        engine: Engines to run.
        line: JSON file with two poses of the tool or more along the line: a list of 4x4 matrices
            by rows, or of {"position", "quaternion_wxyz"}; straight between two, a spline through
            more. By default a straight line along x with the tool pointing to its left.
        length: Length of the default line [m].
        height: Height of the default line above the ground [m].
        speed: Speeds of the tool along the line [m/s].
        sensing: What is known of the pose of the base.
        base_speed: Speed limit of the base [m/s].
        base_turning: Its yaw rate limit [rad/s].
        base_acceleration: Its acceleration limit [m/s^2].
        friction: Friction coefficient between wheels and ground [-].
        multiplier: Track multiplier of wheels that skid, as `calibrate` finds it [-].
        timestep: Physics time step [s].
        seed: Seed of the noise and of the engine's random numbers.
    """

    robot: str = "scout-panda"
    engine: tuple[str, ...] = ("mujoco",)
    line: str | None = None
    length: Length = 6.0
    height: Annotated[float, Range(0.0, 10.0, unit="m")] = 1.1
    speed: tuple[Speed, ...] = (0.1, 0.2, 0.3)
    sensing: tuple[Sensing, ...] = (
        Sensing.TRUE,
        Sensing.LATE,
        Sensing.PREDICTED,
        Sensing.NOISY,
        Sensing.ODOMETRY,
    )
    base_speed: Speed = 1.0
    base_turning: Annotated[float, Range(0.01, 10.0, unit="rad/s")] = 1.0
    base_acceleration: Annotated[float, Range(0.01, 10.0, unit="m/s^2")] = 0.5
    friction: Annotated[float, Range(0.05, 2.0, unit="-")] = 0.8
    multiplier: Annotated[float, Range(1.0, 20.0, unit="-")] = 1.6
    timestep: Timestep = 2e-3
    seed: Seed = 0

    def cases(self) -> tuple["Case", ...]:
        """Return a case for each engine, speed and sensing.

        Raises:
            KinetariumError: If the robot has no wheels or no arm, or is steered, the line cannot be
                read or has less than two places, or an engine is not available.
        """
        from kinetarium.control.vehicle.robot_base import check_turns_in_place, vehicle
        from kinetarium.engines.registry import check_timesteps, chosen_engines
        from kinetarium.reach.placement.files import read_poses

        check_ranges(self)
        refuse_empty(self, "speed", "sensing")
        check_timesteps([self.timestep], period=1 / CONTROL_RATE)
        robot = self.open(self.robot)
        robot.roles.arm()
        check_turns_in_place(vehicle(robot))
        digest = ""
        if self.line is not None:
            poses = read_poses(self.line)
            steps = [dist(a, b) for a, b in pairwise(poses[:, :3, 3].tolist())]
            if min(steps, default=0.0) < LEAST_STEP:
                raise ConfigError(
                    f"--line {self.line!r} must have two poses or more, each at another place than"
                    " the one before"
                )
            digest = sha256(poses.tobytes()).hexdigest()
        return tuple(
            case_of(
                self,
                Case,
                engine=engine,
                speed=speed,
                sensing=sensing,
                sha256=robot.sha256,
                line_sha256=digest,
            )
            for engine in chosen_engines(self.engine)
            for speed in dict.fromkeys(self.speed)
            for sensing in dict.fromkeys(self.sensing)
        )


@dataclass(frozen=True, kw_only=True)
class Case:
    """One run; its values are those of the config.

    Attributes:
        reading: How the robot is read and its roles are found.
        sha256: Hash of the robot's files, base and roles.
        line_sha256: Hash of the poses of the line; empty for the default one.
    """

    robot: str
    engine: str
    line: str | None
    length: Length
    height: Annotated[float, Range(0.0, 10.0, unit="m")]
    speed: Speed
    sensing: Sensing
    base_speed: Speed
    base_turning: Annotated[float, Range(0.01, 10.0, unit="rad/s")]
    base_acceleration: Annotated[float, Range(0.01, 10.0, unit="m/s^2")]
    friction: Annotated[float, Range(0.05, 2.0, unit="-")]
    multiplier: Annotated[float, Range(1.0, 20.0, unit="-")]
    timestep: Timestep
    seed: Seed
    reading: RoleOptions
    sha256: str
    line_sha256: str
