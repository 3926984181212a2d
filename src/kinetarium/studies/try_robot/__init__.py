"""try: any robot on all engines: inspect, roles, dynamics, drop and hold, in one report."""

from collections.abc import Sequence

from kinetarium.batch.study import Study
from kinetarium.studies.try_robot.config import Case, Config

__all__ = ["Try"]


class Try(Study[Config, Case]):
    """What a new robot does in every engine, in under a minute."""

    name = "try"
    help = "try any robot on all engines, in one report"
    title = "A robot in every engine"
    config = Config
    case = Case
    positional = "robot"
    uses = ("drop", "dynamics", "hold")
    timeout = 120.0

    def cases(self, config: Config) -> Sequence[Case]:
        """Return a case for the robot itself, and for each part in each engine."""
        return config.cases()
