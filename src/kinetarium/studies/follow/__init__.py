"""follow: a mobile manipulator holds its tool on a line while its base drives."""

from collections.abc import Sequence

from kinetarium.batch.study import Study
from kinetarium.studies.follow.config import Case, Config

__all__ = ["Follow"]


class Follow(Study[Config, Case]):
    """How near the tool of a driving robot stays to a line, by what is known of its base."""

    name = "follow"
    help = "hold a tool on a line while the base drives"
    title = "A tool on a line while the base drives"
    config = Config
    case = Case

    def cases(self, config: Config) -> Sequence[Case]:
        """Return a case for each engine, speed and sensing."""
        return config.cases()
