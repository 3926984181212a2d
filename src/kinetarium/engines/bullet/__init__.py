"""Bullet behind the engine protocol; the library is loaded with the first scene."""

from typing import TYPE_CHECKING

from kinetarium.lazy import lazy_exports

if TYPE_CHECKING:
    from kinetarium.engines.bullet.engine import EngineBullet as EngineBullet
    from kinetarium.engines.bullet.options import BulletOptions as BulletOptions
    from kinetarium.engines.bullet.options import Servo as Servo
else:
    __all__, __getattr__, __dir__ = lazy_exports(__name__)
