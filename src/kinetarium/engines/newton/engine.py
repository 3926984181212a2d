"""EngineNewton: scenes compiled into simulations of NVIDIA's Newton."""

from importlib.metadata import version
from typing import Any

from kinetarium.engines.base.engine import EngineBase
from kinetarium.engines.base.simulation import Setup, SimulationBase
from kinetarium.engines.newton.options import NewtonOptions
from kinetarium.engines.protocol import Capability, FrictionRule, Precision

_MUJOCO = ("3.15.", "3.16.")
"""The versions of MuJoCo that mujoco-warp 3.15, hence Newton 1.7, works with."""


class EngineNewton(EngineBase[NewtonOptions]):
    """Newton of NVIDIA, Google DeepMind and Disney Research, on the CPU.

    Its solver is SolverMuJoCo: MuJoCo's equations, as kernels of Warp in single precision, or
    by MuJoCo's C library (`NewtonSolver`), with the same capabilities. Kernels are compiled
    when they are first used and kept in the user's cache folder. Nothing is drawn at random.
    """

    name = "newton"
    title = "Newton"
    package = "newton"
    capabilities = frozenset(
        {
            Capability.JOINTS,
            Capability.SPRINGS,
            Capability.CONTACT,
            Capability.MESHES,
            Capability.CONTACT_FORCES,
            Capability.FRICTION_FORCES,
            Capability.JOINT_WRENCH,
            Capability.EXTERNAL_WRENCH,
            Capability.MIMIC,
            Capability.CLOSED_LOOPS,
            Capability.FREE_BASE,
            Capability.SAVE_RESTORE,
            Capability.DETERMINISM,
            Capability.RESTITUTION,
            Capability.SPINNING_FRICTION,
            Capability.ROLLING_FRICTION,
            Capability.MASS_RATIOS,
            Capability.SOLVER_REPORT,
        }
    )
    friction_rule = FrictionRule.MAXIMUM
    precision = Precision.SINGLE
    options = NewtonOptions

    def _version(self) -> str:
        # Importing it takes seconds.
        newton, warp, _ = (version(name) for name in ("newton", "warp-lang", "mujoco-warp"))
        mujoco = version("mujoco")
        if not mujoco.startswith(_MUJOCO):
            # mujoco-warp 3.15 takes 11 numbers of an equality constraint, MuJoCo 3.17 has 12.
            raise ImportError(f"Newton 1.7 works with MuJoCo 3.15 and 3.16, not {mujoco}")
        return f"{newton}, Warp {warp}"

    def _build(self, setup: Setup[NewtonOptions]) -> SimulationBase[Any]:
        # The library is large and not everywhere.
        from kinetarium.engines.newton.build import build
        from kinetarium.engines.newton.library import announced_compilation
        from kinetarium.engines.newton.simulation import NewtonSimulation

        with announced_compilation():
            return NewtonSimulation(setup, model=build(setup))
