"""EngineMujoco: scenes compiled into MuJoCo simulations."""

from kinetarium.engines.initial_state import checked_timestep
from kinetarium.engines.mujoco.options import Integrator, MujocoOptions
from kinetarium.engines.protocol import (
    Capability,
    CapabilityError,
    EngineInfo,
    FrictionRule,
    Layout,
    Simulation,
)
from kinetarium.scene import Scene

_NAME = "mujoco"
_CAPABILITIES = frozenset(
    {
        Capability.CONTACT_FORCES,
        Capability.JOINT_WRENCH,
        Capability.EXTERNAL_WRENCH,
        Capability.MIMIC,
        Capability.CLOSED_LOOPS,
        Capability.FREE_BASE,
        Capability.SAVE_RESTORE,
        Capability.MASS_MATRIX,
        Capability.INVERSE_DYNAMICS,
        Capability.DETERMINISM,
        Capability.RESTITUTION,
    }
)


class EngineMujoco:
    """MuJoCo.

    An impact between materials of which one bounces returns the greater of
    their restitutions, but hardly rubs; contact that lasts has all its
    friction. Nothing is drawn at random.
    """

    options = MujocoOptions

    @property
    def info(self) -> EngineInfo:
        """What MuJoCo is and can do."""
        import mujoco

        return EngineInfo(
            name=_NAME,
            title="MuJoCo",
            version=mujoco.__version__,
            capabilities=_CAPABILITIES,
            friction_rule=FrictionRule.MAXIMUM,
        )

    def compile(
        self,
        scene: Scene,
        *,
        timestep: float,
        options: MujocoOptions | None = None,
        seed: int = 0,
    ) -> Simulation:
        """Build a scene.

        Args:
            timestep: Time step [s].
            options: Settings; None for the defaults.
            seed: Not used.

        Raises:
            SceneError: If the time step is not positive or MuJoCo refuses the scene.
            CapabilityError: If something is to bounce under an integrator that cannot do it.
        """
        # The library takes a second to load and is not everywhere.
        from kinetarium.engines.initial_state import starting_state
        from kinetarium.engines.mujoco.build import mujoco_model
        from kinetarium.engines.mujoco.simulation import MujocoSimulation

        options = options or MujocoOptions()
        timestep = checked_timestep(timestep)
        if options.integrator in (Integrator.RK4, Integrator.DISCRETE) and _bounces(scene):
            raise CapabilityError(
                _NAME,
                Capability.RESTITUTION,
                reason=f"the scene under the integrator {options.integrator}",
            )
        layout = Layout.of(scene)
        model = mujoco_model(scene, layout, timestep=timestep, options=options)
        return MujocoSimulation(scene, layout, model=model, start=starting_state(scene))


def _bounces(scene: Scene) -> bool:
    materials = [body.material for body in scene.bodies]
    for robot in scene.robots:
        materials += [robot.material, *robot.link_materials.values()]
    return any(material.restitution > 0 for material in materials)
