"""Cases of the calibrate study."""

from itertools import product

from kinetarium.batch.study import ConfigError, case_of, refuse_empty
from kinetarium.control.vehicle.robot_base import vehicle
from kinetarium.control.vehicle.wheeled_base import DriveType
from kinetarium.engines.registry import chosen_engines
from kinetarium.ranges import check_ranges
from kinetarium.studies.drive.calibrate.config import CalibrateCase, CalibrateConfig
from kinetarium.studies.drive.vehicle import opened


def cases(config: CalibrateConfig) -> tuple[CalibrateCase, ...]:
    """Return a case for each engine, robot, profile and pair of speeds.

    Raises:
        KinetariumError: If an engine is not available, a list is empty, or a robot does not turn
            by the speeds of its wheels.
    """
    check_ranges(config)
    refuse_empty(config, "robot", "profile", "v", "w")
    robots = {name: opened(config.reading, name) for name in config.robot}
    for name, robot in robots.items():
        if vehicle(robot).kind is DriveType.STEERED:
            raise ConfigError(
                f"--robot {name} is steered: a track multiplier is that of a base which turns by"
                " the speeds of its wheels"
            )
    return tuple(
        case_of(
            config,
            CalibrateCase,
            engine=engine,
            robot=name,
            reading=config.reading,
            sha256=robots[name].sha256,
            profile=profile,
            v=v,
            w=w,
        )
        for profile, name, engine, v, w in product(
            dict.fromkeys(config.profile),
            robots,
            chosen_engines(config.engine),
            sorted(set(config.v)),
            sorted(set(config.w)),
        )
    )
