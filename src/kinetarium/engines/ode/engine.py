"""EngineOde: scenes compiled into ODE simulations."""

from kinetarium.engines.base.engine import checked_timestep
from kinetarium.engines.ode.options import OdeOptions
from kinetarium.engines.protocol import Capability, EngineInfo, Simulation
from kinetarium.scene import Scene

_NAME = "ode"


class EngineOde:
    """The Open Dynamics Engine, through its C interface."""

    options = OdeOptions

    @property
    def info(self) -> EngineInfo:
        """What ODE is and can do: all but what needs joint coordinates."""
        from kinetarium.engines.ode import library
        from kinetarium.engines.ode.contacts import FRICTION_RULE

        return EngineInfo(
            name=_NAME,
            title="Open Dynamics Engine",
            version=library.version(),
            capabilities=frozenset(Capability)
            - {Capability.MASS_MATRIX, Capability.INVERSE_DYNAMICS},
            friction_rule=FRICTION_RULE,
        )

    def compile(
        self, scene: Scene, *, timestep: float, options: OdeOptions | None = None, seed: int = 0
    ) -> Simulation:
        """Build a scene.

        Args:
            timestep: Time step [s].
            options: Settings; None for the defaults.
            seed: Of the order in which the QUICK solver visits the constraints.

        Raises:
            SceneError: If the time step is not positive or a mesh has no convex hull.
            RobotFileError: If a mesh cannot be loaded.
        """
        from kinetarium.engines.ode.simulation import OdeSimulation

        return OdeSimulation(
            scene,
            timestep=checked_timestep(timestep),
            options=options or OdeOptions(),
            seed=seed,
        )
