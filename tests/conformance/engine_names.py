"""The engines that the tests judge: all that are installed here."""

from kinetarium.engines.protocol import Capability
from kinetarium.engines.registry import list_engines

_AVAILABLE = [engine for engine in list_engines() if engine.available]
ENGINES = [engine.name for engine in _AVAILABLE]
WITH_MASS_MATRIX = [
    engine.name for engine in _AVAILABLE if Capability.MASS_MATRIX in engine.capabilities
]
