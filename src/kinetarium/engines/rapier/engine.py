"""EngineRapier: scenes compiled into Rapier simulations."""

from typing import Any

from kinetarium.engines.base.engine import EngineBase
from kinetarium.engines.base.simulation import Setup, SimulationBase
from kinetarium.engines.protocol import Capability, FrictionRule, Precision
from kinetarium.engines.rapier.options import RapierOptions


class EngineRapier(EngineBase[RapierOptions]):
    """Rapier, through its own Python package.

    Robots are multibodies in reduced coordinates. An impact returns the mean
    of the two restitutions. Nothing is drawn at random.
    """

    name = "rapier"
    title = "Rapier"
    package = "rapier3d"
    capabilities = frozenset(
        {
            Capability.JOINTS,
            Capability.CONTACT,
            Capability.MESHES,
            Capability.CONTACT_FORCES,
            Capability.FRICTION_FORCES,
            Capability.JOINT_WRENCH,
            Capability.EXTERNAL_WRENCH,
            Capability.SPRINGS,
            Capability.MIMIC,
            Capability.CLOSED_LOOPS,
            Capability.FREE_BASE,
            Capability.SAVE_RESTORE,
            Capability.DETERMINISM,
            Capability.RESTITUTION,
            Capability.MASS_RATIOS,
        }
    )
    friction_rule = FrictionRule.AVERAGE
    precision = Precision.SINGLE
    implicit_coriolis = True
    unexplained = 0.08
    unexplained_reason = "implicit Coriolis forces: an error of first order"
    options = RapierOptions

    def _version(self) -> str:
        import rapier3d

        return str(rapier3d.__version__)

    def _build(self, setup: Setup[RapierOptions]) -> SimulationBase[Any]:
        # The library is not everywhere.
        from kinetarium.engines.rapier.build import build
        from kinetarium.engines.rapier.simulation import RapierSimulation

        return RapierSimulation(setup, model=build(setup))
