"""Drake behind the engine protocol; the library is loaded with the first scene."""

from kinetarium.engines.drake.engine import EngineDrake
from kinetarium.engines.drake.options import Approximation, DrakeOptions, Touch

__all__ = ["Approximation", "DrakeOptions", "EngineDrake", "Touch"]
