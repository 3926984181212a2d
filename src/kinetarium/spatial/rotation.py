"""Angles, and rotation matrices from and to the notations of robot files."""

from collections.abc import Sequence
from math import atan2, cos, hypot, pi, sin
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.spatial.arrays import Array

Angle = TypeVar("Angle", float, Array)


def wrapped(angle: Angle) -> Angle:
    """Return an angle, or each of an array, from -pi to pi [rad]; pi itself becomes -pi."""
    return (angle + pi) % (2 * pi) - pi


def rotation_from_rpy(rpy: ArrayLike) -> Array:
    """Rotate about the fixed axes x, y, z in turn: R = Rz(yaw) Ry(pitch) Rx(roll).

    Args:
        rpy: Roll, pitch and yaw [rad], as in URDF.

    Returns:
        The rotation matrix, shape (3, 3).
    """
    return np.array(_rows_from_rpy(*np.asarray(rpy, dtype=np.float64).tolist()))


def _rows_from_rpy(roll: float, pitch: float, yaw: float) -> tuple[tuple[float, ...], ...]:
    cr, sr, cp, sp, cy, sy = cos(roll), sin(roll), cos(pitch), sin(pitch), cos(yaw), sin(yaw)
    return (
        (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
        (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
        (-sp, cp * sr, cp * cr),
    )


def rpy_from_rotation(R: Array) -> Array:
    """Return roll, pitch and yaw [rad] of a rotation matrix, shape (3,).

    Roll is read after yaw has been taken out of R, so that the three angles
    reproduce R to rounding even where yaw alone is ill-defined (pitch near
    pi/2, which is frequent in robot files).
    """
    yaw = atan2(R[1, 0], R[0, 0]) if hypot(R[0, 0], R[1, 0]) > 1e-15 else 0.0
    cy, sy = cos(yaw), sin(yaw)
    roll = atan2(sy * R[0, 2] - cy * R[1, 2], cy * R[1, 1] - sy * R[0, 1])
    pitch = atan2(-R[2, 0], cy * R[0, 0] + sy * R[1, 0])
    return np.array([roll, pitch, yaw])


def rotation_from_quaternion(quaternion: ArrayLike) -> Array:
    """Return the rotation matrix, shape (3, 3), of a quaternion wxyz of any non-zero length."""
    w, x, y, z = _unit(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion_from_rotation(R: Array) -> Array:
    """Return the unit quaternions wxyz, shape (..., 4), w >= 0, of rotations, shape (..., 3, 3).

    The products 4 q q^T are linear in R; the row of the largest component is
    taken and normalised (Shepperd, "Quaternion from rotation matrix", 1978),
    so that no angle loses digits.
    """
    (a, d, g), (b, e, h), (c, f, i) = R.T
    products = np.array(
        [
            [1 + a + e + i, h - f, c - g, d - b],
            [h - f, 1 + a - e - i, b + d, c + g],
            [c - g, b + d, 1 - a + e - i, f + h],
            [d - b, c + g, f + h, 1 - a - e + i],
        ]
    )
    products = products.T.reshape(-1, 4, 4)
    largest = np.argmax(np.diagonal(products, axis1=1, axis2=2), axis=-1)
    q = products[np.arange(len(largest)), largest]
    signed_length = np.copysign(np.sqrt(np.vecdot(q, q)), q[:, 0])
    return np.asarray(q / signed_length[:, np.newaxis]).reshape(*R.shape[:-2], 4)


def continuous(rows: Array) -> Array:
    """Choose the sign of each quaternion so that it is nearest to the previous one.

    Args:
        rows: Poses [x y z, wxyz], shape (n, 7).

    Returns:
        The same poses; columns can now be interpolated.
    """
    flips = np.vecdot(rows[1:, 3:], rows[:-1, 3:]) < 0
    signs = np.where(np.cumsum(flips) % 2, -1.0, 1.0)
    turned = rows.copy()
    turned[1:, 3:] *= signs[:, None]
    return turned


def rotation_about(axis: ArrayLike, angle: float) -> Array:
    """Rotate by an angle [rad] about a unit axis (Rodrigues), shape (3, 3)."""
    x, y, z = np.asarray(axis, dtype=np.float64)
    c, s = cos(angle), sin(angle)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    # 1 - cos written so that a small angle keeps its digits off the diagonal.
    versine = 2 * sin(angle / 2) ** 2
    return c * np.eye(3) + s * cross + versine * np.outer((x, y, z), (x, y, z))


def rotation_onto(direction: ArrayLike) -> Array:
    """Return the shortest rotation, shape (3, 3), that turns z onto a direction of any length.

    For -z, where every half turn is as short, it is the half turn about x.
    """
    x, y, z = _unit(direction)
    # 1 + z without cancellation on the far side, where x^2 + y^2 + z^2 = 1 gives it.
    w = 1 + z if z > 0 else (x * x + y * y) / (1 - z)
    return rotation_from_quaternion((w, -y, x, 0.0) if x or y or w else (0.0, 1.0, 0.0, 0.0))


def pose(position: ArrayLike = (0.0, 0.0, 0.0), rotation: ArrayLike | None = None) -> Array:
    """Return the homogeneous transform, shape (4, 4), of a position [m] and a rotation matrix."""
    X = np.eye(4)
    X[:3, 3] = position
    if rotation is not None:
        X[:3, :3] = rotation
    return X


def pose_from_rpy(position: Sequence[float], rpy: Sequence[float]) -> Array:
    """Return the homogeneous transform, shape (4, 4), of a position [m] and angles [rad].

    The same as `pose(position, rotation_from_rpy(rpy))` in a quarter of its time: robot files
    have hundreds of them.
    """
    (x, y, z), (r_x, r_y, r_z) = position, _rows_from_rpy(*rpy)
    return np.array(((*r_x, x), (*r_y, y), (*r_z, z), (0.0, 0.0, 0.0, 1.0)))


def inverse_pose(X: ArrayLike) -> Array:
    """Invert homogeneous transforms, shape (..., 4, 4), by their structure."""
    X = np.asarray(X, dtype=np.float64)
    inverse = X.copy()
    inverse[..., :3, :3] = X[..., :3, :3].mT
    inverse[..., :3, 3:] = -inverse[..., :3, :3] @ X[..., :3, 3:]
    return inverse


def _unit(vector: ArrayLike) -> Array:
    """Normalise a vector whose squares may overflow or underflow."""
    whole = np.asarray(vector, dtype=np.float64)
    scaled = whole / np.abs(whole).max()
    return np.asarray(scaled / np.linalg.norm(scaled))
