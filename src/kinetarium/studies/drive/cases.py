"""Cases of the drive study."""

from collections.abc import Sequence
from itertools import product
from typing import TypeVar

from kinetarium.batch.study import ConfigError
from kinetarium.engines.registry import (
    check_timesteps,
    chosen_engines,
    distinct_iterations,
    open_engine,
)
from kinetarium.ranges import check_ranges
from kinetarium.studies.drive.config import (
    DriveCase,
    DriveConfig,
)
from kinetarium.studies.drive.profiles import CONTROL_RATE, TIMESTEP, settings

T = TypeVar("T")


def cases(config: DriveConfig) -> tuple[DriveCase, ...]:
    """Return a case for each engine, robot, control, path, profile and start.

    Raises:
        KinetariumError: If an engine is not available or a list is empty.
    """
    check_ranges(config)
    refuse_empty(config, ("robot", "control", "path", "profile"))
    check_timesteps(config.timestep, period=1 / CONTROL_RATE)
    return tuple(
        DriveCase(
            engine=engine,
            robot=robot,
            control=control,
            path=path,
            profile=profile,
            start=start,
            timestep=timestep,
            iterations=iterations,
            friction=friction,
            seed=config.seed,
        )
        for profile, robot, control, path, engine in product(
            once(config.profile),
            once(config.robot),
            once(config.control),
            once(config.path),
            chosen_engines(config.engine),
        )
        for own in (settings(open_engine(engine), profile),)
        for timestep, iterations, friction, start in product(
            once(config.timestep) or (TIMESTEP,),
            distinct_iterations(own.options, config.iterations),
            once(config.friction) or (own.friction,),
            range(config.starts),
        )
    )


def once(values: Sequence[T]) -> tuple[T, ...]:
    """Return values without duplicates."""
    return tuple(dict.fromkeys(values))


def refuse_empty(config: object, names: Sequence[str]) -> None:
    """Check that none of the named lists of a config is empty."""
    for name in names:
        if not getattr(config, name):
            raise ConfigError(f"--{name} needs at least one value")
