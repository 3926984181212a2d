"""EngineBullet: scenes compiled into Bullet simulations."""

from importlib.metadata import version

from kinetarium.engines.base.engine import checked_timestep, initial_state
from kinetarium.engines.bullet.library import BulletClient, load
from kinetarium.engines.bullet.options import BulletOptions
from kinetarium.engines.protocol import Capability, EngineInfo, FrictionRule, Simulation
from kinetarium.scene import Scene


class EngineBullet:
    """Bullet, through pybullet.

    Two surfaces bounce by the geometric mean of their restitutions. Nothing
    is drawn at random.
    """

    options = BulletOptions

    @property
    def info(self) -> EngineInfo:
        """What Bullet is and can do: everything there is a name for."""
        load()
        return EngineInfo(
            name="bullet",
            title="Bullet",
            version=version("pybullet"),
            capabilities=frozenset(Capability),
            friction_rule=FrictionRule.GEOMETRIC_MEAN,
        )

    def compile(
        self,
        scene: Scene,
        *,
        timestep: float,
        options: BulletOptions | None = None,
        seed: int = 0,
    ) -> Simulation:
        """Build a scene.

        Args:
            timestep: Time step [s].
            options: Settings; None for the defaults.
            seed: Not used.

        Raises:
            SceneError: If the time step is not positive, or a free robot has no mass at its root.
            CapabilityError: If a sensor sits inside a closed loop.
            KinetariumError: If the scene is larger than pybullet takes.
        """
        from kinetarium.engines.bullet.build import build_world
        from kinetarium.engines.bullet.simulation import BulletSimulation

        h = checked_timestep(timestep)
        options = options or BulletOptions()
        bullet = BulletClient()
        try:
            return BulletSimulation(
                bullet,
                scene,
                world=build_world(bullet, scene, timestep=h, options=options),
                timestep=h,
                options=options,
                start=initial_state(scene),
            )
        except BaseException:
            bullet.disconnect()
            raise
