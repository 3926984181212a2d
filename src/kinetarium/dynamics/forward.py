"""Forward kinematics, Jacobian and manipulability of a serial chain, as Numba kernels."""

from math import cos, sin, sqrt

import numpy as np

from kinetarium.dynamics.chain import ChainArrays
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.compiled import compiled

Symmetric = tuple[float, float, float, float, float, float]
Square = tuple[float, float, float, float, float, float, float, float, float]

FLAT = 1e-15
"""Below this, relative to its size, a determinant of joint axes is only rounding."""


@compiled
def place(chain: ChainArrays, q: Array, X: Array) -> None:
    """Write the poses of all frames that the chain moves, in the base link's frame.

    Args:
        q: Joint positions [rad or m], shape (joints,).
        X: Written to: the base link's frame, the joints' and the tool's, rows [R p],
            shape (joints + 2, 3, 4).
    """
    frames, prismatic = chain.frames, chain.prismatic
    # The running pose stays in registers: rows of R and p.
    xx, xy, xz, xp = 1.0, 0.0, 0.0, 0.0
    yx, yy, yz, yp = 0.0, 1.0, 0.0, 0.0
    zx, zy, zz, zp = 0.0, 0.0, 1.0, 0.0
    for i in range(len(X)):
        if i > 0:
            F = frames[i - 1]
            xx, xy, xz, xp = _row(F, xx, xy, xz, xp)
            yx, yy, yz, yp = _row(F, yx, yy, yz, yp)
            zx, zy, zz, zp = _row(F, zx, zy, zz, zp)
        if 0 < i <= len(q):
            if prismatic[i - 1]:
                along = q[i - 1]
                xp, yp, zp = xp + along * xz, yp + along * yz, zp + along * zz
            else:
                c, s = cos(q[i - 1]), sin(q[i - 1])
                xx, xy = c * xx + s * xy, c * xy - s * xx
                yx, yy = c * yx + s * yy, c * yy - s * yx
                zx, zy = c * zx + s * zy, c * zy - s * zx
        X[i, 0, 0], X[i, 0, 1], X[i, 0, 2], X[i, 0, 3] = xx, xy, xz, xp
        X[i, 1, 0], X[i, 1, 1], X[i, 1, 2], X[i, 1, 3] = yx, yy, yz, yp
        X[i, 2, 0], X[i, 2, 1], X[i, 2, 2], X[i, 2, 3] = zx, zy, zz, zp


@compiled
def _row(F: Array, x: float, y: float, z: float, p: float) -> tuple[float, float, float, float]:
    """Return one row of the product of a pose, whose row is given, with a frame."""
    return (
        x * F[0, 0] + y * F[1, 0] + z * F[2, 0],
        x * F[0, 1] + y * F[1, 1] + z * F[2, 1],
        x * F[0, 2] + y * F[1, 2] + z * F[2, 2],
        x * F[0, 3] + y * F[1, 3] + z * F[2, 3] + p,
    )


@compiled
def differentiate(chain: ChainArrays, X: Array, J: Array) -> None:
    """Write the Jacobian of the tool: its twist [v; w] in base axes at its origin, per rate.

    Args:
        X: The poses that `place` wrote, shape (joints + 2, 3, 4).
        J: Written to, shape (6, joints).
    """
    count = len(X) - 2
    px, py, pz = X[count + 1, 0, 3], X[count + 1, 1, 3], X[count + 1, 2, 3]
    for i in range(count):
        F = X[i + 1]
        ax, ay, az = F[0, 2], F[1, 2], F[2, 2]
        if chain.prismatic[i]:
            J[0, i], J[1, i], J[2, i] = ax, ay, az
            J[3, i], J[4, i], J[5, i] = 0.0, 0.0, 0.0
        else:
            rx, ry, rz = px - F[0, 3], py - F[1, 3], pz - F[2, 3]
            J[0, i], J[1, i], J[2, i] = ay * rz - az * ry, az * rx - ax * rz, ax * ry - ay * rx
            J[3, i], J[4, i], J[5, i] = ax, ay, az


@compiled
def gram(J: Array) -> tuple[Symmetric, Square, Symmetric]:
    """Return J J' = [P Q; Q' S] of a Jacobian, shape (6, joints), as scalars.

    Returns:
        P, Q and S row by row; of P and S, which are symmetric, the upper half.
    """
    p0 = p1 = p2 = p3 = p4 = p5 = 0.0
    q0 = q1 = q2 = q3 = q4 = q5 = q6 = q7 = q8 = 0.0
    s0 = s1 = s2 = s3 = s4 = s5 = 0.0
    for k in range(J.shape[1]):
        a, b, c, d, e, f = J[0, k], J[1, k], J[2, k], J[3, k], J[4, k], J[5, k]
        p0, p1, p2, p3, p4, p5 = (
            p0 + a * a, p1 + a * b, p2 + a * c, p3 + b * b, p4 + b * c, p5 + c * c
        )  # fmt: skip
        q0, q1, q2 = q0 + a * d, q1 + a * e, q2 + a * f
        q3, q4, q5 = q3 + b * d, q4 + b * e, q5 + b * f
        q6, q7, q8 = q6 + c * d, q7 + c * e, q8 + c * f
        s0, s1, s2, s3, s4, s5 = (
            s0 + d * d, s1 + d * e, s2 + d * f, s3 + e * e, s4 + e * f, s5 + f * f
        )  # fmt: skip
    P, Q = (p0, p1, p2, p3, p4, p5), (q0, q1, q2, q3, q4, q5, q6, q7, q8)
    return P, Q, (s0, s1, s2, s3, s4, s5)


@compiled
def volume(J: Array) -> float:
    """Return the manipulability sqrt(det(J J')) (Yoshikawa, 1985).

    With J J' = [P Q; Q' S] it is det(S) det(P - Q S^-1 Q'), all of them 3 x 3.

    Args:
        J: The Jacobian, shape (6, joints).

    Returns:
        The manipulability [m^3 for revolute joints]; zero for fewer than six joints.
    """
    P, Q, S = gram(J)
    p0, p1, p2, p3, p4, p5 = P
    q0, q1, q2, q3, q4, q5, q6, q7, q8 = Q
    s0, s1, s2, s3, s4, s5 = S
    # The adjugate of S, which is symmetric.
    t0, t1, t2 = s3 * s5 - s4 * s4, s2 * s4 - s1 * s5, s1 * s4 - s2 * s3
    t3, t4, t5 = s0 * s5 - s2 * s2, s1 * s2 - s0 * s4, s0 * s3 - s1 * s1
    turning = s0 * t0 + s1 * t1 + s2 * t2
    if turning <= FLAT * (s0 + s3 + s5) ** 3:
        return 0.0
    scale = 1.0 / turning
    # Rows of Q S^-1, then the Schur complement P - Q S^-1 Q'.
    u0, u1, u2 = _times(q0, q1, q2, t0, t1, t2, t3, t4, t5, scale)
    v0, v1, v2 = _times(q3, q4, q5, t0, t1, t2, t3, t4, t5, scale)
    w0, w1, w2 = _times(q6, q7, q8, t0, t1, t2, t3, t4, t5, scale)
    p0, p1, p2 = (
        p0 - (u0 * q0 + u1 * q1 + u2 * q2),
        p1 - (u0 * q3 + u1 * q4 + u2 * q5),
        p2 - (u0 * q6 + u1 * q7 + u2 * q8),
    )
    p3, p4 = p3 - (v0 * q3 + v1 * q4 + v2 * q5), p4 - (v0 * q6 + v1 * q7 + v2 * q8)
    p5 -= w0 * q6 + w1 * q7 + w2 * q8
    moving = p0 * (p3 * p5 - p4 * p4) + p1 * (p2 * p4 - p1 * p5) + p2 * (p1 * p4 - p2 * p3)
    return sqrt(max(turning * moving, 0.0))


@compiled
def _times(
    a: float,
    b: float,
    c: float,
    t0: float,
    t1: float,
    t2: float,
    t3: float,
    t4: float,
    t5: float,
    scale: float,
) -> tuple[float, float, float]:
    """Multiply a row with a symmetric matrix and a scale."""
    return (
        scale * (a * t0 + b * t1 + c * t2),
        scale * (a * t1 + b * t3 + c * t4),
        scale * (a * t2 + b * t4 + c * t5),
    )


@compiled
def poses(chain: ChainArrays, q: Array) -> Array:
    """Return the pose X_BT of the tool for many configurations.

    Args:
        q: Joint positions [rad or m], shape (n, joints).

    Returns:
        The poses in the base link's frame, shape (n, 4, 4).
    """
    count = q.shape[1]
    X = np.empty((count + 2, 3, 4))
    result = np.zeros((len(q), 4, 4))
    for n in range(len(q)):
        place(chain, q[n], X)
        result[n, :3] = X[count + 1]
        result[n, 3, 3] = 1.0
    return result
