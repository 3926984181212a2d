"""NVIDIA's Newton behind the engine protocol; the library is loaded with the first scene."""

from typing import TYPE_CHECKING

from kinetarium.lazy import lazy_exports

if TYPE_CHECKING:
    from kinetarium.engines.newton.engine import EngineNewton as EngineNewton
    from kinetarium.engines.newton.options import NewtonCone as NewtonCone
    from kinetarium.engines.newton.options import NewtonIntegrator as NewtonIntegrator
    from kinetarium.engines.newton.options import NewtonOptions as NewtonOptions
    from kinetarium.engines.newton.options import NewtonSolver as NewtonSolver
else:
    __all__, __getattr__, __dir__ = lazy_exports(__name__)
