"""Scenes: placed robots, bodies, materials, drives and sensors, frozen."""

from typing import TYPE_CHECKING

from kinetarium.lazy import lazy_exports

if TYPE_CHECKING:
    from kinetarium.scene.body import DRY as DRY
    from kinetarium.scene.body import Body as Body
    from kinetarium.scene.body import Material as Material
    from kinetarium.scene.body import Motion as Motion
    from kinetarium.scene.body import Plane as Plane
    from kinetarium.scene.body import free_body as free_body
    from kinetarium.scene.body import ground as ground
    from kinetarium.scene.docking import DockingScene as DockingScene
    from kinetarium.scene.docking import docking_scene as docking_scene
    from kinetarium.scene.presets import arm_with_cube as arm_with_cube
    from kinetarium.scene.presets import driving_ground as driving_ground
    from kinetarium.scene.presets import two_arms as two_arms
    from kinetarium.scene.robot import Actuation as Actuation
    from kinetarium.scene.robot import Base as Base
    from kinetarium.scene.robot import DriveMode as DriveMode
    from kinetarium.scene.robot import PlacedRobot as PlacedRobot
    from kinetarium.scene.robot import RigidBody as RigidBody
    from kinetarium.scene.robot import WrenchSensor as WrenchSensor
    from kinetarium.scene.robot import rigid_tree as rigid_tree
    from kinetarium.scene.scene import Scene as Scene
    from kinetarium.scene.scene import SceneError as SceneError
    from kinetarium.scene.scene import rigid_groups as rigid_groups
    from kinetarium.scene.standing import extent as extent
    from kinetarium.scene.standing import holding_servos as holding_servos
    from kinetarium.scene.standing import home_command as home_command
    from kinetarium.scene.standing import lowest_point as lowest_point
    from kinetarium.scene.standing import placed_robot as placed_robot
    from kinetarium.scene.standing import support_points as support_points
else:
    __all__, __getattr__, __dir__ = lazy_exports(__name__)
