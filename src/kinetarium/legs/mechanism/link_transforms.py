"""The transforms of a leg's links as products of matrices, as the paper's Tables 4 and 5 list them.

This is the readable form of `link_kernel`, one pose at a time; the tests compare the two.
"""

from math import cos, sin

import numpy as np

from kinetarium.legs.mechanism.pantograph import LegKind, PantographLeg
from kinetarium.spatial.arrays import Array


def link_transforms(leg: PantographLeg, q: Array) -> Array:
    """Return the poses of links 1 to 9 in the leg frame, shape (9, 4, 4).

    Args:
        q: One set of joint values, shape (3,).
    """
    x, c, v = (float(value) for value in q)
    alpha1, alpha2, alpha3 = (float(angle) for angle in leg.passive_angles(q))
    side = c if leg.kind is LegKind.TTT2 else 0.0
    frame = np.eye(4)
    if leg.kind is LegKind.TTT1:
        frame = _translation(0.0, c, 0.0)
    elif leg.kind is LegKind.TTR:
        frame = _turn_z(c)
    a = _translation(0.0, 0.0, v)
    b = _translation(x, side, leg.rail_height)
    foot = _translation(
        leg.gain * x, leg.gain * side, (1 - leg.gain) * v + leg.gain * leg.rail_height
    )
    thigh = _turn_x(alpha3) @ _turn_y(alpha1)
    shank = _turn_x(alpha3) @ _turn_y(alpha2)
    own = [np.eye(4), a, b, a @ thigh, b @ thigh, b @ shank, foot @ shank, foot]
    return np.array([np.eye(4), *(frame @ X for X in own)])


def _translation(x: float, y: float, z: float) -> Array:
    X = np.eye(4)
    X[:3, 3] = x, y, z
    return X


def _turn_x(angle: float) -> Array:
    c, s = cos(angle), sin(angle)
    return np.array([[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1.0]])


def _turn_y(angle: float) -> Array:
    c, s = cos(angle), sin(angle)
    return np.array([[c, 0, s, 0], [0, 1, 0, 0], [-s, 0, c, 0], [0, 0, 0, 1.0]])


def _turn_z(angle: float) -> Array:
    c, s = cos(angle), sin(angle)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])
