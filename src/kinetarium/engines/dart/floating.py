"""Floating: a root that flies freely, between its own frame and DART's.

DART has the frame C at the centre of mass, along the axes of the root link or
body B; its coordinates are the rotation vector and position, and [w; v] in
world axes, of C. The conversion runs at every step and for one root at a
time, where plain numbers are faster than arrays.
"""

from math import atan2, copysign, cos, hypot, nan, sin, sqrt
from typing import Any

import numpy as np

from kinetarium.spatial.arrays import Array

Numbers = tuple[float, ...]


class Floating:
    """Converts the pose and twist of one free root."""

    def __init__(self, p_BC: Array) -> None:
        """Choose the root by its centre of mass in its own frame [m], shape (3,)."""
        self._p_BC: Numbers = tuple(p_BC.tolist())
        self._shifted = any(self._p_BC)

    def read(self, q: Any, v: Any) -> tuple[Numbers, Numbers]:
        """Give position and quaternion wxyz, and the twist [v; w], of B.

        Args:
            q: DART's positions of the skeleton, the root's first.
            v: Its velocities, likewise.
        """
        x, y, z, *p = q[:6].tolist()
        wx, wy, wz, *u = v[:6].tolist()
        angle = sqrt(x * x + y * y + z * z)
        half = angle / 2
        scale = sin(half) / angle if angle > 1e-8 else 0.5
        quaternion = (cos(half), x * scale, y * scale, z * scale)
        px, py, pz = p
        ux, uy, uz = u
        if self._shifted:
            rx, ry, rz = _turn(quaternion, self._p_BC)
            px, py, pz = px - rx, py - ry, pz - rz
            ux, uy, uz = (
                ux - wy * rz + wz * ry,
                uy - wz * rx + wx * rz,
                uz - wx * ry + wy * rx,
            )
        return (px, py, pz, *quaternion), (ux, uy, uz, wx, wy, wz)

    def write(self, placed: Array, twist: Array) -> tuple[Numbers, Numbers]:
        """Give DART's positions and velocities of a position, quaternion wxyz and twist of B.

        A quaternion that is none makes positions that are none.
        """
        px, py, pz, *quaternion = placed.tolist()
        ux, uy, uz, wx, wy, wz = twist.tolist()
        length = copysign(hypot(*quaternion), quaternion[0]) or nan
        w, x, y, z = (number / length for number in quaternion)
        if self._shifted:
            rx, ry, rz = _turn((w, x, y, z), self._p_BC)
            px, py, pz = px + rx, py + ry, pz + rz
            ux, uy, uz = (
                ux + wy * rz - wz * ry,
                uy + wz * rx - wx * rz,
                uz + wx * ry - wy * rx,
            )
        sine = sqrt(x * x + y * y + z * z)
        scale = 2 * atan2(sine, w) / sine if sine > 1e-8 else 2.0 / w
        return (x * scale, y * scale, z * scale, px, py, pz), (wx, wy, wz, ux, uy, uz)

    def center_offset(self, q: Array) -> Array:
        """Give the vector from the origin of B to the centre of mass in world axes [m]."""
        (_, _, _, *quaternion), _ = self.read(q, np.zeros(6))
        return np.array(_turn(tuple(quaternion), self._p_BC))


def _turn(quaternion: Numbers, r: Numbers) -> Numbers:
    """Turn a vector by a quaternion wxyz: r + 2 w (u x r) + 2 u x (u x r)."""
    w, x, y, z = quaternion
    rx, ry, rz = r
    tx, ty, tz = 2 * (y * rz - z * ry), 2 * (z * rx - x * rz), 2 * (x * ry - y * rx)
    return (
        rx + w * tx + y * tz - z * ty,
        ry + w * ty + z * tx - x * tz,
        rz + w * tz + x * ty - y * tx,
    )
