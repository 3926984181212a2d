"""ODE behind the engine protocol; the library is loaded with the first scene."""

from typing import TYPE_CHECKING

from kinetarium.lazy import lazy_exports

if TYPE_CHECKING:
    from kinetarium.engines.ode.engine import EngineOde as EngineOde
    from kinetarium.engines.ode.options import OdeOptions as OdeOptions
    from kinetarium.engines.ode.options import OdeSolver as OdeSolver
else:
    __all__, __getattr__, __dir__ = lazy_exports(__name__)
