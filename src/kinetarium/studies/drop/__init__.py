"""drop: a box falls and comes to rest in every engine, compared with the closed form."""

from kinetarium.batch.study import Study
from kinetarium.studies.drop.config import Case, Config

__all__ = ["Drop"]


class Drop(Study[Config, Case]):
    """The smallest study, and the template for others."""

    name = "drop"
    help = "drop a box and compare with the closed form"
    title = "Drop test of a box"
    config = Config
    case = Case
