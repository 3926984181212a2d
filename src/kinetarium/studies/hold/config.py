"""Config and cases of the hold study: one robot in each engine."""

from dataclasses import dataclass
from typing import Annotated

from kinetarium.batch.study import ConfigError, case_of
from kinetarium.ranges import Range, Seed, check_ranges
from kinetarium.roles.options import RoleOptions

Timestep = Annotated[float, Range(1e-5, 0.01, unit="s")]
"""A servo of 10 Hz needs ten of the longest steps for a period."""
Duration = Annotated[float, Range(0.1, 1e3, unit="s")]
"""The shortest is a period of the servos."""

SAMPLE_RATE = 100.0
"""How often samples are taken [Hz]: ten times in a period of the servos."""


@dataclass(frozen=True, kw_only=True)
class Config(RoleOptions):
    """A robot that holds its home pose.

    Attributes:
        robot: Name of a robot in the catalogue, or a URDF, xacro or MJCF file.
        engine: Engines to run; all available ones by default.
        timestep: Physics time step [s].
        duration: Simulated time [s].
        seed: Seed of the engine's random numbers.
    """

    robot: str = ""
    engine: tuple[str, ...] = ()
    timestep: Timestep = 1e-3
    duration: Duration = 5.0
    seed: Seed = 0

    def cases(self) -> tuple["Case", ...]:
        """Return a case for each engine.

        Raises:
            KinetariumError: If the robot is refused, an engine is not available or a value is
                invalid.
        """
        from kinetarium.engines.registry import check_timesteps, chosen_engines

        check_ranges(self)
        check_timesteps([self.timestep], period=1 / SAMPLE_RATE)
        if not self.robot:
            raise ConfigError("hold needs a robot, FILE|NAME (see: kinetarium hold --help)")
        robot = self.open(self.robot)
        return tuple(
            case_of(self, Case, engine=name, sha256=robot.sha256)
            for name in chosen_engines(self.engine)
        )


@dataclass(frozen=True, kw_only=True)
class Case:
    """One robot in one engine; its values are those of the config.

    Attributes:
        reading: How the robot is read and its roles are found.
        sha256: Hash of the robot's files, base and roles.
    """

    robot: str
    engine: str
    timestep: Timestep
    duration: Duration
    seed: Seed
    reading: RoleOptions
    sha256: str
