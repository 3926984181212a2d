"""EngineBullet: scenes compiled into Bullet simulations."""

from importlib.metadata import version

from kinetarium.engines.bullet.library import load
from kinetarium.engines.bullet.options import BulletOptions
from kinetarium.engines.capability import Capability, FrictionRule
from kinetarium.engines.layout import Layout
from kinetarium.engines.protocol import EngineInfo
from kinetarium.engines.timestep import checked_timestep
from kinetarium.scene import Scene


class EngineBullet:
    """Bullet, through pybullet.

    Friction and restitution of unequal surfaces are geometric means. Nothing
    is drawn at random.
    """

    @property
    def info(self) -> EngineInfo:
        """What Bullet is and can do."""
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
    ) -> "BulletSimulation":
        """Build a scene.

        Args:
            scene: The scene.
            timestep: Time step [s].
            options: Settings; None for the defaults.
            seed: Not used.

        Raises:
            SceneError: If the time step is not positive or a free robot has no mass at its root.
            KinetariumError: If the scene is larger than pybullet takes.
        """
        from kinetarium.engines.bullet.simulation import BulletSimulation
        from kinetarium.engines.bullet.start import starting_state
        from kinetarium.engines.bullet.world import build_world

        h = checked_timestep(timestep)
        options = options or BulletOptions()
        p = load()
        client = p.connect(p.DIRECT)
        try:
            world = build_world(p, client, scene, timestep=h, options=options)
            return BulletSimulation(
                p, client, scene, layout=Layout.of(scene), world=world, timestep=h, options=options,
                start=starting_state(scene),
            )
        except BaseException:
            p.disconnect(client)
            raise
