"""SO(3) and SE(3) as Numba kernels: single poses in microseconds, and many in one call.

A control tick needs a handful of logarithms and adjoints of single poses, for which the
broadcasting functions of `spatial` cost more than the rest of the tick. For many elements, series
are summed in loops without branches, of which the compiler does several elements at a time, and
replaced by the closed forms where the angle is large. Series and closed forms are those of
`spatial.coefficients`, which `so3` and `se3` use in NumPy; the tests compare the two.
"""

from math import atan2, copysign, cos, pi, sin, sqrt

import numpy as np

from kinetarium.spatial.arrays import Array
from kinetarium.spatial.coefficients import COTANGENT, REMAINDER, SINE, SWITCH, VERSINE
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


Matrix = tuple[Vector, Vector, Vector]

EXP_SWITCH = 4.0
"""Square of the angle [rad^2] below which the series of exp serve; at two radians their twelve
terms still reach rounding accuracy, unlike those of the cotangent."""
TAN_PI_8 = sqrt(2) - 1
ARCTANGENT = tuple((-1) ** k / (2 * k + 1) for k in range(21))
"""Series of atan(z)/z in z^2, which reaches rounding accuracy up to tan(pi/8)."""


@compiled
def exp_rotations(w: Array) -> Array:
    """Return the rotations, shape (n, 3, 3), of rotation vectors [rad], shape (n, 3)."""
    a, b, _ = _coefficients(w, 0)
    R = np.empty((len(w), 3, 3))
    for n in range(len(w)):
        _write(R, n, _rotation((w[n, 0], w[n, 1], w[n, 2]), a[n], b[n]))
    return R


@compiled
def exp_poses(V: Array) -> Array:
    """Return the poses, shape (n, 4, 4), that twists [v; w] [m, rad], shape (n, 6), lead to."""
    a, b, c = _coefficients(V, 3)
    X = np.empty((len(V), 4, 4))
    for n in range(len(V)):
        v, w = (V[n, 0], V[n, 1], V[n, 2]), (V[n, 3], V[n, 4], V[n, 5])
        _write(X, n, _rotation(w, a[n], b[n]))
        across, along = cross(w, v), c[n] * dot(w, v)
        for i in range(3):
            X[n, i, 3] = a[n] * v[i] + b[n] * across[i] + along * w[i]
            X[n, 3, i] = 0.0
        X[n, 3, 3] = 1.0
    return X


@compiled
def log_rotations(R: Array) -> Array:
    """Return the rotation vectors [rad], shape (n, 3), of rotations, shape (n, 3, 3)."""
    w = np.empty((len(R), 3))
    _turns(R, w, 0)
    return w


@compiled
def log_poses(X: Array) -> Array:
    """Return the twists [v; w] [m, rad], shape (n, 6), of poses, shape (n, 4, 4)."""
    V, x, g = np.empty((len(X), 6)), np.empty(len(X)), np.empty(len(X))
    cotangents = _turns(X, V, 3)
    for n in range(len(X)):
        w = (V[n, 3], V[n, 4], V[n, 5])
        x[n] = dot(w, w)
    for n in range(len(X)):
        g[n] = series_sum(COTANGENT, x[n])
    for n in range(len(X)):
        if x[n] >= SWITCH:
            g[n] = (1 - cotangents[n]) / x[n]
        w, p = (V[n, 3], V[n, 4], V[n, 5]), (X[n, 0, 3], X[n, 1, 3], X[n, 2, 3])
        across, along = cross(w, p), dot(w, p)
        for i in range(3):
            V[n, i] = p[i] - 0.5 * across[i] + g[n] * (w[i] * along - x[n] * p[i])
    return V


@compiled
def adjoints(X: Array) -> Array:
    """Return [[R, [p]R], [0, R]], shape (n, 6, 6), of poses, shape (n, 4, 4)."""
    A = np.empty((len(X), 6, 6))
    for n in range(len(X)):
        p = (X[n, 0, 3], X[n, 1, 3], X[n, 2, 3])
        for k in range(3):
            column = (X[n, 0, k], X[n, 1, k], X[n, 2, k])
            moment = cross(p, column)
            for i in range(3):
                A[n, i, k] = A[n, 3 + i, 3 + k] = column[i]
                A[n, i, 3 + k] = moment[i]
                A[n, 3 + i, k] = 0.0
    return A


@compiled
def inverses(X: Array) -> Array:
    """Return the inverses of poses, shape (n, 4, 4), by their structure."""
    Y = np.empty((len(X), 4, 4))
    for n in range(len(X)):
        p = (X[n, 0, 3], X[n, 1, 3], X[n, 2, 3])
        for i in range(3):
            row = (X[n, 0, i], X[n, 1, i], X[n, 2, i])
            Y[n, i, 0], Y[n, i, 1], Y[n, i, 2] = row
            Y[n, i, 3] = -dot(row, p)
            Y[n, 3, i] = 0.0
        Y[n, 3, 3] = 1.0
    return Y


