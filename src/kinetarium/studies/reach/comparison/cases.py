"""Cases of reach-compare: every method, and the paper's with coarser maps."""

from itertools import product

from kinetarium.batch.study import case_of, refuse_empty
from kinetarium.model.load import load_robot
from kinetarium.ranges import check_ranges
from kinetarium.studies.reach.comparison.config import Case, Config, Method

SHORT = 100
"""Maximum number of sets for coarser maps."""
_ROBOT = "panda"
"""The robot of the published results."""


def cases(config: Config) -> tuple[Case, ...]:
    """Return a case for each method, and for each further map of the paper's method.

    Raises:
        KinetariumError: If a value is invalid.
    """
    check_ranges(config)
    refuse_empty(config, "method", "coarser", "fewer")
    methods = dict.fromkeys(config.method)
    first, *others = product(dict.fromkeys(config.coarser), dict.fromkeys(config.fewer))
    chosen = [(method, first) for method in methods]
    chosen += [(Method.PAPER, factors) for factors in others if Method.PAPER in methods]
    digest = load_robot(_ROBOT).source.sha256
    return tuple(
        case_of(
            config,
            Case,
            method=method,
            robot=_ROBOT,
            robot_sha256=digest,
            coarser=factors[0],
            fewer=factors[1],
            sets=config.sets if factors == first else min(config.sets, SHORT),
            shown=method is Method.PAPER and factors == first,
        )
        for method, factors in chosen
    )
