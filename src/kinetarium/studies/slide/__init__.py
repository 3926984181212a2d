"""slide: boxes set sliding in several directions, compared with Coulomb's friction."""

from kinetarium.batch.study import Study
from kinetarium.studies.slide.config import Case, Config

__all__ = ["Slide"]


class Slide(Study[Config, Case]):
    """Measures whether friction is the same in every direction, and what it lifts."""

    name = "slide"
    help = "slide boxes in all directions, compared with Coulomb friction"
    title = "Friction in all directions"
    config = Config
    case = Case
