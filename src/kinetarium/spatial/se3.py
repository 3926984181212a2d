"""SE(3): poses, twists [v; w] and wrenches [f; m], to rounding accuracy at every angle.

Every function broadcasts over leading dimensions. A twist V_B and a wrench F_B
are expressed in the frame B about its origin, and X_AB is the pose of B in A.
Then V_A = adjoint(X_AB) V_B and, since power does not depend on the frame,
F_B = adjoint(X_AB)^T F_A.

The matrix ad([v; w]) = [[W, V], [0, W]] multiplies like the dual number
W + eps V. A power series of it therefore has the same series of W on its
diagonal and the derivative of that series along v in its corner, which gives
dexp and its inverse from those of SO(3); equal to the closed forms of
T. Barfoot, "State Estimation for Robotics" (2017), section 7.1.

Large batches are computed by kernels, as in `so3`.
"""

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.spatial import coefficients, so3
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose

__all__ = [
    "ad",
    "adjoint",
    "dexp",
    "dexp_inv",
    "exp",
    "interpolate",
    "inverse",
    "log",
    "wrench_in_child",
    "wrench_in_parent",
]


def exp(V: ArrayLike) -> Array:
    """Move along a constant body twist for one unit of time.

    Args:
        V: Twists times that time, [v; w] [m, rad], shape (..., 6).

    Returns:
        Poses, shape (..., 4, 4).
    """
    V = np.asarray(V, dtype=np.float64)
    if V.size < 6 * so3.MANY:
        return exp_reference(V)
    from kinetarium.spatial.kernels import exp_poses

    return exp_poses(so3.rows(V, 6)).reshape(*V.shape[:-1], 4, 4)


def exp_reference(V: Array) -> Array:
    """Compute exp in NumPy."""
    v, w = V[..., :3], V[..., 3:]
    X = np.zeros((*V.shape[:-1], 4, 4))
    X[..., :3, :3] = so3.exp_reference(w)
    X[..., :3, 3] = _apply(so3.dexp(w), v)
    X[..., 3, 3] = 1.0
    return X


def log(X: ArrayLike) -> Array:
    """Return the twists [v; w] [m, rad], shape (..., 6), whose exp are the poses X.

    The angle is at most pi; at pi both signs of the axis are valid, and either
    may be returned.

    Args:
        X: Poses, shape (..., 4, 4).
    """
    X = np.asarray(X, dtype=np.float64)
    if X.size < 16 * so3.MANY:
        return log_reference(X)
    from kinetarium.spatial.kernels import log_poses

    return log_poses(so3.rows(X, 4, 4)).reshape(*X.shape[:-2], 6)


def log_reference(X: Array) -> Array:
    """Compute log in NumPy."""
    w = so3.log_reference(X[..., :3, :3])
    return np.concatenate([_apply(so3.dexp_inv(w), X[..., :3, 3]), w], axis=-1)


def adjoint(X_AB: ArrayLike) -> Array:
    """Return the matrices that express twists of B in A: [[R, [p]R], [0, R]].

    Args:
        X_AB: Poses of B in A, shape (..., 4, 4).

    Returns:
        Matrices, shape (..., 6, 6); their transposes express wrenches of A in B.
    """
    X_AB = np.asarray(X_AB, dtype=np.float64)
    if X_AB.size < 16 * so3.MANY:
        return adjoint_reference(X_AB)
    from kinetarium.spatial.kernels import adjoints

    return adjoints(so3.rows(X_AB, 4, 4)).reshape(*X_AB.shape[:-2], 6, 6)


def adjoint_reference(X_AB: Array) -> Array:
    """Compute adjoint in NumPy."""
    R = X_AB[..., :3, :3]
    return _block_triangular(R, so3.hat(X_AB[..., :3, 3]) @ R)


def inverse(X: ArrayLike) -> Array:
    """Invert poses, shape (..., 4, 4), by their structure."""
    X = np.asarray(X, dtype=np.float64)
    if X.size < 16 * so3.MANY:
        return inverse_pose(X)
    from kinetarium.spatial.kernels import inverses

    return inverses(so3.rows(X, 4, 4)).reshape(X.shape)


def ad(V: ArrayLike) -> Array:
    """Return the matrices of the Lie bracket with V, shape (..., 6, 6): [[[w], [v]], [0, [w]]].

    Args:
        V: Twists [v; w], shape (..., 6).
    """
    V = np.asarray(V, dtype=np.float64)
    return _block_triangular(so3.hat(V[..., 3:]), so3.hat(V[..., :3]))


