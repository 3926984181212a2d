"""PhysX 5 behind the engine protocol; its library SAPIEN is loaded with the first scene."""

from typing import TYPE_CHECKING

from kinetarium.lazy import lazy_exports

if TYPE_CHECKING:
    from kinetarium.engines.physx.engine import EnginePhysx as EnginePhysx
    from kinetarium.engines.physx.options import PhysxOptions as PhysxOptions
    from kinetarium.engines.physx.options import Solver as Solver
else:
    __all__, __getattr__, __dir__ = lazy_exports(__name__)
