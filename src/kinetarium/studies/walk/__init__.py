"""walk: a robot on four pantograph legs, planned and in physics."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kinetarium.batch.study import Findings, Outcome, Study
from kinetarium.studies.walk.config import Case, Config

if TYPE_CHECKING:
    from kinetarium.figure.replay import Replay
    from kinetarium.recording.recording import Recording, Row


class Walk(Study[Config, Case]):
    """How a quadruped with pantograph legs walks, by the way its legs are driven."""

    name = "walk"
    help = "walk a quadruped with pantograph legs, planned or in physics"
    title = "Walking on four pantograph legs"
    config = Config
    case = Case

    def cases(self, config: Config) -> Sequence[Case]:
        """Return a case for each engine, path, ground, timing, order, stride, sway and type."""
        from kinetarium.studies.walk.cases import cases

        return cases(config)

    def run(self, case: Case) -> "Recording":
        """Plan the walk, and let an engine walk it if one is named."""
        from kinetarium.studies.walk.run import run

        return run(case)

    def score(self, case: Case, recording: "Recording") -> "Sequence[Row]":
        """Judge margins, travel and work, and in physics whether it walked."""
        from kinetarium.studies.walk.score import score

        return [score(case, recording)]

    def report(self, outcomes: Sequence[Outcome[Case]]) -> Findings:
        """Show the walks, and the figures and tables of the paper."""
        from kinetarium.studies.walk.figures import report

        return report(outcomes)

    def replay(self, case: Case, recording: "Recording") -> "Replay":
        """Show the walk."""
        from kinetarium.studies.walk.replay import replay

        return replay(case, recording)
