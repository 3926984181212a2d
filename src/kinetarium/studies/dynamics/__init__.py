"""dynamics: is a robot the same robot in every library?"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kinetarium.batch.study import Findings, Outcome, Study
from kinetarium.studies.dynamics.config import Case, Config

if TYPE_CHECKING:
    from kinetarium.recording.recording import Recording, Row


class Dynamics(Study[Config, Case]):
    """Compares M, g, c and tau of a robot in every library, and explains what differs."""

    name = "dynamics"
    help = "check that a robot has the same dynamics in every library"
    title = "Is it the same robot in every library?"
    config = Config
    case = Case

    def cases(self, config: Config) -> Sequence[Case]:
        """Return a case for each back-end."""
        from kinetarium.studies.dynamics.cases import cases

        return cases(config)

    def run(self, case: Case) -> "Recording":
        """Compare one back-end with the reference."""
        from kinetarium.studies.dynamics.run import run

        return run(case)

    def score(self, case: Case, recording: "Recording") -> "Sequence[Row]":
        """Hold each error against its scale and tolerance."""
        from kinetarium.studies.dynamics.run import score

        return score(recording)

    def report(self, outcomes: Sequence[Outcome[Case]]) -> Findings:
        """Show errors, motions and findings of all back-ends."""
        from kinetarium.studies.dynamics.figures import report

        return report(outcomes)
