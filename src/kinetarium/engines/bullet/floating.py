"""Floating: a base that flies freely, between its own frame and Bullet's.

Bullet knows a body by its inertial frame I, at the centre of mass along the
principal axes; here L is the frame of the root link or body. The conversion
runs at every step and for one body at a time, where plain numbers are several
times faster than arrays.
"""

from collections.abc import Sequence

from kinetarium.engines.bullet.library import BulletClient
from kinetarium.engines.bullet.multibody import Multibody
from kinetarium.engines.bullet.transforms import position, quaternion_xyzw
from kinetarium.spatial.rotation import inverse_pose

Numbers = Sequence[float]


class Floating:
    """Reads and sets the pose and twist of one free base."""

    def __init__(self, bullet: BulletClient, multibody: Multibody) -> None:
        """Choose a robot or body.

        Args:
            bullet: The world.
            multibody: The robot or body.
        """
        self._bullet, self._id = bullet, multibody.id
        X_LI = multibody.X_LI[0]
        X_IL = inverse_pose(X_LI)
        self._p_IL, self._q_IL = position(X_IL), quaternion_xyzw(X_IL)
        self._p_LI, self._q_LI = position(X_LI), quaternion_xyzw(X_LI)
        self._shifted, self._turned = any(self._p_LI), self._q_LI[3] != 1.0
        self._read_pose = bullet.bare("getBasePositionAndOrientation")
        self._read_twist = bullet.bare("getBaseVelocity")
        self._number = bullet.number

    def read(self) -> tuple[Numbers, Numbers]:
        """Give position and quaternion wxyz, and the twist [v; w], of L."""
        p, q = self._read_pose(self._id, self._number)
        v, w = self._read_twist(self._id, self._number)
        if self._shifted:
            p, v = _moved(p, v, w, _turn(q, self._p_IL))
        if self._turned:
            q = _product(q, self._q_IL)
        return (*p, q[3], *q[:3]), (*v, *w)

    def write(self, placed: Numbers, twist: Numbers) -> None:
        """Set position and unit quaternion wxyz, and the twist [v; w], of L."""
        p, v, w = placed[:3], twist[:3], twist[3:]
        q: Numbers = (*placed[4:], placed[3])
        if self._shifted:
            p, v = _moved(p, v, w, _turn(q, self._p_LI))
        if self._turned:
            q = _product(q, self._q_LI)
        self._bullet.resetBasePositionAndOrientation(self._id, p, q)
        self._bullet.resetBaseVelocity(self._id, v, w)


def _turn(q: Numbers, r: Numbers) -> Numbers:
    """Turn a vector by a quaternion xyzw: r + 2 w (q x r) + 2 q x (q x r)."""
    x, y, z, w = q
    rx, ry, rz = r
    tx, ty, tz = 2 * (y * rz - z * ry), 2 * (z * rx - x * rz), 2 * (x * ry - y * rx)
    return (
        rx + w * tx + y * tz - z * ty,
        ry + w * ty + z * tx - x * tz,
        rz + w * tz + x * ty - y * tx,
    )


def _moved(p: Numbers, v: Numbers, w: Numbers, r: Numbers) -> tuple[Numbers, Numbers]:
    """Give position and velocity of a body's point at a distance r."""
    (px, py, pz), (vx, vy, vz), (wx, wy, wz), (rx, ry, rz) = p, v, w, r
    return (
        (px + rx, py + ry, pz + rz),
        (vx + wy * rz - wz * ry, vy + wz * rx - wx * rz, vz + wx * ry - wy * rx),
    )


def _product(a: Numbers, b: Numbers) -> Numbers:
    """Multiply quaternions xyzw."""
    (ax, ay, az, aw), (bx, by, bz, bw) = a, b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )
