"""SE(3) for single poses, as Numba kernels: the functions of `spatial.se3` in microseconds.

A control tick needs a handful of logarithms and adjoints of single poses, for which the
broadcasting functions of `spatial` cost more than the rest of the tick. Series and closed
forms are those of `spatial.coefficients`; the tests compare the two.
"""

from math import atan2, copysign, cos, sin, sqrt

import numpy as np

from kinetarium.spatial.arrays import Array
from kinetarium.spatial.coefficients import COTANGENT, REMAINDER, SINE, VERSINE
from kinetarium.spatial.compiled import compiled


@compiled
def exp(V: Array) -> Array:
    """Move along a constant body twist [v; w] for one unit of time, shape (4, 4)."""
    x = V[3] * V[3] + V[4] * V[4] + V[5] * V[5]
    if x < 1.0:
        a, b, c = series_sum(SINE, x), series_sum(VERSINE, x), series_sum(REMAINDER, x)
    else:
        t = sqrt(x)
        a, b, c = sin(t) / t, 2 * sin(t / 2) ** 2 / x, (t - sin(t)) / (t * x)
    X = np.zeros((4, 4))
    w, v = V[3:], V[:3]
    wv = w[0] * v[0] + w[1] * v[1] + w[2] * v[2]
    diagonal = cos(sqrt(x))
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        X[i, i] = diagonal + b * w[i] * w[i]
        X[i, j] = b * w[i] * w[j] - a * w[k]
        X[i, k] = b * w[i] * w[k] + a * w[j]
        cross = w[j] * v[k] - w[k] * v[j]
        X[i, 3] = a * v[i] + b * cross + c * wv * w[i]
    X[3, 3] = 1.0
    return X


@compiled
def log(X: Array) -> Array:
    """Return the twist [v; w] [m, rad], shape (6,), whose exp is X; its angle is at most pi."""
    q = _quaternion(X)
    s = sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    t = 2 * atan2(s, q[0])
    stretch = t / s if s > 0 else 2.0
    V = np.empty(6)
    for i in range(3):
        V[3 + i] = stretch * q[1 + i]
    x = t * t
    if x < 1.0:
        g = series_sum(COTANGENT, x)
    else:
        g = (1 - t / 2 * cos(t / 2) / sin(t / 2)) / x
    # v = (I - W/2 + g W^2) p with W = hat(w) and W^2 = w w^T - t^2 I.
    w, p = V[3:], X[:3, 3]
    wp = w[0] * p[0] + w[1] * p[1] + w[2] * p[2]
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        cross = w[j] * p[k] - w[k] * p[j]
        V[i] = p[i] - 0.5 * cross + g * (w[i] * wp - x * p[i])
    return V


@compiled
def adjoint(X: Array) -> Array:
    """Return [[R, [p]R], [0, R]], shape (6, 6)."""
    A = np.zeros((6, 6))
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        for n in range(3):
            A[i, n] = A[3 + i, 3 + n] = X[i, n]
            A[i, 3 + n] = X[j, 3] * X[k, n] - X[k, 3] * X[j, n]
    return A


@compiled
def between(X_WA: Array, X_WB: Array) -> Array:
    """Return X_AB = X_WA^-1 X_WB, shape (4, 4)."""
    X = np.zeros((4, 4))
    for i in range(3):
        for n in range(4):
            for m in range(3):
                shift = X_WA[m, 3] if n == 3 else 0.0
                X[i, n] += X_WA[m, i] * (X_WB[m, n] - shift)
    X[3, 3] = 1.0
    return X


@compiled
def moved(X_WA: Array, V: Array) -> Array:
    """Return X_WA exp(V), its rotation kept orthonormal to first order, shape (4, 4)."""
    E = exp(V)
    X = np.zeros((4, 4))
    for i in range(3):
        for n in range(4):
            for m in range(3):
                X[i, n] += X_WA[i, m] * E[m, n]
        X[i, 3] += X_WA[i, 3]
    X[3, 3] = 1.0
    # One Newton step of the polar decomposition, R (3 I - R^T R)/2, removes the rounding
    # errors that accumulate over millions of steps.
    G = np.zeros((3, 3))
    for i in range(3):
        for n in range(3):
            for m in range(3):
                G[i, n] -= 0.5 * X[m, i] * X[m, n]
        G[i, i] += 1.5
    R = np.zeros((3, 3))
    for i in range(3):
        for n in range(3):
            for m in range(3):
                R[i, n] += X[i, m] * G[m, n]
    X[:3, :3] = R
    return X


@compiled
def series_sum(series: tuple[float, ...], x: float) -> float:
    """Return the sum of series[k] x^k."""
    value = 0.0
    for k in range(len(series) - 1, -1, -1):
        value = value * x + series[k]
    return value


@compiled
def _quaternion(X: Array) -> Array:
    """Return the unit quaternion wxyz of a pose, w >= 0 (Shepperd, 1978), shape (4,)."""
    a, e, i = X[0, 0], X[1, 1], X[2, 2]
    squares = (1 + a + e + i, 1 + a - e - i, 1 - a + e - i, 1 - a - e + i)
    largest = 0
    for n in range(1, 4):
        if squares[n] > squares[largest]:
            largest = n
    x, y, z = X[2, 1] - X[1, 2], X[0, 2] - X[2, 0], X[1, 0] - X[0, 1]
    xy, xz, yz = X[0, 1] + X[1, 0], X[0, 2] + X[2, 0], X[1, 2] + X[2, 1]
    q = np.empty(4)
    if largest == 0:
        q[0], q[1], q[2], q[3] = squares[0], x, y, z
    elif largest == 1:
        q[0], q[1], q[2], q[3] = x, squares[1], xy, xz
    elif largest == 2:
        q[0], q[1], q[2], q[3] = y, xy, squares[2], yz
    else:
        q[0], q[1], q[2], q[3] = z, xz, yz, squares[3]
    length = copysign(sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]), q[0])
    return q / length


Vector = tuple[float, float, float]


@compiled
def minus(a: Vector, b: Vector) -> Vector:
    """Return a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@compiled
def dot(a: Vector, b: Vector) -> float:
    """Return the scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled
def cross(a: Vector, b: Vector) -> Vector:
    """Return the vector product."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]
