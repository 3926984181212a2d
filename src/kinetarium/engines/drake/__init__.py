"""Drake behind the engine protocol; the library is loaded with the first scene."""

from typing import TYPE_CHECKING

from kinetarium.lazy import lazy_exports

if TYPE_CHECKING:
    from kinetarium.engines.drake.engine import EngineDrake as EngineDrake
    from kinetarium.engines.drake.options import Approximation as Approximation
    from kinetarium.engines.drake.options import ContactModel as ContactModel
    from kinetarium.engines.drake.options import DrakeOptions as DrakeOptions
else:
    __all__, __getattr__, __dir__ = lazy_exports(__name__)
