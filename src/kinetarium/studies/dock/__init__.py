"""dock, dock-stability and dock-float: a ground test of docking satellites on two arms."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kinetarium.batch.study import Findings, Outcome, Study
from kinetarium.studies.dock.floating.config import NO_ENGINE, FloatCase, FloatConfig
from kinetarium.studies.dock.press.config import DockCase, DockConfig
from kinetarium.studies.dock.stability.config import StabilityCase, StabilityConfig

if TYPE_CHECKING:
    from kinetarium.figure.replay import Replay
    from kinetarium.recording.recording import Recording, Row


class Dock(Study[DockConfig, DockCase]):
    """How an admittance controller presses one satellite on another."""

    name = "dock"
    help = "dock two satellites with two arms under admittance control"
    title = "Satellite docking with two arms"
    config = DockConfig
    case = DockCase

    def cases(self, config: DockConfig) -> Sequence[DockCase]:
        """Return a case for each preset, wrench, engine and seed."""
        from kinetarium.studies.dock.press.cases import dock_cases

        return dock_cases(config)

    def run(self, case: DockCase) -> "Recording":
        """Let the chaser approach, touch and press."""
        from kinetarium.studies.dock.press.run import run

        return run(case)

    def score(self, case: DockCase, recording: "Recording") -> "Sequence[Row]":
        """Judge the force, the transient and the pose."""
        from kinetarium.studies.dock.press.score import score

        return [score(case, recording)]

    def report(self, outcomes: Sequence[Outcome[DockCase]]) -> Findings:
        """Show the paper's figures for these runs."""
        from kinetarium.studies.dock.press.figures import report

        return report(outcomes)

    def replay(self, case: DockCase, recording: "Recording") -> "Replay":
        """Show both arms and the contact."""
        from kinetarium.studies.dock.press.figures import dock_replay

        return dock_replay(case, recording)


class DockStability(Study[StabilityConfig, StabilityCase]):
    """How much delay an admittance loop bears against which contact."""

    name = "dock-stability"
    help = "map the delay and stiffness at which admittance is stable"
    title = "Stability of an admittance loop"
    config = StabilityConfig
    case = StabilityCase

    def cases(self, config: StabilityConfig) -> Sequence[StabilityCase]:
        """Return a case for each preset, damping and stiffness."""
        from kinetarium.studies.dock.stability.map import stability_cases

        return stability_cases(config)

    def run(self, case: StabilityCase) -> "Recording":
        """Kick the contact at every delay."""
        from kinetarium.studies.dock.stability.map import follow

        return follow(case)

    def score(self, case: StabilityCase, recording: "Recording") -> "Sequence[Row]":
        """Compare what was seen at each delay with the closed form."""
        from kinetarium.studies.dock.stability.map import judge

        return judge(case, recording)

    def report(self, outcomes: Sequence[Outcome[StabilityCase]]) -> Findings:
        """Show each map with its operating point."""
        from kinetarium.studies.dock.stability.figures import report

        return report(outcomes)


class DockFloat(Study[FloatConfig, FloatCase]):
    """How well two arms stand for two satellites that float."""

    name = "dock-float"
    help = "simulate the contact of free-floating satellites on two arms"
    title = "Free-floating satellites on two arms"
    config = FloatConfig
    case = FloatCase

    def cases(self, config: FloatConfig) -> Sequence[FloatCase]:
        """Return a case for each stiffness and engine."""
        from kinetarium.studies.dock.floating.cases import float_cases

        return float_cases(config)

    def run(self, case: FloatCase) -> "Recording":
        """Let the satellites meet."""
        if case.engine == NO_ENGINE:
            from kinetarium.studies.dock.floating.free import run_free

            return run_free(case)
        from kinetarium.studies.dock.floating.engine import run_engine

        return run_engine(case)

    def score(self, case: FloatCase, recording: "Recording") -> "Sequence[Row]":
        """Compare the meeting with the same meeting as it should be."""
        from kinetarium.studies.dock.floating.score import judge_meeting

        return [judge_meeting(case, recording)]

    def report(self, outcomes: Sequence[Outcome[FloatCase]]) -> Findings:
        """Show every meeting beside the same meeting as it should be."""
        from kinetarium.studies.dock.floating.figures import report

        return report(outcomes)

    def replay(self, case: FloatCase, recording: "Recording") -> "Replay | None":
        """Show both arms, if there were any."""
        from kinetarium.studies.dock.press.figures import float_replay

        return float_replay(case, recording)
