"""reach-place, reach-follow and reach-compare: where a base stands best; figures of maps."""

from kinetarium.batch.study import Study
from kinetarium.studies.reach.comparison.config import Case, Config
from kinetarium.studies.reach.placement.config import (
    FollowCase,
    FollowConfig,
    PlaceCase,
    PlaceConfig,
)

__all__ = ["ReachCompare", "ReachFollow", "ReachPlace"]


class ReachPlace(Study[PlaceConfig, PlaceCase]):
    """From where an arm reaches a set of poses best."""

    name = "reach-place"
    help = "find the base for a set of poses"
    title = "Where the base stands best"
    config = PlaceConfig
    case = PlaceCase
    is_query = True


class ReachFollow(Study[FollowConfig, FollowCase]):
    """How a base drives along while its arm follows a trajectory."""

    name = "reach-follow"
    help = "drive a base along while its arm follows a trajectory"
    title = "A base that follows"
    config = FollowConfig
    case = FollowCase
    is_query = True


class ReachCompare(Study[Config, Case]):
    """How ways to choose a base compare, beside the published numbers."""

    name = "reach-compare"
    help = "compare ways to choose a base, beside the published numbers"
    title = "Where to put a base: methods compared"
    config = Config
    case = Case
