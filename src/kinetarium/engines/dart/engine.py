"""EngineDart: scenes compiled into DART simulations."""

from importlib.metadata import version

from kinetarium.engines.base.engine import checked_timestep
from kinetarium.engines.dart.options import DartOptions
from kinetarium.engines.protocol import Capability, EngineInfo, FrictionRule, Simulation
from kinetarium.scene import Scene


class EngineDart:
    """DART, through dartpy.

    Friction is a pyramid along two directions that DART chooses by the
    normal. Two surfaces bounce by the geometric mean of their restitutions,
    above 0.1 m/s. Nothing is drawn at random.
    """

    options = DartOptions

    @property
    def info(self) -> EngineInfo:
        """What DART is and can do: everything there is a name for."""
        return EngineInfo(
            name="dart",
            title="DART",
            version=version("dartpy"),
            capabilities=frozenset(Capability),
            friction_rule=FrictionRule.MINIMUM,
        )

    def compile(
        self,
        scene: Scene,
        *,
        timestep: float,
        options: DartOptions | None = None,
        seed: int = 0,
    ) -> Simulation:
        """Build a scene.

        Args:
            timestep: Time step [s].
            options: Settings; None for the defaults.
            seed: Not used.

        Raises:
            SceneError: If the time step is not positive, something without mass is to move, or a
                mesh to touch: dartpy has no way to make one.
        """
        # The library takes a moment to load and is not everywhere.
        from kinetarium.engines.base.engine import initial_state
        from kinetarium.engines.dart.build import build_world
        from kinetarium.engines.dart.library import quiet
        from kinetarium.engines.dart.simulation import DartSimulation

        h = checked_timestep(timestep)
        options = options or DartOptions()
        with quiet():
            world = build_world(scene, timestep=h)
        return DartSimulation(
            scene, world=world, timestep=h, options=options, start=initial_state(scene)
        )
