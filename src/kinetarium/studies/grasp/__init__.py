"""grasp: an arm carries a cube along a path in every engine, compared with a rigid grasp."""

from kinetarium.batch.study import Study
from kinetarium.studies.grasp.config import Case, Config

__all__ = ["Grasp"]


class Grasp(Study[Config, Case]):
    """How steady the contact forces of a grasp are in each physics engine."""

    name = "grasp"
    help = "carry a cube between two fingers along a path"
    title = "Grasping a cube with two fingers"
    config = Config
    case = Case
