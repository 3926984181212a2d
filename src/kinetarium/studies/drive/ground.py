"""The scene of both studies: a robot on level ground."""

from collections.abc import Sequence
from dataclasses import replace

from kinetarium.control.driving_law import Placement
from kinetarium.engines.capability import FrictionRule
from kinetarium.scene import Material, Scene
from kinetarium.scene.ready import driving_ground
from kinetarium.spatial.arrays import frozen
from kinetarium.spatial.rotation import pose, rotation_about
from kinetarium.studies.drive.config import Robot

SLICK = Material(friction=0.0)


def ground_scene(
    robot: Robot,
    *,
    wheels: Sequence[str],
    start: Placement,
    friction: float,
    rule: FrictionRule,
    wheel_damping: float,
) -> Scene:
    """Put a robot on level ground.

    Args:
        robot: The robot.
        wheels: Names of its links that roll; everything else has no friction.
        start: Where it stands.
        friction: Between wheels and ground [-].
        rule: How the engine combines the friction of unequal surfaces.
        wheel_damping: Gain of the wheels' servos [N m s/rad].
    """
    floor, tyre = _surfaces(friction, rule)
    scene = driving_ground(robot.value, material=floor, slippery={}, wheel_damping=wheel_damping)
    placed = scene.robots[0]
    links = {link.name: tyre if link.name in wheels else SLICK for link in placed.model.links}
    stand = pose(
        (start.x, start.y, placed.X_WB[2, 3]), rotation_about((0.0, 0.0, 1.0), start.heading)
    )
    return replace(scene, robots=(replace(placed, X_WB=frozen(stand), link_materials=links),))


def _surfaces(friction: float, rule: FrictionRule) -> tuple[Material, Material]:
    """Give ground and tyres such that tyres grip by the friction and slick casters do not at all.

    Where an engine takes the greater or the average of two surfaces, a slick
    caster would still grip a rough ground; so there the ground is slick too, and
    the tyres bring all the friction.
    """
    match rule:
        case FrictionRule.MAXIMUM:
            return SLICK, Material(friction)
        case FrictionRule.AVERAGE:
            return SLICK, Material(2 * friction)
        case FrictionRule.GEOMETRIC_MEAN | FrictionRule.MINIMUM:
            return Material(friction), Material(friction)
