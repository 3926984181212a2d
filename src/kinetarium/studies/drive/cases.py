"""Cases of the drive study."""

from collections.abc import Sequence
from itertools import product

import numpy as np

from kinetarium.batch.study import ConfigError, case_of, refuse_empty
from kinetarium.control.vehicle.robot_base import vehicle
from kinetarium.control.vehicle.wheeled_base import DriveType, WheeledBase
from kinetarium.engines.registry import (
    check_timesteps,
    chosen_engines,
    distinct_iterations,
    open_engine,
)
from kinetarium.ranges import check_ranges
from kinetarium.studies.drive.config import DriveCase, DriveConfig, PathName
from kinetarium.studies.drive.profiles import CONTROL_RATE, TIMESTEP, settings
from kinetarium.studies.drive.run import REFERENCES
from kinetarium.studies.drive.vehicle import opened


def cases(config: DriveConfig) -> tuple[DriveCase, ...]:
    """Return a case for each engine, robot, control, path, profile and start.

    A base that is steered cannot turn in place: the square is left out for it.

    Raises:
        KinetariumError: If an engine is not available, a list is empty, or a robot has no wheels
            that can drive it along a path.
    """
    check_ranges(config)
    refuse_empty(config, "robot", "control", "path", "profile")
    check_timesteps(config.timestep, period=1 / CONTROL_RATE)
    robots = {name: opened(config.reading, name) for name in config.robot}
    paths = {name: drivable_paths(vehicle(each), config.path) for name, each in robots.items()}
    return tuple(
        case_of(
            config,
            DriveCase,
            engine=engine,
            robot=robot,
            reading=config.reading,
            sha256=robots[robot].sha256,
            control=control,
            path=path,
            profile=profile,
            start=start,
            timestep=timestep,
            iterations=iterations,
            friction=friction,
        )
        for profile, robot, control in product(
            dict.fromkeys(config.profile), robots, dict.fromkeys(config.control)
        )
        for path, engine in product(paths[robot], chosen_engines(config.engine))
        for own in (settings(open_engine(engine), profile),)
        for timestep, iterations, friction, start in product(
            dict.fromkeys(config.timestep) or (TIMESTEP,),
            distinct_iterations(own.options, config.iterations),
            dict.fromkeys(config.friction) or (own.friction,),
            range(config.starts),
        )
    )


def drivable_paths(base: WheeledBase, paths: Sequence[PathName]) -> tuple[PathName, ...]:
    """Return those of some paths that a vehicle can follow, each once.

    Raises:
        ConfigError: If there is none.
    """
    steered = base.kind is DriveType.STEERED
    chosen = tuple(
        path for path in dict.fromkeys(paths) if not (steered and path is PathName.SQUARE)
    )
    if not chosen:
        raise ConfigError(
            f"{base.name} is steered and cannot turn in the corners of the square:"
            " --path circle eight"
        )
    if steered:
        sharpest = max(_sharpest(path) for path in chosen)
        if base.tightest < sharpest:
            raise ConfigError(
                f"{base.name} turns at {1 / base.tightest:.2f} m at the tightest, and the paths"
                f" need {1 / sharpest:.2f} m"
            )
    return chosen


def _sharpest(path: PathName) -> float:
    """Return the largest curvature of a reference [1/m]."""
    reference = REFERENCES[path]
    times = np.arange(0.0, reference.duration, 1 / CONTROL_RATE)
    v, w = reference.sample(times)[1].T
    return float(np.abs(w / v).max())
