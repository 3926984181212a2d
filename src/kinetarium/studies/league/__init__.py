"""league: engines, and versions of one engine, by the checks they pass and their speed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kinetarium.batch.study import Study
from kinetarium.studies.league.config import Case, Config

if TYPE_CHECKING:
    from kinetarium.recording.recording import Recording, Row

__all__ = ["League"]


class League(Study[Config, Case]):
    """Engines and their versions side by side."""

    name = "league"
    help = "compare engines and their versions: checks, error, speed"
    title = "League of physics engines"
    config = Config
    case = Case

    def score(self, case: Case, recording: "Recording") -> "Sequence[Row]":
        """Return the rows, which the child process has computed already."""
        rows: Sequence[Row] = recording.facts["rows"]
        return rows
