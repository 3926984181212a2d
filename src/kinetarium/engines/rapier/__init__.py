"""Rapier behind the engine protocol; the library is loaded with the first scene."""

from typing import TYPE_CHECKING

from kinetarium.lazy import lazy_exports

if TYPE_CHECKING:
    from kinetarium.engines.rapier.engine import EngineRapier as EngineRapier
    from kinetarium.engines.rapier.options import FreeBodies as FreeBodies
    from kinetarium.engines.rapier.options import RapierOptions as RapierOptions
else:
    __all__, __getattr__, __dir__ = lazy_exports(__name__)
