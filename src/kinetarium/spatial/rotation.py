"""Rotation matrices from and to the notations of robot files."""

from math import atan2, cos, hypot, sin

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.spatial.arrays import Array


def rotation_from_rpy(rpy: ArrayLike) -> Array:
    """Rotate about the fixed axes x, y, z in turn: R = Rz(yaw) Ry(pitch) Rx(roll).

    Args:
        rpy: Roll, pitch and yaw [rad], as in URDF.

    Returns:
        The rotation matrix, shape (3, 3).
    """
    roll, pitch, yaw = np.asarray(rpy, dtype=np.float64)
    cr, sr, cp, sp, cy, sy = cos(roll), sin(roll), cos(pitch), sin(pitch), cos(yaw), sin(yaw)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def rpy_from_rotation(R: Array) -> Array:
    """Give roll, pitch and yaw [rad] of a rotation matrix, shape (3,).

    Roll is read after yaw has been taken out of R, so that the three angles
    give R back to rounding even where yaw alone is ill defined (pitch near
    pi/2, where robot files like to be).
    """
    yaw = atan2(R[1, 0], R[0, 0]) if hypot(R[0, 0], R[1, 0]) > 1e-14 else 0.0
    cy, sy = cos(yaw), sin(yaw)
    roll = atan2(sy * R[0, 2] - cy * R[1, 2], cy * R[1, 1] - sy * R[0, 1])
    pitch = atan2(-R[2, 0], cy * R[0, 0] + sy * R[1, 0])
    return np.array([roll, pitch, yaw])


def rotation_from_quaternion(quaternion: ArrayLike) -> Array:
    """Give the rotation matrix, shape (3, 3), of a quaternion wxyz of any non-zero length."""
    w, x, y, z = np.asarray(quaternion, dtype=np.float64) / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion_from_rotation(R: Array) -> Array:
    """Give the unit quaternion wxyz, shape (4,), with w >= 0, of a rotation matrix.

    Divides by the largest of the four components (Shepperd, "Quaternion from
    rotation matrix", 1978), so that no angle loses digits.
    """
    trace = R[0, 0] + R[1, 1] + R[2, 2]
    squares = np.array([trace, R[0, 0], R[1, 1], R[2, 2]])
    largest = int(np.argmax(squares))
    if largest == 0:
        q = np.array([1 + trace, R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    else:
        i = largest - 1
        j, k = (i + 1) % 3, (i + 2) % 3
        q = np.empty(4)
        q[0] = R[k, j] - R[j, k]
        q[1 + i] = 1 + R[i, i] - R[j, j] - R[k, k]
        q[1 + j] = R[j, i] + R[i, j]
        q[1 + k] = R[k, i] + R[i, k]
    q /= np.linalg.norm(q)
    return -q if q[0] < 0 else q


def rotation_about(axis: ArrayLike, angle: float) -> Array:
    """Rotate by an angle [rad] about a unit axis (Rodrigues), shape (3, 3)."""
    x, y, z = np.asarray(axis, dtype=np.float64)
    c, s = cos(angle), sin(angle)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return c * np.eye(3) + s * cross + (1 - c) * np.outer((x, y, z), (x, y, z))


def rotation_onto(direction: ArrayLike) -> Array:
    """Give a rotation, shape (3, 3), that turns the z axis onto a direction of any length."""
    z = np.asarray(direction, dtype=np.float64) / np.linalg.norm(direction)
    # Any axis not parallel to z completes the frame; the least aligned is safest.
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def pose(position: ArrayLike = (0.0, 0.0, 0.0), rotation: ArrayLike | None = None) -> Array:
    """Give the homogeneous transform, shape (4, 4), of a position [m] and a rotation matrix."""
    X = np.eye(4)
    X[:3, 3] = position
    if rotation is not None:
        X[:3, :3] = rotation
    return X


def inverse_pose(X: Array) -> Array:
    """Invert a homogeneous transform, shape (4, 4), by its structure."""
    inverse = np.eye(4)
    inverse[:3, :3] = X[:3, :3].T
    inverse[:3, 3] = -X[:3, :3].T @ X[:3, 3]
    return inverse