@compiled
def _coefficients(V: Array, first: int) -> tuple[Array, Array, Array]:
    """Return sin(t)/t, (1 - cos(t))/t^2 and (t - sin(t))/t^3 of vectors, each of shape (n,).

    Args:
        V: Rows that hold rotation vectors [rad], shape (n, k).
        first: Column of their first component.
    """
    x = np.empty(len(V))
    for n in range(len(V)):
        w = (V[n, first], V[n, first + 1], V[n, first + 2])
        x[n] = dot(w, w)
    a, b, c = np.empty(len(x)), np.empty(len(x)), np.empty(len(x))
    for n in range(len(x)):
        a[n], b[n], c[n] = (
            series_sum(SINE, x[n]),
            series_sum(VERSINE, x[n]),
            series_sum(REMAINDER, x[n]),
        )
    for n in range(len(x)):
        if x[n] >= EXP_SWITCH:
            t = sqrt(x[n])
            s, k = sin(t / 2), cos(t / 2)
            a[n], b[n], c[n] = 2 * s * k / t, 2 * s * s / x[n], (t - 2 * s * k) / (t * x[n])
    return a, b, c


@compiled
def _rotation(w: Vector, a: float, b: float) -> Matrix:
    """Return I + a W + b W^2 with W the matrix of the cross product with w."""
    x, y, z = w
    xy, xz, yz = b * x * y, b * x * z, b * y * z
    return (
        (1 - b * (y * y + z * z), xy - a * z, xz + a * y),
        (xy + a * z, 1 - b * (x * x + z * z), yz - a * x),
        (xz - a * y, yz + a * x, 1 - b * (x * x + y * y)),
    )


@compiled
def _write(X: Array, n: int, R: Matrix) -> None:
    for i in range(3):
        X[n, i, 0], X[n, i, 1], X[n, i, 2] = R[i]


@compiled
def _turns(X: Array, V: Array, first: int) -> Array:
    """Write the rotation vectors w [rad] of rotations; return (t/2) cot(t/2) of their angles t.

    Args:
        X: Rotations or poses, shape (n, k, k).
        V: Rows to be written to, shape (n, m).
        first: Column of the first component of w.
    """
    count = len(X)
    sines, cosines, z, arcs = np.empty(count), np.empty(count), np.empty(count), np.empty(count)
    for n in range(count):
        cosine, axis = _scaled_quaternion(X, n)
        V[n, first], V[n, first + 1], V[n, first + 2] = axis
        sines[n], cosines[n] = sqrt(dot(axis, axis)), cosine
        # The tangent of half the angle, or of how far that is from the nearest of 0, pi/4, pi/2.
        low, high = min(sines[n], abs(cosine)), max(sines[n], abs(cosine))
        z[n] = (low - high) / (low + high) if low > TAN_PI_8 * high else low / high
    for n in range(count):
        arcs[n] = z[n] * series_sum(ARCTANGENT, z[n] * z[n])
    for n in range(count):
        sine, cosine = sines[n], abs(cosines[n])
        steep = min(sine, cosine) > TAN_PI_8 * max(sine, cosine)
        half = arcs[n] + pi / 4 if steep else arcs[n]
        half = pi / 2 - half if sine > cosine else half
        # Angles whose squares vanish are their own sines.
        stretch = half / sine if sine > 0.0 else 1 / cosine
        arcs[n] = stretch * cosine
        for i in range(first, first + 3):
            V[n, i] *= copysign(2 * stretch, cosines[n])
    return arcs


@compiled
def _scaled_quaternion(X: Array, n: int) -> tuple[float, Vector]:
    """Return the two parts of a multiple of the quaternion of a rotation.

    They are a row of its products, as in `rotation.quaternion_from_rotation`; its length is
    not needed where only ratios count.
    """
    a, e, i = X[n, 0, 0], X[n, 1, 1], X[n, 2, 2]
    squares = (1 + a + e + i, 1 + a - e - i, 1 - a + e - i, 1 - a - e + i)
    x, y, z = X[n, 2, 1] - X[n, 1, 2], X[n, 0, 2] - X[n, 2, 0], X[n, 1, 0] - X[n, 0, 1]
    xy, xz, yz = X[n, 0, 1] + X[n, 1, 0], X[n, 0, 2] + X[n, 2, 0], X[n, 1, 2] + X[n, 2, 1]
    largest, cosine, axis = squares[0], squares[0], (x, y, z)
    if squares[1] > largest:
        largest, cosine, axis = squares[1], x, (squares[1], xy, xz)
    if squares[2] > largest:
        largest, cosine, axis = squares[2], y, (xy, squares[2], yz)
    if squares[3] > largest:
        cosine, axis = z, (xz, yz, squares[3])
    return cosine, axis
