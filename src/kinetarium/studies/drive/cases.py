"""From configs to their cases."""

from collections.abc import Sequence
from itertools import product
from typing import TypeVar

from kinetarium.batch.study import ConfigError
from kinetarium.engines.overrides import check_timesteps, distinct_iterations
from kinetarium.engines.registry import chosen_engines, open_engine
from kinetarium.ranges import check_ranges
from kinetarium.studies.drive.config import (
    CalibrateCase,
    CalibrateConfig,
    DriveCase,
    DriveConfig,
)
from kinetarium.studies.drive.profiles import CONTROL_RATE, TIMESTEP, settings

T = TypeVar("T")


def drive_cases(config: DriveConfig) -> tuple[DriveCase, ...]:
    """Return a case for each engine, robot, control, path, profile and start.

    Raises:
        KinetariumError: If an engine is not available or a list is empty.
    """
    check_ranges(config)
    _refuse_empty(config, ("robot", "control", "path", "profile"))
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
            _once(config.profile),
            _once(config.robot),
            _once(config.control),
            _once(config.path),
            chosen_engines(config.engine),
        )
        for own in (settings(open_engine(engine), profile),)
        for timestep, iterations, friction, start in product(
            _once(config.timestep) or (TIMESTEP,),
            distinct_iterations(own.options, config.iterations),
            _once(config.friction) or (own.friction,),
            range(config.starts),
        )
    )


def calibrate_cases(config: CalibrateConfig) -> tuple[CalibrateCase, ...]:
    """Return a case for each engine, robot, profile and pair of speeds.

    Raises:
        KinetariumError: If an engine is not available or a speed makes no sense.
    """
    check_ranges(config)
    _refuse_empty(config, ("robot", "profile", "v", "w"))
    return tuple(
        CalibrateCase(engine=engine, robot=robot, profile=profile, v=v, w=w, seed=config.seed)
        for profile, robot, engine, v, w in product(
            _once(config.profile),
            _once(config.robot),
            chosen_engines(config.engine),
            sorted(set(config.v)),
            sorted(set(config.w)),
        )
    )


def _once(values: Sequence[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(values))


def _refuse_empty(config: DriveConfig | CalibrateConfig, names: Sequence[str]) -> None:
    for name in names:
        if not getattr(config, name):
            raise ConfigError(f"--{name} needs at least one value")
