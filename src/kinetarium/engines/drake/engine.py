"""EngineDrake: scenes compiled into Drake simulations."""

from importlib.metadata import version
from importlib.util import find_spec

from kinetarium.engines.base.engine import checked_timestep, initial_state
from kinetarium.engines.drake.options import FRICTION_RULE, DrakeOptions
from kinetarium.engines.protocol import Capability, CapabilityError, EngineInfo, Simulation
from kinetarium.scene import Scene

_NAME = "drake"
_CAPABILITIES = frozenset(Capability) - {Capability.RESTITUTION}


class EngineDrake:
    """Drake, as a multibody plant in discrete time.

    Its contacts dissipate, and do not return a share of an impact that could
    be chosen. Nothing is drawn at random.
    """

    options = DrakeOptions

    @property
    def info(self) -> EngineInfo:
        """What Drake is and can do."""
        if find_spec("pydrake") is None:
            raise ImportError("No module named 'pydrake'")
        return EngineInfo(
            name=_NAME,
            title="Drake",
            version=version("drake"),
            capabilities=_CAPABILITIES,
            friction_rule=FRICTION_RULE,
        )

    def compile(
        self,
        scene: Scene,
        *,
        timestep: float,
        options: DrakeOptions | None = None,
        seed: int = 0,
    ) -> Simulation:
        """Build a scene.

        Args:
            timestep: Time step [s].
            options: Settings; None for the defaults.
            seed: Not used.

        Raises:
            SceneError: If the time step is not positive or Drake refuses the scene.
            CapabilityError: If something is to bounce.
        """
        # The library takes half a second to load and is not everywhere.
        from kinetarium.engines.drake.build import build_world
        from kinetarium.engines.drake.simulation import DrakeSimulation

        h = checked_timestep(timestep)
        if _bounces(scene):
            raise CapabilityError(_NAME, Capability.RESTITUTION, reason="the scene")
        world = build_world(scene, timestep=h, options=options or DrakeOptions())
        return DrakeSimulation(scene, world, timestep=h, start=initial_state(scene))


def _bounces(scene: Scene) -> bool:
    materials = [body.material for body in scene.bodies]
    for robot in scene.robots:
        materials += [robot.material, *robot.link_materials.values()]
    return any(material.restitution > 0 for material in materials)
