"""MuJoCo behind the engine protocol; the library is loaded with the first scene."""

from typing import TYPE_CHECKING

from kinetarium.lazy import lazy_exports

if TYPE_CHECKING:
    from kinetarium.engines.mujoco.engine import EngineMujoco as EngineMujoco
    from kinetarium.engines.mujoco.options import Cone as Cone
    from kinetarium.engines.mujoco.options import Integrator as Integrator
    from kinetarium.engines.mujoco.options import MujocoOptions as MujocoOptions
    from kinetarium.engines.mujoco.options import Solver as Solver
else:
    __all__, __getattr__, __dir__ = lazy_exports(__name__)
