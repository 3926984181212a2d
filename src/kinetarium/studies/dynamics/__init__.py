"""dynamics: the dynamics of a robot compared between libraries."""

from kinetarium.batch.study import Study
from kinetarium.studies.dynamics.config import Case, Config

__all__ = ["Dynamics"]


class Dynamics(Study[Config, Case]):
    """Compares M, g, c and tau of a robot in every library, and diagnoses differences."""

    name = "dynamics"
    help = "check that a robot has the same dynamics in every library"
    title = "Is it the same robot in every library?"
    config = Config
    case = Case
