"""From a config to its cases: every engine, path, profile and start."""

from itertools import product

from kinetarium.batch.study import ConfigError
from kinetarium.engines.overrides import check_overrides, distinct_iterations
from kinetarium.engines.registry import chosen_engines, open_engine
from kinetarium.studies.grasp.config import Case, Config, ToolPath
from kinetarium.studies.grasp.ideal import SAMPLE_RATE
from kinetarium.studies.grasp.profiles import setting


def cases(config: Config) -> tuple[Case, ...]:
    """Give the cases of a config.

    Raises:
        KinetariumError: If an engine is not available or a value makes no sense.
    """
    if config.starts < 1:
        raise ConfigError(f"--starts must be at least 1, not {config.starts}")
    if not 0.5 <= config.duration <= 1000:
        raise ConfigError(
            f"--duration must be 0.5 to 1000 s, not {config.duration:g}: a window of the moving"
            " variance takes half a second"
        )
    if config.seed < 0:
        raise ConfigError(f"--seed must not be negative, not {config.seed}")
    check_overrides(
        timestep=config.timestep,
        iterations=config.iterations,
        friction=config.friction,
        period=1 / SAMPLE_RATE,
    )
    paths = config.path + (ToolPath.RELEASE,) * config.release
    if not paths or not config.profile:
        raise ConfigError("name at least one --path and one --profile")
    engines = chosen_engines(config.engine)
    return tuple(
        Case(
            engine=engine,
            path=path,
            profile=profile,
            start=start,
            duration=config.duration,
            timestep=timestep,
            iterations=iterations,
            friction=friction,
            seed=config.seed,
        )
        for profile, engine, path in product(
            dict.fromkeys(config.profile), engines, dict.fromkeys(paths)
        )
        for own in (setting(engine, profile),)
        for timestep, iterations, friction in product(
            dict.fromkeys(config.timestep) or (own.timestep,),
            distinct_iterations(open_engine(engine).options, config.iterations),
            dict.fromkeys(config.friction) or (own.friction,),
        )
        for start in range(1 if path is ToolPath.RELEASE else config.starts)
    )
