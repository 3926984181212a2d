"""grasp: an arm carries a cube along a path, in every engine, against a rigid grasp."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kinetarium.batch.study import Findings, Outcome, Study
from kinetarium.studies.grasp.config import Case, Config

if TYPE_CHECKING:
    from kinetarium.figure.replay import Replay
    from kinetarium.recording.recording import Recording, Row


class Grasp(Study[Config, Case]):
    """How steadily physics engines hold what a gripper holds."""

    name = "grasp"
    help = "carry a cube between two fingers along a path"
    title = "Grasping a cube with two fingers"
    config = Config
    case = Case

    def cases(self, config: Config) -> Sequence[Case]:
        """Return a case for each profile, engine, path and start."""
        from kinetarium.studies.grasp.cases import cases

        return cases(config)

    def run(self, case: Case) -> "Recording":
        """Carry the cube, and record forces, contacts and state at 100 Hz."""
        from kinetarium.studies.grasp.run import run

        return run(case)

    def score(self, case: Case, recording: "Recording") -> "Sequence[Row]":
        """See whether and how steadily the cube was held."""
        from kinetarium.studies.grasp.score import score

        return [score(case, recording)]

    def report(self, outcomes: Sequence[Outcome[Case]]) -> Findings:
        """Show forces, slip and penetration beside the rigid grasp and the paper."""
        from kinetarium.studies.grasp.figures import report

        return report(outcomes)

    def replay(self, case: Case, recording: "Recording") -> "Replay":
        """Show the arm, the cube and the forces on the pads."""
        from kinetarium.studies.grasp.figures import replay

        return replay(recording)
