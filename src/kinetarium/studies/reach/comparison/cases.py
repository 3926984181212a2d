"""From a config to its cases: every method, and the source's with coarser and coarser maps."""

from itertools import product

from kinetarium.batch.study import ConfigError
from kinetarium.model.load import load_robot
from kinetarium.ranges import check_ranges
from kinetarium.studies.reach.comparison.config import Case, Config, Method

SHORT = 100
"""Sets by which coarser maps are judged, at most."""
_ROBOT = "panda"
"""The robot of the published numbers."""


def cases(config: Config) -> tuple[Case, ...]:
    """Return a case for each method, and for each further map of the source's.

    Raises:
        KinetariumError: If a value makes no sense.
    """
    check_ranges(config)
    for name in ("method", "coarser", "fewer"):
        if not getattr(config, name):
            raise ConfigError(f"--{name} needs at least one value")
    methods = dict.fromkeys(config.method)
    first, *others = product(dict.fromkeys(config.coarser), dict.fromkeys(config.fewer))
    chosen = [(method, first) for method in methods]
    chosen += [(Method.PAPER, factors) for factors in others if Method.PAPER in methods]
    digest = load_robot(_ROBOT).source.sha256
    return tuple(
        Case(
            method=method,
            robot=_ROBOT,
            robot_sha256=digest,
            coarser=factors[0],
            fewer=factors[1],
            sets=config.sets if factors == first else min(config.sets, SHORT),
            samples=config.samples,
            seed=config.seed,
            shown=method is Method.PAPER and factors == first,
        )
        for method, factors in chosen
    )
