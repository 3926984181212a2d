"""Poses spread evenly over the inscribed sphere of a voxel, looking at its centre.

Zacharias et al., "Capturing robot workspace structure: representing robot
capabilities", 2007. Sampling rotations evenly is hard; the directions are points of a
Fibonacci lattice (Gonzalez, "Measurement of areas on a sphere using Fibonacci and
latitude-longitude lattices", 2010), the turns about them are drawn from a seed.
"""

from math import pi, sqrt

import numpy as np

from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import rotation_about, rotation_onto

GOLDEN_ANGLE = pi * (3.0 - sqrt(5.0))


def fibonacci_points(count: int) -> Array:
    """Give points spread evenly over the unit sphere, shape (count, 3)."""
    number = np.arange(count)
    z = 1.0 - (2.0 * number + 1.0) / count
    flat = np.sqrt(1.0 - z * z)
    return np.column_stack(
        [flat * np.cos(GOLDEN_ANGLE * number), flat * np.sin(GOLDEN_ANGLE * number), z]
    )


def sphere_poses(count: int, *, radius: float, seed: int) -> Array:
    """Give poses on a sphere whose z axes point at its centre.

    Args:
        count: How many.
        radius: Radius of the sphere [m].
        seed: Seed of the turns about the z axes.

    Returns:
        The poses in the frame of the sphere's centre, shape (count, 4, 4).
    """
    points = fibonacci_points(count)
    turns = np.random.default_rng(seed).uniform(-pi, pi, count)
    X = np.tile(np.eye(4), (count, 1, 1))
    X[:, :3, 3] = radius * points
    for n in range(count):
        X[n, :3, :3] = rotation_onto(-points[n]) @ rotation_about((0, 0, 1), turns[n])
    return X
