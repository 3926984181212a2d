"""walk: a robot on four pantograph legs, planned and in physics."""

from kinetarium.batch.study import Study
from kinetarium.studies.walk.config import Case, Config

__all__ = ["Walk"]


class Walk(Study[Config, Case]):
    """Crawl gaits of a quadruped with pantograph legs, by leg actuation."""

    name = "walk"
    help = "walk a quadruped with pantograph legs, planned or in physics"
    title = "Walking on four pantograph legs"
    config = Config
    case = Case
