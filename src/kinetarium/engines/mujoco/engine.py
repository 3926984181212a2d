"""EngineMujoco: scenes compiled into MuJoCo simulations."""

from typing import Any

from kinetarium.engines.base.engine import EngineBase
from kinetarium.engines.base.simulation import Setup, SimulationBase
from kinetarium.engines.mujoco.options import Integrator, MujocoOptions
from kinetarium.engines.protocol import Capability, CapabilityError, FrictionRule


class EngineMujoco(EngineBase[MujocoOptions]):
    """MuJoCo.

    An impact between materials of which one bounces returns the greater of
    their restitutions, but hardly rubs; contact that lasts has all its
    friction. Nothing is drawn at random.
    """

    name = "mujoco"
    title = "MuJoCo"
    package = "mujoco"
    capabilities = frozenset({
        Capability.JOINTS, Capability.CONTACT, Capability.CONTACT_FORCES, Capability.JOINT_WRENCH,
        Capability.EXTERNAL_WRENCH, Capability.MIMIC, Capability.CLOSED_LOOPS,
        Capability.FREE_BASE, Capability.SAVE_RESTORE, Capability.MASS_MATRIX,
        Capability.INVERSE_DYNAMICS, Capability.DETERMINISM, Capability.RESTITUTION,
    })  # fmt: skip
    friction_rule = FrictionRule.MAXIMUM
    options = MujocoOptions

    def _version(self) -> str:
        import mujoco

        return str(mujoco.__version__)

    def _build(self, setup: Setup[MujocoOptions]) -> SimulationBase[Any]:
        # The library takes a second to load and is not everywhere.
        from kinetarium.engines.mujoco.build import mujoco_model
        from kinetarium.engines.mujoco.simulation import MujocoSimulation

        integrator = setup.options.integrator
        if integrator in (Integrator.RK4, Integrator.DISCRETE) and setup.scene.bounces:
            raise CapabilityError(
                self.name,
                Capability.RESTITUTION,
                reason=f"the scene under the integrator {integrator}",
            )
        return MujocoSimulation(setup, model=mujoco_model(setup))
