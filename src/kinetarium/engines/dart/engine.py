"""EngineDart: scenes compiled into DART simulations."""

from importlib.metadata import version
from typing import Any

from kinetarium.engines.base.engine import EngineBase, quiet
from kinetarium.engines.base.simulation import Setup, SimulationBase
from kinetarium.engines.dart.options import DartOptions
from kinetarium.engines.protocol import Capability, FrictionRule


class EngineDart(EngineBase[DartOptions]):
    """DART, through dartpy.

    Friction is a pyramid along two directions that DART chooses by the
    normal. Two surfaces bounce by the geometric mean of their restitutions,
    above 0.1 m/s. Nothing is drawn at random. What moves without mass, and
    meshes that touch, which dartpy has no way to make, are refused.
    """

    name = "dart"
    title = "DART"
    package = "dartpy"
    capabilities = frozenset({
        Capability.JOINTS, Capability.CONTACT, Capability.CONTACT_FORCES,
        Capability.FRICTION_FORCES, Capability.JOINT_WRENCH, Capability.EXTERNAL_WRENCH,
        Capability.SPRINGS,
        Capability.MIMIC, Capability.CLOSED_LOOPS, Capability.FREE_BASE, Capability.SAVE_RESTORE,
        Capability.MASS_MATRIX, Capability.INVERSE_DYNAMICS, Capability.DETERMINISM,
        Capability.RESTITUTION, Capability.MASS_RATIOS,
    })  # fmt: skip
    friction_rule = FrictionRule.MINIMUM
    unexplained = 0.01
    unexplained_reason = (
        "joint damping is a force of the adapter that does not know the contacts of the same step"
    )
    options = DartOptions

    def _version(self) -> str:
        return version("dartpy")

    def _build(self, setup: Setup[DartOptions]) -> SimulationBase[Any]:
        # The library takes a moment to load and is not everywhere.
        from kinetarium.engines.dart.build import build_world
        from kinetarium.engines.dart.simulation import DartSimulation

        with quiet():  # it warns of massless links
            world = build_world(setup.scene, timestep=setup.timestep)
        return DartSimulation(setup, world=world)
