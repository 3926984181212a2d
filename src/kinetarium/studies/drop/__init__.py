"""drop: a box falls and rests, in every engine, against the closed form."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kinetarium.batch.study import Findings, Outcome, Study
from kinetarium.studies.drop.config import Case, Config

if TYPE_CHECKING:
    from kinetarium.figure.replay import Replay
    from kinetarium.recording.recording import Recording, Row


class Drop(Study[Config, Case]):
    """The smallest study: the pattern that the others follow."""

    name = "drop"
    help = "drop a box and compare with the closed form"
    title = "Drop test of a box"
    config = Config
    case = Case

    def cases(self, config: Config) -> Sequence[Case]:
        """Return a case for each engine."""
        from kinetarium.studies.drop.cases import cases

        return cases(config)

    def run(self, case: Case) -> "Recording":
        """Let the box fall, and record every step."""
        from kinetarium.studies.drop.run import run

        return run(case)

    def score(self, case: Case, recording: "Recording") -> "Sequence[Row]":
        """Compare the fall with the closed form, and see how the box rests."""
        from kinetarium.studies.drop.score import score

        return [score(case, recording)]

    def report(self, outcomes: Sequence[Outcome[Case]]) -> Findings:
        """Show all falls beside the closed form."""
        from kinetarium.studies.drop.figures import report

        return report(outcomes)

    def replay(self, case: Case, recording: "Recording") -> "Replay":
        """Show the fall."""
        from kinetarium.figure.scene_replay import scene_replay
        from kinetarium.studies.drop.run import scene

        return scene_replay(scene(case), recording, trails=("box",))
