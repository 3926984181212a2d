"""Cases of the grasp study: every engine, path, profile and start."""

from itertools import product

from kinetarium.batch.study import ConfigError, case_of
from kinetarium.engines.registry import check_timesteps, chosen_engines, distinct_iterations
from kinetarium.ranges import check_ranges
from kinetarium.studies.grasp.config import Case, Config, Start, ToolPath
from kinetarium.studies.grasp.ideal import SAMPLE_RATE
from kinetarium.studies.grasp.profiles import setting
from kinetarium.studies.grasp.task import files_digest, task

_MOST_STEPS = 2_000_000
"""Maximum of one run; they take some minutes."""


def cases(config: Config) -> tuple[Case, ...]:
    """Return the cases of a config.

    Raises:
        KinetariumError: If an engine is not available, values contradict each other, or the robot
            cannot hold the object or move it along a path.
    """
    check_ranges(config)
    check_timesteps(config.timestep, period=1 / SAMPLE_RATE)
    shortest = min(config.timestep, default=config.duration)
    if config.duration / shortest > _MOST_STEPS:
        raise ConfigError(
            f"a --duration of {config.duration:g} s in steps of {shortest:g} s takes more than"
            f" {_MOST_STEPS} steps"
        )
    paths = config.path + (ToolPath.RELEASE,) * config.release
    if not paths or not config.profile:
        raise ConfigError("at least one --path and one --profile are required")
    engines = chosen_engines(config.engine)
    robot = config.open(config.robot)
    found = tuple(
        case_of(
            config,
            Case,
            engine=engine,
            path=str(path),
            profile=profile,
            start=start,
            timestep=timestep,
            iterations=iterations,
            friction=friction,
            sha256=robot.sha256,
            files=files_digest(path, config.object),
            ramp=config.start is Start.RAMP,
        )
        for profile, engine, path in product(
            dict.fromkeys(config.profile), engines, dict.fromkeys(paths)
        )
        for own in (setting(engine, profile),)
        for timestep, iterations, friction in product(
            dict.fromkeys(config.timestep) or (own.timestep,),
            distinct_iterations(own.options, config.iterations),
            dict.fromkeys(config.friction) or (own.friction,),
        )
        for start in range(config.starts)
    )
    for case in {case.path: case for case in found if case.start == 0}.values():
        task(case)  # refuses what the robot cannot do before anything runs
    return found
