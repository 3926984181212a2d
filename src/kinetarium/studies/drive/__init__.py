"""drive and calibrate: robots on wheels in every engine, along paths and in steady turns."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kinetarium.batch.study import Findings, Outcome, Study
from kinetarium.studies.drive.config import (
    CalibrateCase,
    CalibrateConfig,
    DriveCase,
    DriveConfig,
)

if TYPE_CHECKING:
    from kinetarium.figure.replay import Replay
    from kinetarium.recording.recording import Recording, Row


class Drive(Study[DriveConfig, DriveCase]):
    """Where the same wheel speeds take the same robot in different engines."""

    name = "drive"
    help = "drive a mobile robot along paths, open or closed loop"
    title = "Path following of a mobile robot"
    config = DriveConfig
    case = DriveCase

    def cases(self, config: DriveConfig) -> Sequence[DriveCase]:
        """Return a case for each engine, robot, control, path, profile and start."""
        from kinetarium.studies.drive.cases import drive_cases

        return drive_cases(config)

    def run(self, case: DriveCase) -> "Recording":
        """Let the robot follow the reference."""
        from kinetarium.studies.drive.run import run

        return run(case)

    def score(self, case: DriveCase, recording: "Recording") -> "Sequence[Row]":
        """Compare the drive with its reference."""
        from kinetarium.studies.drive.score import score

        return [score(case, recording)]

    def report(self, outcomes: Sequence[Outcome[DriveCase]]) -> Findings:
        """Show all drives over their references, and what the paper says of them."""
        from kinetarium.studies.drive.figures import report

        return report(outcomes)

    def replay(self, case: DriveCase, recording: "Recording") -> "Replay":
        """Show the robot and its reference."""
        from kinetarium.studies.drive.figures import replay
        from kinetarium.studies.drive.run import REFERENCES

        return replay(case.robot, recording, reference=REFERENCES[case.path])


class Calibrate(Study[CalibrateConfig, CalibrateCase]):
    """How much wider a track must be said to be for wheels that skid."""

    name = "calibrate"
    help = "identify the track-width multiplier of a skid-steer robot"
    title = "Skid-steer calibration"
    config = CalibrateConfig
    case = CalibrateCase

    def cases(self, config: CalibrateConfig) -> Sequence[CalibrateCase]:
        """Return a case for each engine, robot, profile and pair of speeds."""
        from kinetarium.studies.drive.cases import calibrate_cases

        return calibrate_cases(config)

    def run(self, case: CalibrateCase) -> "Recording":
        """Let the robot turn at constant speeds."""
        from kinetarium.studies.drive.calibrate import turn

        return turn(case)

    def score(self, case: CalibrateCase, recording: "Recording") -> "Sequence[Row]":
        """Identify the track multiplier."""
        from kinetarium.studies.drive.calibrate import score_turn

        return [score_turn(case, recording)]

    def report(self, outcomes: Sequence[Outcome[CalibrateCase]]) -> Findings:
        """Show the multiplier over speeds and headings, beside Coulomb's."""
        from kinetarium.studies.drive.calibrate import report

        return report(outcomes)

    def replay(self, case: CalibrateCase, recording: "Recording") -> "Replay":
        """Show the turn."""
        from kinetarium.studies.drive.figures import replay

        return replay(case.robot, recording)
