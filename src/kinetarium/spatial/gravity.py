"""Gravity near the ground, as scenes have it unless they say otherwise, z up."""

from kinetarium.spatial.arrays import frozen

GRAVITY = 9.81
"""Acceleration of free fall [m/s^2]."""
GRAVITY_VECTOR = frozen([0.0, 0.0, -GRAVITY])
"""The same in the world frame [m/s^2], shape (3,)."""
