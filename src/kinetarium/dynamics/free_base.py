"""The edge between Kinetarium's free-base coordinates and Pinocchio's.

Kinetarium writes the base as position, quaternion wxyz and the twist [v; w] of
the base origin in world axes; Pinocchio as position, quaternion xyzw and the
same twist in body axes. With T = diag(R', R', 1), R = R_WB:

    v_pin = T v,  tau = T' tau_pin,  J = J_pin T,  M = T' M_pin T
"""

import numpy as np

from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import rotation_from_quaternion


def to_pinocchio(q: Array) -> tuple[Array, Array]:
    """Give Pinocchio's configuration, with a unit quaternion, and R_WB, shape (3, 3)."""
    q_pin = q.copy()
    wxyz = q[3:7] / np.sqrt(q[3:7] @ q[3:7])
    q_pin[3:6], q_pin[6] = wxyz[1:], wxyz[0]
    return q_pin, rotation_from_quaternion(wxyz)


def rotate_base(A: Array, R: Array) -> Array:
    """Turn the linear and the angular part of the first six rows by R, in place.

    Args:
        A: A vector or matrix whose rows are velocity coordinates, shape (nv, ...).
        R: A rotation matrix, shape (3, 3).

    Returns:
        A itself.
    """
    head = A[:6]
    head[...] = (R @ head.reshape(2, 3, -1)).reshape(head.shape)
    return A


def rotate_base_both(M: Array, R: Array) -> Array:
    """Turn rows and columns of a square matrix, T' M T, in place; give M itself."""
    rotate_base(M, R)
    rotate_base(M.T, R)
    return M


def transport(v: Array) -> Array:
    """Give w x v of the base, shape (3,).

    It is what the acceleration of the base loses when its coordinates turn
    with the body: a_pin = R' (a - w x v).
    """
    (vx, vy, vz), (wx, wy, wz) = v[:3], v[3:6]
    return np.array([wy * vz - wz * vy, wz * vx - wx * vz, wx * vy - wy * vx])
