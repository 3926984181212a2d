"""A numerical solver with one start, such as the source judged bases by.

Newton's iteration on the pose with the joints held inside their limits, from the middle
of these: what KDL's ChainIkSolverPos_NR_JL does (Orocos KDL, chainiksolverpos_nr_jl.cpp).
It misses many poses that can be reached; it is here to show how many.
"""

import numpy as np

from kinetarium.dynamics.compiled import compiled
from kinetarium.reach.chain import ChainArrays
from kinetarium.reach.forward import differentiate, place, volume
from kinetarium.reach.piece_arrays import PieceArrays
from kinetarium.reach.self_collision import collides, none_touching
from kinetarium.spatial.arrays import Array

STEPS = 100
"""Iterations, as is KDL's default."""
NEAR = 1e-5
"""How far the tool may be from where it is asked for [m, rad]; likewise."""
SINGULAR = 1e-5
"""Singular values below are taken for zero; likewise."""


@compiled
def solve_numerically(
    chain: ChainArrays, pieces: PieceArrays, X_BT: Array, q: Array, w: Array
) -> None:
    """Solve for many poses, each from the one start.

    Args:
        chain: The chain.
        pieces: What must not touch.
        X_BT: Poses of the tool in the base link's frame, shape (n, 4, 4).
        q: Written to: joint positions, or NaN [rad or m], shape (n, joints).
        w: Written to: manipulabilities, or -1 [m^3], shape (n,).
    """
    joints = len(chain.lower)
    X, J, e = np.empty((joints + 2, 3, 4)), np.empty((6, joints)), np.empty(6)
    touching = none_touching()
    for n in range(len(X_BT)):
        w[n] = -1.0
        trial = chain.middle.copy()
        for _ in range(STEPS):
            place(chain, trial, X)
            _gap(X[joints + 1], X_BT[n], e)
            if np.abs(e).max() < NEAR:
                if not collides(pieces, X, trial, touching):
                    differentiate(chain, X, J)
                    w[n] = volume(J)
                break
            differentiate(chain, X, J)
            U, S, V = np.linalg.svd(J, False)
            y = U.T @ e
            for k in range(len(S)):
                y[k] = y[k] / S[k] if S[k] > SINGULAR else 0.0
            trial += V.T @ y
            for i in range(joints):
                trial[i] = min(max(trial[i], chain.lower[i]), chain.upper[i])
        q[n] = np.nan
        if w[n] >= 0.0:
            q[n] = trial


@compiled
def _gap(X: Array, Y: Array, e: Array) -> None:
    """Write the twist that takes one pose to another in a unit of time (KDL's diff)."""
    for i in range(3):
        e[i] = Y[i, 3] - X[i, 3]
    R = np.ascontiguousarray(Y[:3, :3]) @ np.ascontiguousarray(X[:3, :3]).T
    axis = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    sine, cosine = 0.5 * np.linalg.norm(axis), 0.5 * (R[0, 0] + R[1, 1] + R[2, 2] - 1.0)
    angle = np.arctan2(sine, cosine)
    for i in range(3):
        e[3 + i] = axis[i] * (angle / (2.0 * sine) if sine > 1e-12 else 0.5)
