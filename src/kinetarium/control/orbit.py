"""Relative motion in orbit (Clohessy, Wiltshire, "Terminal guidance system", 1960).

In the frame that goes round with a circular orbit, x outward, y along the flight, z across:

    x'' = 3 n^2 x + 2 n y',   y'' = -2 n x',   z'' = -n^2 z
"""

from math import sqrt

import numpy as np

from kinetarium.spatial.arrays import Array

EARTH_GRAVITY = 3.986004418e14
"""Gravitational parameter of the Earth [m^3/s^2] (WGS 84)."""
EARTH_RADIUS = 6378.137e3
"""Equatorial radius [m] (WGS 84)."""


def mean_motion(altitude: float) -> float:
    """Give the angular rate n of a circular orbit [rad/s] at an altitude [m]."""
    return sqrt(EARTH_GRAVITY / (EARTH_RADIUS + altitude) ** 3)


def relative_acceleration(p: Array, v: Array, *, n: float) -> Array:
    """Give the acceleration of a free body in the orbit's frame [m/s^2], shape (3,).

    Args:
        p: Its position in that frame [m], shape (3,).
        v: Its velocity in that frame [m/s], shape (3,).
        n: Angular rate of the orbit [rad/s].
    """
    return np.array(
        [3 * n * n * p[0] + 2 * n * v[1], -2 * n * v[0], -n * n * p[2]], dtype=np.float64
    )
