"""From configs to their cases."""

from collections.abc import Sequence
from itertools import product
from math import isfinite
from typing import TypeVar

from kinetarium.batch.study import ConfigError
from kinetarium.engines.overrides import check_overrides, distinct_iterations
from kinetarium.engines.registry import chosen_engines, open_engine
from kinetarium.studies.drive.config import (
    CalibrateCase,
    CalibrateConfig,
    DriveCase,
    DriveConfig,
)
from kinetarium.studies.drive.profiles import CONTROL_RATE, TIMESTEP, settings

T = TypeVar("T")

_SLOWEST_TURN, _FASTEST = 0.05, 2.0
"""Bounds of what is identified: slower turns [rad/s] take minutes, faster ones [m/s and rad/s] are
beyond the robots."""


def drive_cases(config: DriveConfig) -> tuple[DriveCase, ...]:
    """Give a case for each engine, robot, control, path, profile and start.

    Raises:
        KinetariumError: If an engine is not available or a list is empty.
    """
    _refuse_empty(config, ("robot", "control", "path", "profile"))
    if config.starts < 1:
        raise ConfigError(f"--starts must be positive, not {config.starts}")
    check_overrides(
        timestep=config.timestep,
        iterations=config.iterations,
        friction=config.friction,
        period=1 / CONTROL_RATE,
    )
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
        for chosen in (open_engine(engine),)
        for timestep, iterations, friction, start in product(
            _once(config.timestep) or (TIMESTEP,),
            distinct_iterations(chosen.options, config.iterations),
            _once(config.friction) or (settings(chosen, profile).friction,),
            range(config.starts),
        )
    )


def calibrate_cases(config: CalibrateConfig) -> tuple[CalibrateCase, ...]:
    """Give a case for each engine, robot, profile and pair of speeds.

    Raises:
        KinetariumError: If an engine is not available or a speed makes no sense.
    """
    _refuse_empty(config, ("robot", "profile", "v", "w"))
    for v in config.v:
        if not (isfinite(v) and 0 <= v <= _FASTEST):
            raise ConfigError(f"--v must be from 0 to {_FASTEST:g} m/s, not {v:g}")
    for w in config.w:
        if not _SLOWEST_TURN <= w <= _FASTEST:
            raise ConfigError(
                f"--w must be from {_SLOWEST_TURN:g} to {_FASTEST:g} rad/s, not {w:g}"
            )
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
