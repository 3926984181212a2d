"""Cases of the drive study."""

from itertools import product

from kinetarium.batch.study import case_of, refuse_empty
from kinetarium.engines.registry import (
    check_timesteps,
    chosen_engines,
    distinct_iterations,
    open_engine,
)
from kinetarium.ranges import check_ranges
from kinetarium.studies.drive.config import DriveCase, DriveConfig
from kinetarium.studies.drive.profiles import CONTROL_RATE, TIMESTEP, settings


def cases(config: DriveConfig) -> tuple[DriveCase, ...]:
    """Return a case for each engine, robot, control, path, profile and start.

    Raises:
        KinetariumError: If an engine is not available or a list is empty.
    """
    check_ranges(config)
    refuse_empty(config, "robot", "control", "path", "profile")
    check_timesteps(config.timestep, period=1 / CONTROL_RATE)
    return tuple(
        case_of(
            config,
            DriveCase,
            engine=engine,
            robot=robot,
            control=control,
            path=path,
            profile=profile,
            start=start,
            timestep=timestep,
            iterations=iterations,
            friction=friction,
        )
        for profile, robot, control, path, engine in product(
            dict.fromkeys(config.profile),
            dict.fromkeys(config.robot),
            dict.fromkeys(config.control),
            dict.fromkeys(config.path),
            chosen_engines(config.engine),
        )
        for own in (settings(open_engine(engine), profile),)
        for timestep, iterations, friction, start in product(
            dict.fromkeys(config.timestep) or (TIMESTEP,),
            distinct_iterations(own.options, config.iterations),
            dict.fromkeys(config.friction) or (own.friction,),
            range(config.starts),
        )
    )
