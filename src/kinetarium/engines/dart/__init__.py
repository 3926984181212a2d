"""DART behind the engine protocol; the library is loaded with the first scene."""

from kinetarium.engines.dart.engine import EngineDart
from kinetarium.engines.dart.options import DartOptions

__all__ = ["DartOptions", "EngineDart"]
