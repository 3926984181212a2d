"""league: engines, and versions of one engine, by the checks they pass and their speed."""

from kinetarium.batch.study import Study
from kinetarium.studies.league.config import Case, Config

__all__ = ["League"]


class League(Study[Config, Case]):
    """Engines and their versions side by side."""

    name = "league"
    help = "compare engines and their versions: checks, error, speed"
    title = "League of physics engines"
    config = Config
    case = Case
