"""The edge between Kinetarium's free-base coordinates and Pinocchio's.

Kinetarium writes the base as position, quaternion wxyz and the twist [v; w] of
the base origin in world axes; Pinocchio as position, quaternion xyzw and the
same twist in body axes. With B = diag(R_WB, R_WB) and T = diag(B', 1):

    v_pin = T v,  tau = T' tau_pin,  J = J_pin T,  M = T' M_pin T
"""

from math import sqrt

import numpy as np

from kinetarium.errors import KinetariumError
from kinetarium.spatial.arrays import Array


def to_pinocchio(q: Array) -> tuple[Array, Array]:
    """Give Pinocchio's configuration, with a unit quaternion, and B, shape (6, 6).

    Raises:
        KinetariumError: If the quaternion of the base is zero.
    """
    # Plain numbers: small arrays would take several times as long.
    w, x, y, z = q[3:7].tolist()
    length = sqrt(w * w + x * x + y * y + z * z)
    if length == 0.0:
        raise KinetariumError("the quaternion of the base is zero; a unit quaternion is needed")
    w, x, y, z = w / length, x / length, y / length, z / length
    q_pin = q.copy()
    q_pin[3:7] = x, y, z, w
    B = np.zeros((6, 6))
    B[:3, :3] = B[3:, 3:] = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return q_pin, B


def rotate_base(A: Array, B: Array) -> Array:
    """Turn the first six rows of a vector or matrix by B, in place; give it back."""
    A[:6] = B @ A[:6]
    return A


def rotate_base_both(M: Array, B: Array) -> Array:
    """Turn the first six rows and columns of a square matrix, T' M T, in place; give it back."""
    rotate_base(M, B)
    rotate_base(M.T, B)
    return M


def transport(v: Array) -> Array:
    """Give w x v of the base, shape (3,).

    It is what the acceleration of the base loses when its coordinates turn
    with the body: a_pin = R' (a - w x v).
    """
    vx, vy, vz, wx, wy, wz = v[:6].tolist()
    return np.array([wy * vz - wz * vy, wz * vx - wx * vz, wx * vy - wy * vx])
