"""slide: boxes set sliding in several directions, compared with Coulomb's friction."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kinetarium.batch.study import Study
from kinetarium.studies.slide.config import Case, Config

if TYPE_CHECKING:
    from kinetarium.recording.recording import Recording, Row

__all__ = ["Slide"]


class Slide(Study[Config, Case]):
    """Measures whether friction is the same in every direction, and what it lifts."""

    name = "slide"
    help = "slide boxes in all directions, compared with Coulomb friction"
    title = "Friction in all directions"
    config = Config
    case = Case

    def cases(self, config: Config) -> Sequence[Case]:
        """Return a case for each profile, engine, speed and start."""
        from kinetarium.studies.slide.run import cases

        return cases(config)

    def score(self, case: Case, recording: "Recording") -> "Sequence[Row]":
        """Return a row for each direction."""
        from kinetarium.studies.slide.run import score

        return score(case, recording)
