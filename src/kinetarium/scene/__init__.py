"""Scenes: placed robots, bodies, materials, drives and sensors, frozen."""

from kinetarium.scene.body import DRY, Body, Material, Motion, Plane, free_body, ground
from kinetarium.scene.presets import arm_with_cube, driving_ground, two_arms
from kinetarium.scene.robot import Actuation, Base, Drive, PlacedRobot, WrenchSensor
from kinetarium.scene.scene import Scene, SceneError, rigid_groups

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
