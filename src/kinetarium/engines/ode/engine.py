"""EngineOde: scenes compiled into ODE simulations."""

from typing import Any

from kinetarium.engines.base.engine import EngineBase
from kinetarium.engines.base.simulation import Setup, SimulationBase
from kinetarium.engines.ode.options import FRICTION_RULE, OdeOptions
from kinetarium.engines.protocol import Capability


class EngineOde(EngineBase[OdeOptions]):
    """The Open Dynamics Engine, through its C interface.

    It knows bodies and constraints but no joint coordinates, hence neither
    mass matrix nor inverse dynamics. The seed is that of the order in which the
    QUICK solver visits the constraints.
    """

    name = "ode"
    title = "Open Dynamics Engine"
    capabilities = frozenset({
        Capability.JOINTS, Capability.CONTACT, Capability.MESHES, Capability.CONTACT_FORCES,
        Capability.FRICTION_FORCES, Capability.JOINT_WRENCH, Capability.EXTERNAL_WRENCH,
        Capability.SPRINGS,
        Capability.MIMIC, Capability.CLOSED_LOOPS, Capability.FREE_BASE, Capability.SAVE_RESTORE,
        Capability.DETERMINISM, Capability.RESTITUTION, Capability.MASS_RATIOS,
    })  # fmt: skip
    friction_rule = FRICTION_RULE
    unexplained = 0.05
    unexplained_reason = (
        "joints are constraints between bodies that move apart within a step: an error "
        "of first order"
    )
    options = OdeOptions

    def _version(self) -> str:
        from kinetarium.engines.ode import library

        return library.version()

    def _build(self, setup: Setup[OdeOptions]) -> SimulationBase[Any]:
        from kinetarium.engines.ode.simulation import OdeSimulation

        return OdeSimulation(setup)
