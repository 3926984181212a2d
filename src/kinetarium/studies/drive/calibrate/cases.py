"""Cases of the calibrate study."""

from itertools import product

from kinetarium.batch.study import case_of, refuse_empty
from kinetarium.engines.registry import chosen_engines
from kinetarium.ranges import check_ranges
from kinetarium.studies.drive.calibrate.config import CalibrateCase, CalibrateConfig


def cases(config: CalibrateConfig) -> tuple[CalibrateCase, ...]:
    """Return a case for each engine, robot, profile and pair of speeds.

    Raises:
        KinetariumError: If an engine is not available, or a list is empty.
    """
    check_ranges(config)
    refuse_empty(config, "robot", "profile", "v", "w")
    return tuple(
        case_of(config, CalibrateCase, engine=engine, robot=robot, profile=profile, v=v, w=w)
        for profile, robot, engine, v, w in product(
            dict.fromkeys(config.profile),
            dict.fromkeys(config.robot),
            chosen_engines(config.engine),
            sorted(set(config.v)),
            sorted(set(config.w)),
        )
    )
