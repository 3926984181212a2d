"""The closed form: a body that falls from rest, z = z0 - g t^2 / 2 (Galileo)."""

from math import sqrt

from kinetarium.spatial.arrays import Array

GRAVITY = 9.81
"""Acceleration of the fall [m/s^2]."""


def fall_time(height: float) -> float:
    """Give the time of a fall [s] from a height [m]."""
    return sqrt(2 * height / GRAVITY)


def impact_speed(height: float) -> float:
    """Give the speed at the end of a fall [m/s] from a height [m]."""
    return sqrt(2 * GRAVITY * height)


def fallen(time: Array) -> Array:
    """Give how far a body has fallen [m] after times [s], shape (n,)."""
    distance: Array = GRAVITY * time**2 / 2
    return distance
