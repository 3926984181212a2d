"""Bullet behind the engine protocol; the library is loaded with the first scene."""

from kinetarium.engines.bullet.engine import EngineBullet
from kinetarium.engines.bullet.options import BulletOptions, Servo

__all__ = ["BulletOptions", "EngineBullet", "Servo"]
