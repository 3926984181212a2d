"""pick: a mobile manipulator drives to a table, grasps an object, lifts and holds it."""

from kinetarium.batch.study import Study
from kinetarium.studies.pick.config import Case, Config

__all__ = ["Pick"]


class Pick(Study[Config, Case]):
    """Whether a robot picks objects from tables although its base never stops exactly."""

    name = "pick"
    help = "drive to a table, grasp, lift and hold objects"
    title = "Picking from tables"
    config = Config
    case = Case
