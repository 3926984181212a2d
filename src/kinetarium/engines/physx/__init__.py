"""PhysX 5 behind the engine protocol; its library SAPIEN is loaded with the first scene."""

from kinetarium.engines.physx.engine import EnginePhysx
from kinetarium.engines.physx.options import PhysxOptions, Solver

__all__ = ["EnginePhysx", "PhysxOptions", "Solver"]
