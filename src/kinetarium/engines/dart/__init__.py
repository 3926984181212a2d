"""DART behind the engine protocol; the library is loaded with the first scene."""

from typing import TYPE_CHECKING

from kinetarium.lazy import lazy_exports

if TYPE_CHECKING:
    from kinetarium.engines.dart.engine import EngineDart as EngineDart
    from kinetarium.engines.dart.options import DartOptions as DartOptions
else:
    __all__, __getattr__, __dir__ = lazy_exports(__name__)
