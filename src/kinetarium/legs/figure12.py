"""The step of the paper's Fig. 12, as it was printed and as it should have been.

The body moves by d and turns by theta as a rigid body, so that the foot of leg i goes by
p = d + (R(theta) - I) t (eq. 16), where t is its place at rest. Legs 1 and 4 swing before the
body moves, 3 and 2 after it. The paper does not turn the latter into the new body frame: its
feet slip. Printed joint values count h_x backwards.
"""

from dataclasses import dataclass
from math import radians, tan

import numpy as np

from kinetarium.legs import Machine
from kinetarium.spatial.arrays import Array

HEADING = radians(-9.858)
"""How far the body turns [rad]."""
MOVE = (62.8 / 2, 62.8 / 2 * tan(HEADING))
"""How far it moves [unit]: the paper's (515.8, 480.0) to (578.6, 469.1) at its scale of 2."""
LIFT = -1.0
"""Vertical joint value of a lifted leg."""
_MACHINE = Machine()
_EARLY = (0, 3)
_PICTURES = (
    ("a", ()),
    ("b", ((1, 0.5),)),
    ("c", ((1, 1.0),)),
    ("d", ((4, 0.5),)),
    ("e", ((4, 1.0),)),
    ("f", ((3, 0.0), (2, 0.0))),
    ("g", ((3, 0.5),)),
    ("h", ((3, 1.0),)),
    ("i", ((2, 0.5),)),
    ("k", ((2, 1.0),)),
)
"""Letter of each picture, and for the legs under it how much of their swing is done."""


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """One picture of Fig. 12.

    Attributes:
        letter: Its letter.
        captions: Leg, h_x, h_y and v_z as printed under it.
        body: x, y [unit] and heading [rad] of the body, shape (3,).
        joints: Joint values of all legs, x forward, shape (4, 3).
    """

    letter: str
    captions: tuple[tuple[int, float, float, float], ...]
    body: Array
    joints: Array


def printed_values(*, legacy: bool) -> Array:
    """Give h_x and h_y of legs 1 to 4 at the end or, for 2 and 3, the start of their swing.

    Args:
        legacy: As the paper printed them; else as they should be.

    Returns:
        The values, x counted backwards, shape (4, 2).
    """
    values: Array = _offsets(legacy=legacy) / _MACHINE.gain * np.array([-1.0, 1.0])
    return values


def slips() -> Array:
    """Give how far the feet of legs 1 to 4 slip in the paper's way [unit], shape (4,)."""
    return np.asarray(np.linalg.norm(_offsets(legacy=True) - _offsets(legacy=False), axis=1))


def pictures(*, legacy: bool) -> tuple[Picture, ...]:
    """Give the pictures (a) to (k).

    Args:
        legacy: As the paper printed them; else as they should be.
    """
    offsets = _offsets(legacy=legacy) / _MACHINE.gain
    shown = []
    done = np.zeros(4)
    for letter, legs in _PICTURES:
        moved = letter >= "f"
        captions = []
        lifted = np.zeros(4)
        for leg, part in legs:
            i = leg - 1
            done[i] = part
            lifted[i] = LIFT if part == 0.5 else 0.0
        joints = np.zeros((4, 3))
        for i in range(4):
            early = i in _EARLY
            # Early legs swing out and are caught up by the body, late ones are left and return.
            share = done[i] * (not moved) if early else (1 - done[i]) * moved
            joints[i, :2] = share * offsets[i]
            joints[i, 2] = lifted[i]
        for leg, _ in legs:
            x, y, v = joints[leg - 1].tolist()
            captions.append((leg, -x + 0.0, y, v))
        body = np.array([*MOVE, HEADING]) if moved else np.zeros(3)
        shown.append(Picture(letter, tuple(captions), body, joints))
    return tuple(shown)


def _offsets(*, legacy: bool) -> Array:
    """Give how far each foot is from its place at rest, in the body frame, shape (4, 2)."""
    c, s = np.cos(HEADING), np.sin(HEADING)
    R = np.array([[c, -s], [s, c]])
    t = _MACHINE.neutral_feet[:, :2]
    p = np.array(MOVE) + t @ (R - np.eye(2)).T
    late = -p if legacy else -p @ R
    return np.where(np.isin(np.arange(4), _EARLY)[:, np.newaxis], p, late)
