"""One tick of closed-loop inverse kinematics, as Numba kernels.

Products are written out: for matrices this small a library call costs more.
"""

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from kinetarium.dynamics.chain import ChainArrays
from kinetarium.dynamics.forward import differentiate, place
from kinetarium.spatial import kernels as se3_kernel
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.compiled import compiled

between, log, moved = se3_kernel.between, se3_kernel.log, se3_kernel.moved


@compiled
def locate(
    frames: Array,
    prismatic: NDArray[np.bool_],
    limits: Array,
    q: Array,
    X: Array,
    X_WB: Array,
    J: Array,
) -> None:
    """Write the pose of the link, shape (4, 4), and its Jacobian in world axes, shape (6, n).

    Args:
        frames: Those of a `ChainArrays`; passing the whole tuple costs more than building it.
        prismatic: Which of its joints are prismatic.
        limits: An array of the shape of its limits, which are not used.
        q: Joint positions [rad or m], shape (n,).
        X: Scratch array, shape (n + 2, 3, 4).
        X_WB: Output.
        J: Output.
    """
    chain = ChainArrays(frames, prismatic, limits, limits, limits)
    place(chain, q, X)
    differentiate(chain, X, J)
    X_WB[:3] = X[-1]


@compiled
def tick(
    q: Array,
    X_WB: Array,
    V_ref: Array,
    X_WR: Array,
    J: Array,
    gain: float,
    dt: float,
    threshold: float,
    damping: float,
    lower: Array,
    upper: Array,
    speed: Array,
    rates: Array,
) -> tuple[float, bool, float]:
    """Advance the reference, in place, and write the joint rates that follow it.

    Returns:
        The smallest singular value of J, whether a joint was stopped at its limit, and the
        factor by which the fastest joint exceeded its speed limit.
    """
    X_WR[:] = moved(X_WR, V_ref * dt)
    V_W = pursuit(X_WB, X_WR, V_ref, gain)
    rates[:], smallest = joint_rates(J, V_W, threshold, damping)
    stopped, excess = within_limits(q, rates, lower, upper, speed, dt)
    return smallest, stopped, excess


@compiled
def joint_rates(J: Array, V_W: Array, threshold: float, damping: float) -> tuple[Array, float]:
    """Solve J qdot = V by least squares, damped near singularities only.

    Args:
        J: Jacobian in world axes, shape (6, n).
        V_W: Twist [v; w] in world axes, shape (6,).
        threshold: Smallest singular value of J below which damping begins.
        damping: Its greatest value; both in units of J.

    Returns:
        The joint rates, shape (n,), and the smallest singular value of J.
    """
    joints = J.shape[1]
    G = np.zeros((6, 6))
    for i in range(6):
        for j in range(6):
            for k in range(joints):
                G[i, j] += J[i, k] * J[j, k]
    smallest = _smallest_singular_value(G)
    if smallest < threshold:
        # Nakamura and Hanafusa, 1986: damping that grows towards the singularity.
        share = 1 - (smallest / threshold) ** 2
        for i in range(6):
            G[i, i] += damping * damping * share
    x = V_W.copy()
    _solve(_cholesky(G), x)
    rates = np.zeros(joints)
    for k in range(joints):
        for i in range(6):
            rates[k] += J[i, k] * x[i]
    return rates, smallest


@compiled
def pursuit(X_WB: Array, X_WR: Array, V_ref: Array, gain: float) -> Array:
    """Return V_ref + gain log(X_WB^-1 X_WR), rotated into world axes, shape (6,)."""
    V = V_ref + gain * log(between(X_WB, X_WR))
    V_W = np.zeros(6)
    for i in range(3):
        for j in range(3):
            V_W[i] += X_WB[i, j] * V[j]
            V_W[3 + i] += X_WB[i, j] * V[3 + j]
    return V_W


@compiled
def within_limits(
    q: Array, rates: Array, lower: Array, upper: Array, speed: Array, dt: float
) -> tuple[bool, float]:
    """Stop joints at their limits and scale all rates down to the speed limits, in place.

    Returns:
        Whether a joint was stopped, and the factor by which the fastest was too fast.
    """
    stopped, excess = False, 0.0
    for k in range(len(q)):
        ahead = q[k] + rates[k] * dt
        if (ahead < lower[k] and rates[k] < 0) or (ahead > upper[k] and rates[k] > 0):
            rates[k] = 0.0
            stopped = True
        excess = max(excess, abs(rates[k]) / speed[k])
    if excess > 1:
        for k in range(len(q)):
            rates[k] /= excess
    return stopped, excess


@compiled
def _smallest_singular_value(G: Array) -> float:
    """Return the root of the smallest eigenvalue of G = J J^T by inverse iteration."""
    shift = 1e-12
    C = G.copy()
    for i in range(6):
        C[i, i] += shift
    L = _cholesky(C)
    x = np.array([1.0, 0.9, 0.8, 0.7, 0.6, 0.5])
    _normalize(x)
    value = 0.0
    for _ in range(8):
        _solve(L, x)
        value = 1 / _normalize(x)
    return sqrt(max(value - shift, 0.0))


@compiled
def _normalize(x: Array) -> float:
    """Divide a vector by its length, in place, and return that length."""
    squared = 0.0
    for i in range(len(x)):
        squared += x[i] * x[i]
    length = sqrt(squared)
    for i in range(len(x)):
        x[i] /= length
    return length


@compiled
def _cholesky(G: Array) -> Array:
    """Return the lower triangle L with L L^T = G, shape (n, n)."""
    n = len(G)
    L = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            rest = G[i, j]
            for k in range(j):
                rest -= L[i, k] * L[j, k]
            # Near a singularity rounding may make a pivot zero or negative.
            L[i, j] = sqrt(max(rest, 1e-14)) if i == j else rest / L[j, j]
    return L


@compiled
def _solve(L: Array, x: Array) -> None:
    """Solve L L^T x = b in place: x is b on input and the solution on output."""
    n = len(x)
    for i in range(n):
        for k in range(i):
            x[i] -= L[i, k] * x[k]
        x[i] /= L[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x[i] -= L[k, i] * x[k]
        x[i] /= L[i, i]
