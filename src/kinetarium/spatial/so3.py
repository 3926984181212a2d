"""SO(3): rotations and rotation vectors, to rounding accuracy at every angle.

Every function broadcasts over leading dimensions. Formulas: A. Iserles et al.,
"Lie-group methods", Acta Numerica 9 (2000), appendix B; the sums over k are
closed by the coefficients of kinetarium.spatial.coefficients.

Large batches of exp and log are computed by kernels. The references in NumPy differ
from them by rounding; they are for callers to which loading Numba costs more.
"""

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.spatial import coefficients
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import quaternion_from_rotation

__all__ = ["dexp", "dexp_inv", "exp", "hat", "log", "vee"]

MANY = 100
"""Elements of a batch from which on a kernel computes it."""

_IDENTITY = frozen(np.eye(3))

# The infinitesimal rotations about x, y and z, one flattened matrix to a row.
_GENERATORS = frozen(
    [
        [0, 0, 0, 0, 0, -1, 0, 1, 0],
        [0, 0, 1, 0, 0, 0, -1, 0, 0],
        [0, -1, 0, 1, 0, 0, 0, 0, 0],
    ]
)


def hat(w: ArrayLike) -> Array:
    """Return the matrices of the cross product with w.

    Args:
        w: Vectors, shape (..., 3).

    Returns:
        Skew-symmetric matrices W with W @ u = w x u, shape (..., 3, 3).
    """
    w = np.asarray(w, dtype=np.float64)
    return (w @ _GENERATORS).reshape(*w.shape[:-1], 3, 3)


def vee(W: ArrayLike) -> Array:
    """Return the vectors, shape (..., 3), of skew-symmetric matrices, shape (..., 3, 3)."""
    return np.asarray(W, dtype=np.float64)[..., (2, 0, 1), (1, 2, 0)]


def exp(w: ArrayLike) -> Array:
    """Rotate by the angle |w| about w (Rodrigues).

    Args:
        w: Rotation vectors [rad], shape (..., 3).

    Returns:
        Rotation matrices, shape (..., 3, 3).
    """
    w = np.asarray(w, dtype=np.float64)
    if w.size < 3 * MANY:
        return exp_reference(w)
    from kinetarium.spatial.kernels import exp_rotations

    return exp_rotations(rows(w, 3)).reshape(*w.shape, 3)


def exp_reference(w: Array) -> Array:
    """Compute exp in NumPy."""
    x = np.vecdot(w, w)
    return _quadratic(w, linear=coefficients.sine(x), square=coefficients.versine(x))


def log(R: ArrayLike) -> Array:
    """Return the rotation vectors [rad], shape (..., 3), of rotations, shape (..., 3, 3).

    The angle is at most pi. It is read from the quaternion, which turns by half
    the angle and so stays regular at pi, where the skew part of R vanishes.
    There both signs of the axis are valid, and either may be returned.
    """
    R = np.asarray(R, dtype=np.float64)
    if R.size < 9 * MANY:
        return log_reference(R)
    from kinetarium.spatial.kernels import log_rotations

    return log_rotations(rows(R, 3, 3)).reshape(R.shape[:-1])


def log_reference(R: Array) -> Array:
    """Compute log in NumPy."""
    q = quaternion_from_rotation(R)
    axis = q[..., 1:]
    half_sine = np.sqrt(np.vecdot(axis, axis))
    turned = half_sine > 0
    angle = 2 * np.arctan2(half_sine, q[..., 0])
    stretch = np.where(turned, angle / np.where(turned, half_sine, 1.0), 2.0)
    return stretch[..., np.newaxis] * axis


def rows(values: Array, *shape: int) -> Array:
    """Return elements of a shape one after the other, as kernels take them, shape (n, *shape)."""
    return np.ascontiguousarray(values).reshape(-1, *shape)


def dexp(w: ArrayLike) -> Array:
    """Return the derivative of exp in fixed axes: d exp(w) = hat(dexp(w) dw) exp(w).

    It is the sum of hat(w)^k/(k + 1)!; in body axes the derivative is dexp(-w).

    Args:
        w: Rotation vectors [rad], shape (..., 3).

    Returns:
        Matrices, shape (..., 3, 3).
    """
    w = np.asarray(w, dtype=np.float64)
    x = np.vecdot(w, w)
    return _quadratic(w, linear=coefficients.versine(x), square=coefficients.remainder(x))


def dexp_inv(w: ArrayLike) -> Array:
    """Return the inverse of dexp, shape (..., 3, 3); it grows without bound towards |w| = 2 pi."""
    w = np.asarray(w, dtype=np.float64)
    return _quadratic(w, linear=-0.5, square=coefficients.cotangent(np.vecdot(w, w)))


def _quadratic(w: Array, *, linear: ArrayLike, square: Array) -> Array:
    """Return I + linear W + square W^2 with W = hat(w)."""
    W = hat(w)
    return _IDENTITY + _spread(linear) * W + _spread(square) * (W @ W)


def _spread(factors: ArrayLike) -> Array:
    """Shape factors (...) as (..., 1, 1), to multiply matrices."""
    return np.asarray(factors)[..., np.newaxis, np.newaxis]
