"""drop: a body or a robot falls and comes to rest, in every engine, against the closed form."""

from kinetarium.batch.study import Study
from kinetarium.studies.drop.config import Case, Config

__all__ = ["Drop"]


class Drop(Study[Config, Case]):
    """The smallest study, and the template for others."""

    name = "drop"
    help = "drop a body or a robot and compare with the closed form"
    title = "Drop test"
    config = Config
    case = Case