def dexp(V: ArrayLike) -> Array:
    """Return the derivative of exp: exp(V + dV) = exp(dexp(V) dV) exp(V) to first order.

    It is the sum of ad(V)^k/(k + 1)!. With the small motion on the right of
    exp(V), as for body twists, the derivative is dexp(-V).

    Args:
        V: Twists [v; w] [m, rad], shape (..., 6).

    Returns:
        Matrices, shape (..., 6, 6).
    """
    V = np.asarray(V, dtype=np.float64)
    v, w = V[..., :3], V[..., 3:]
    v_hat, w_hat = so3.hat(v), so3.hat(w)
    x, slope = np.vecdot(w, w), np.vecdot(w, v)
    corner = (
        _spread(coefficients.versine(x)) * v_hat
        + _spread(coefficients.remainder(x)) * (w_hat @ v_hat + v_hat @ w_hat)
        + _spread(slope * coefficients.versine_slope(x)) * w_hat
        + _spread(slope * coefficients.remainder_slope(x)) * (w_hat @ w_hat)
    )
    return _block_triangular(so3.dexp(w), corner)


def dexp_inv(V: ArrayLike) -> Array:
    """Return the inverse of dexp, shape (..., 6, 6); it grows without bound towards |w| = 2 pi.

    Args:
        V: Twists [v; w] [m, rad], shape (..., 6).
    """
    V = np.asarray(V, dtype=np.float64)
    v, w = V[..., :3], V[..., 3:]
    v_hat, w_hat = so3.hat(v), so3.hat(w)
    x, slope = np.vecdot(w, w), np.vecdot(w, v)
    corner = (
        -0.5 * v_hat
        + _spread(coefficients.cotangent(x)) * (w_hat @ v_hat + v_hat @ w_hat)
        + _spread(slope * coefficients.cotangent_slope(x)) * (w_hat @ w_hat)
    )
    return _block_triangular(so3.dexp_inv(w), corner)


def wrench_in_child(X_AB: ArrayLike, F_A: ArrayLike) -> Array:
    """Express wrenches of A in B: F_B = adjoint(X_AB)^T F_A.

    Args:
        X_AB: Poses of B in A, shape (..., 4, 4).
        F_A: Wrenches [f; m] [N, N m] in A about the origin of A, shape (..., 6).

    Returns:
        The same wrenches in B about the origin of B, shape (..., 6).
    """
    return _apply(adjoint(X_AB).mT, np.asarray(F_A, dtype=np.float64))


def wrench_in_parent(X_AB: ArrayLike, F_B: ArrayLike) -> Array:
    """Express wrenches of B in A, the inverse of wrench_in_child.

    Args:
        X_AB: Poses of B in A, shape (..., 4, 4).
        F_B: Wrenches [f; m] [N, N m] in B about the origin of B, shape (..., 6).

    Returns:
        The same wrenches in A about the origin of A, shape (..., 6).
    """
    return wrench_in_child(inverse(X_AB), F_B)


def interpolate(X_WA: ArrayLike, X_WB: ArrayLike, *, fraction: ArrayLike) -> Array:
    """Go from one pose to another along the screw motion with a constant body twist.

    Args:
        X_WA: Poses at fraction 0, shape (..., 4, 4).
        X_WB: Poses at fraction 1, shape (..., 4, 4), turned by less than pi from X_WA.
        fraction: Fractions of the way, shape (...); outside 0..1 the motion is extrapolated.

    Returns:
        Poses, shape (..., 4, 4).
    """
    V_A = log(inverse(X_WA) @ np.asarray(X_WB, dtype=np.float64))
    X_AF = exp(np.asarray(fraction, dtype=np.float64)[..., np.newaxis] * V_A)
    return np.asarray(X_WA, dtype=np.float64) @ X_AF


def _spread(factors: Array) -> Array:
    """Shape factors (...) as (..., 1, 1), to multiply matrices."""
    return factors[..., np.newaxis, np.newaxis]


def _apply(matrices: Array, vectors: Array) -> Array:
    return (matrices @ vectors[..., np.newaxis])[..., 0]


def _block_triangular(diagonal: Array, corner: Array) -> Array:
    """Return [[diagonal, corner], [0, diagonal]], shape (..., 6, 6), of blocks (..., 3, 3)."""
    matrices = np.zeros((*diagonal.shape[:-2], 6, 6))
    matrices[..., :3, :3] = matrices[..., 3:, 3:] = diagonal
    matrices[..., :3, 3:] = corner
    return matrices
