"""One tick of the SE(3) admittance law, as Numba kernels.

Products are written out: for matrices this small a library call costs more.
"""

import numpy as np

from kinetarium.spatial import kernels as se3_kernel
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.compiled import compiled

adjoint, between, log = se3_kernel.adjoint, se3_kernel.between, se3_kernel.log


@compiled
def tick(
    X_WB: Array,
    X_WD: Array,
    V_D: Array,
    F_B: Array,
    F_D: Array,
    impulse: Array,
    D: Array,
    K: Array,
    gain: float,
    dt: float,
    limit: float,
    X_BD: Array,
    V_ref: Array,
) -> None:
    """Run the law once, in one call: each call costs 1 us, each returned array 2 us.

    The impulse is advanced in place; X_BD and V_ref are output arrays.
    """
    X_BD[:] = between(X_WB, X_WD)
    integrate(X_BD, F_B, F_D, impulse, gain, dt, limit)
    V_ref[:] = reduced_law(X_BD, V_D, impulse, D, K)


@compiled
def integrate(
    X_BD: Array, F_B: Array, F_D: Array, impulse: Array, gain: float, dt: float, limit: float
) -> None:
    """Add gain (F_D - Ad^T F_B) dt to the impulse, in place and clipped; Ad is that of X_BD."""
    A = adjoint(X_BD)
    for i in range(6):
        measured = 0.0
        for j in range(6):
            measured += A[j, i] * F_B[j]
        impulse[i] += gain * (F_D[i] - measured) * dt
        impulse[i] = max(-limit, min(impulse[i], limit))


@compiled
def reduced_law(X_BD: Array, V_D: Array, impulse: Array, D: Array, K: Array) -> Array:
    """Return V_ref = Ad (V_D - D^-1 (impulse - K log(X_BD))), shape (6,); D and K are diagonals."""
    error, A = log(X_BD), adjoint(X_BD)
    V_ref = np.zeros(6)
    for j in range(6):
        V_j = V_D[j] - (impulse[j] - K[j] * error[j]) / D[j]
        for i in range(6):
            V_ref[i] += A[i, j] * V_j
    return V_ref
