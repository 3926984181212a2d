"""EngineBullet: scenes compiled into Bullet simulations."""

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from kinetarium.engines.base.engine import EngineBase
from kinetarium.engines.base.simulation import Setup, SimulationBase
from kinetarium.engines.bullet.library import BulletClient, load, read_robot
from kinetarium.engines.bullet.options import BulletOptions
from kinetarium.engines.protocol import Capability, FrictionRule, RobotAsRead


class EngineBullet(EngineBase[BulletOptions]):
    """Bullet, through pybullet.

    Two surfaces bounce by the geometric mean of their restitutions. Nothing
    is drawn at random. A sensor inside a closed loop, and a robot of more links
    than pybullet takes, are refused.
    """

    name = "bullet"
    title = "Bullet"
    package = "pybullet"
    capabilities = frozenset({
        Capability.JOINTS, Capability.CONTACT, Capability.MESHES, Capability.CONTACT_FORCES,
        Capability.FRICTION_FORCES, Capability.JOINT_WRENCH, Capability.EXTERNAL_WRENCH,
        Capability.SPRINGS,
        Capability.MIMIC, Capability.CLOSED_LOOPS, Capability.FREE_BASE, Capability.SAVE_RESTORE,
        Capability.MASS_MATRIX, Capability.INVERSE_DYNAMICS, Capability.DETERMINISM,
        Capability.RESTITUTION,
    })  # fmt: skip
    friction_rule = FrictionRule.GEOMETRIC_MEAN
    unexplained = 0.01
    unexplained_reason = (
        "joint damping is a force of the adapter that does not know the contacts of the same step"
    )
    options = BulletOptions

    def _version(self) -> str:
        load()
        return version("pybullet")

    def read_robot(self, file: Path, *, packages: Sequence[Path]) -> RobotAsRead:
        """Read a robot file by Bullet's own loader."""
        return read_robot(file)

    def _build(self, setup: Setup[BulletOptions]) -> SimulationBase[Any]:
        from kinetarium.engines.bullet.build import build_world
        from kinetarium.engines.bullet.simulation import BulletSimulation

        bullet = BulletClient()
        try:
            return BulletSimulation(setup, bullet=bullet, world=build_world(bullet, setup))
        except BaseException:
            bullet.disconnect()
            raise
