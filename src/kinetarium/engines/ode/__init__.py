"""ODE behind the engine protocol; the library is loaded with the first scene."""

from kinetarium.engines.ode.engine import EngineOde
from kinetarium.engines.ode.options import OdeOptions, OdeSolver

__all__ = ["EngineOde", "OdeOptions", "OdeSolver"]
