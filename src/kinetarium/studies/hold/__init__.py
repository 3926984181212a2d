"""hold: a robot under position servos at its home pose, in every engine."""

from collections.abc import Sequence

from kinetarium.batch.study import Study
from kinetarium.studies.hold.config import Case, Config

__all__ = ["Hold"]


class Hold(Study[Config, Case]):
    """The first thing to try with a new robot: does it stand, and with which torques."""

    name = "hold"
    help = "hold any robot at its home pose: does it stand?"
    title = "Does it stand?"
    config = Config
    case = Case
    positional = "robot"

    def cases(self, config: Config) -> Sequence[Case]:
        """Return a case for each engine."""
        return config.cases()
