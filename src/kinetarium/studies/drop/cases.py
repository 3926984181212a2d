"""Cases of the drop study: one fall in each engine."""

from dataclasses import replace
from math import sqrt

from kinetarium.batch.study import ConfigError, case_of
from kinetarium.engines.registry import chosen_engines
from kinetarium.ranges import check_ranges
from kinetarium.roles.roles import BaseKind
from kinetarium.roles.studied_robot import RoleOptions
from kinetarium.spatial.arrays import Array
from kinetarium.studies.drop.config import Case, Config

GRAVITY = 9.81
"""Gravitational acceleration [m/s^2]."""


def fall_time(height: float) -> float:
    """Return the duration of a fall [s] from a height [m]."""
    return sqrt(2 * height / GRAVITY)


def impact_speed(height: float) -> float:
    """Return the speed at the end of a fall [m/s] from a height [m]."""
    return sqrt(2 * GRAVITY * height)


def fallen(time: Array) -> Array:
    """Return the fallen distance [m] after times [s], shape (n,)."""
    distance: Array = GRAVITY * time**2 / 2
    return distance


_MOST_STEPS = 1_000_000


def cases(config: Config) -> tuple[Case, ...]:
    """Return a case for each engine.

    Raises:
        KinetariumError: If an engine is not available, the robot is refused, or values contradict
            each other.
    """
    check_ranges(config)
    if config.duration / config.timestep > _MOST_STEPS:
        raise ConfigError(
            f"a --duration of {config.duration:g} s in steps of {config.timestep:g} s takes more"
            f" than {_MOST_STEPS} steps"
        )
    if config.duration < config.timestep:
        raise ConfigError(
            f"a --duration of {config.duration:g} s is shorter than one step of"
            f" {config.timestep:g} s"
        )
    if config.duration < 2 * fall_time(config.height):
        raise ConfigError(
            f"a fall of {config.height:g} m takes {fall_time(config.height):.3g} s;"
            f" a --duration of {config.duration:g} s leaves no time to rest"
        )
    reading, sha256 = RoleOptions(), ""
    if config.robot:
        if config.base not in (None, BaseKind.FREE):
            raise ConfigError(f"a robot falls with a free base, not a {config.base} one")
        reading = replace(config.reading, base=BaseKind.FREE)
        sha256 = reading.open(config.robot).sha256
    return tuple(
        case_of(config, Case, engine=name, reading=reading, sha256=sha256)
        for name in chosen_engines(config.engine)
    )
