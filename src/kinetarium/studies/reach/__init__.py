"""reach-place, reach-follow and reach-compare: base placement; figures of reachability maps."""

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
    """The base from which an arm reaches a set of poses best."""

    name = "reach-place"
    help = "find the best base pose for a set of tool poses"
    title = "Base placement"
    config = PlaceConfig
    case = PlaceCase
    is_query = True


class ReachFollow(Study[FollowConfig, FollowCase]):
    """The motion of a mobile base whose arm follows a trajectory."""

    name = "reach-follow"
    help = "plan the motion of a mobile base along a tool trajectory"
    title = "A mobile base whose arm follows a trajectory"
    config = FollowConfig
    case = FollowCase
    is_query = True


class ReachCompare(Study[Config, Case]):
    """Base placement methods, compared with published results."""

    name = "reach-compare"
    help = "compare base placement methods with published results"
    title = "Base placement: comparison of methods"
    config = Config
    case = Case
