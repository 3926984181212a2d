"""EnginePhysx: scenes compiled into PhysX simulations."""

from kinetarium.engines.base.engine import checked_timestep
from kinetarium.engines.physx.options import NAME, PhysxOptions
from kinetarium.engines.protocol import (
    Capability,
    EngineInfo,
    FrictionRule,
    Layout,
    Precision,
    Simulation,
)
from kinetarium.scene import Scene


class EnginePhysx:
    """PhysX 5 on the processor, through SAPIEN and without graphics.

    Robots are articulations in reduced coordinates. An impact returns the mean
    of the two restitutions. Nothing is drawn at random.
    """

    options = PhysxOptions

    @property
    def info(self) -> EngineInfo:
        """What PhysX is and can do; SAPIEN hands out neither M nor inverse dynamics."""
        from kinetarium.engines.physx.library import physx, sapien

        lacking = {Capability.MASS_MATRIX, Capability.INVERSE_DYNAMICS}
        return EngineInfo(
            name=NAME,
            title="PhysX",
            version=f"{physx.version()}, SAPIEN {sapien.__version__}",
            capabilities=frozenset(Capability) - lacking,
            friction_rule=FrictionRule.AVERAGE,
            precision=Precision.SINGLE,
        )

    def compile(
        self,
        scene: Scene,
        *,
        timestep: float,
        options: PhysxOptions | None = None,
        seed: int = 0,
    ) -> Simulation:
        """Build a scene.

        Args:
            timestep: Time step [s].
            options: Settings; None for the defaults.
            seed: Not used.

        Raises:
            SceneError: If the time step is not positive or PhysX refuses the scene.
            CapabilityError: If a mimic joint follows one that PhysX cannot couple it to.
        """
        # The library takes a second to load and is not everywhere.
        from kinetarium.engines.physx.build import build
        from kinetarium.engines.physx.library import World
        from kinetarium.engines.physx.simulation import PhysxSimulation

        timestep = checked_timestep(timestep)
        options = options or PhysxOptions()
        layout = Layout.of(scene)
        parts = build(scene, layout, timestep=timestep, options=options)
        world = World(parts.entities, gravity=scene.gravity, timestep=timestep, options=options)
        return PhysxSimulation(scene, layout, parts=parts, world=world)
