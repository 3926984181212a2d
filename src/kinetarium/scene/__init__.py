"""Scenes: placed robots, bodies, materials, drives and sensors, frozen."""

from kinetarium.scene.actuation import Actuation, Drive
from kinetarium.scene.body import Body, Motion, Plane, free_body, ground
from kinetarium.scene.material import DRY, Material
from kinetarium.scene.ready import arm_with_cube, driving_ground, two_arms
from kinetarium.scene.robot import Base, PlacedRobot
from kinetarium.scene.scene import Scene, SceneError, rigid_groups
from kinetarium.scene.sensor import WrenchSensor

__all__ = [
    "DRY",
    "Actuation",
    "Base",
    "Body",
    "Drive",
    "Material",
    "Motion",
    "PlacedRobot",
    "Plane",
    "Scene",
    "SceneError",
    "WrenchSensor",
    "arm_with_cube",
    "driving_ground",
    "free_body",
    "ground",
    "rigid_groups",
    "two_arms",
]
