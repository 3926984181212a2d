"""What the author of a study needs: the study itself, its config, recordings and replay."""

from typing import TYPE_CHECKING

from kinetarium.lazy import lazy_exports

if TYPE_CHECKING:
    from kinetarium.batch.check_study import StudyCheck as StudyCheck
    from kinetarium.batch.check_study import check_study as check_study
    from kinetarium.batch.study import ConfigError as ConfigError
    from kinetarium.batch.study import Findings as Findings
    from kinetarium.batch.study import Outcome as Outcome
    from kinetarium.batch.study import Study as Study
    from kinetarium.batch.study import StudyUnavailableError as StudyUnavailableError
    from kinetarium.batch.study import list_studies as list_studies
    from kinetarium.batch.study import open_study as open_study
    from kinetarium.figure.scene_replay import scene_replay as scene_replay
    from kinetarium.ranges import Friction as Friction
    from kinetarium.ranges import Iterations as Iterations
    from kinetarium.ranges import Range as Range
    from kinetarium.ranges import RangeError as RangeError
    from kinetarium.ranges import Seed as Seed
    from kinetarium.ranges import check_ranges as check_ranges
    from kinetarium.recording.recording import Channel as Channel
    from kinetarium.recording.recording import Recording as Recording
    from kinetarium.recording.recording import Row as Row
    from kinetarium.recording.recording import RunStatus as RunStatus
else:
    __all__, __getattr__, __dir__ = lazy_exports(__name__)
