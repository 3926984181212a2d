"""MuJoCo behind the engine protocol; the library is loaded with the first scene."""

from kinetarium.engines.mujoco.engine import EngineMujoco
from kinetarium.engines.mujoco.options import Cone, Integrator, MujocoOptions, Solver

__all__ = ["Cone", "EngineMujoco", "Integrator", "MujocoOptions", "Solver"]
