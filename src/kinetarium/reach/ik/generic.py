"""Inverse kinematics of any serial chain by damped least squares, as a Numba kernel.

The search starts from the configurations of a table whose poses are nearest, one after
the other. A step is that of Levenberg and Marquardt with a damping that is
proportional to the squared error (Sugihara, "Solvability-unconcerned inverse
kinematics by the Levenberg-Marquardt method", 2011); joints that would exceed a limit
do not move in that step.
"""

from math import atan2, inf, sqrt

import numpy as np
from numpy.typing import NDArray

from kinetarium.dynamics.chain import ChainArrays
from kinetarium.dynamics.forward import differentiate, gram, place, volume
from kinetarium.reach.collision.check import collides, no_last_contact
from kinetarium.reach.collision.piece_arrays import PieceArrays
from kinetarium.reach.ik.start_table import EXACT, NONE, StartTable
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.compiled import compiled

STEPS = 16
"""Greatest number of steps of a search."""
LONGEST = 1.0
"""Greatest motion of a joint in one step [rad or m]."""
DAMPING = 0.05
"""Damping per squared error."""
LEAST = 1e-14
"""Least damping, for singular configurations."""


@compiled
def solve_many(
    table: StartTable,
    chain: ChainArrays,
    pieces: PieceArrays,
    X_BT: Array,
    effort: int,
    best: bool,
    q: Array,
    w: Array,
) -> None:
    """Find joint positions for many poses; see `ik.solve_many`."""
    joints, size = len(chain.lower), len(table.starts)
    trial, last_contact = np.empty(joints), no_last_contact()
    nearness = np.empty(size, np.float32)
    X, J, A = np.empty((joints + 2, 3, 4)), np.empty((6, joints)), np.empty((6, 7))
    for n in range(len(X_BT)):
        w[n] = NONE
        q[n] = np.nan
        if out_of_reach(X_BT[n], table):
            continue
        rank(X_BT[n], table, nearness)
        for _ in range(min(effort, size)):
            nearest(table, nearness, trial)
            if not descend(X_BT[n], table.length, chain, trial, X, J, A):
                continue
            if collides(pieces, X, trial, last_contact):
                continue
            differentiate(chain, X, J)
            value = volume(J)
            if value > w[n]:
                w[n] = value
                q[n] = trial
            if not best:
                break


@compiled
def out_of_reach(X_BT: Array, table: StartTable) -> bool:
    """Return whether a pose is too far away or too near for the chain.

    Args:
        X_BT: The pose of the tool in the base link's frame, shape (3 or 4, 4).
        table: Bounds of the chain's reach.
    """
    square = 0.0
    for row in range(3):
        gap = X_BT[row, 3] - table.near[row]
        for column in range(3):
            gap += X_BT[row, column] * table.far[column]
        square += gap * gap
    # A small tolerance for poses at full stretch.
    distance = sqrt(square)
    out: bool = distance > table.reach[1] + EXACT or distance < table.reach[0] - EXACT
    return out


@compiled
def rank(X_BT: Array, table: StartTable, nearness: NDArray[np.float32]) -> None:
    """Write how near each start's pose is to a pose; greater is nearer.

    Args:
        X_BT: The pose of the tool in the base link's frame, shape (3 or 4, 4).
        nearness: Output, shape (starts,).
    """
    keys = table.keys
    for i in range(len(nearness)):
        nearness[i] = keys[12, i]
    for row in range(3):
        x, y = np.float32(X_BT[row, 0]), np.float32(X_BT[row, 1])
        z, p = np.float32(X_BT[row, 2]), np.float32(X_BT[row, 3])
        kx, ky, kz, kp = keys[3 * row], keys[3 * row + 1], keys[3 * row + 2], keys[9 + row]
        for i in range(len(nearness)):
            nearness[i] += x * kx[i] + y * ky[i] + z * kz[i] + p * kp[i]


@compiled
def nearest(table: StartTable, nearness: NDArray[np.float32], q: Array) -> None:
    """Write the nearest unused start to q, and mark it as used."""
    best = 0
    for i in range(len(nearness)):
        if nearness[i] > nearness[best]:
            best = i
    nearness[best] = -inf
    for j in range(len(q)):
        q[j] = table.starts[best, j]


@compiled
def descend(
    X_BT: Array, length: float, chain: ChainArrays, q: Array, X: Array, J: Array, A: Array
) -> bool:
    """Improve a configuration until it reaches a pose.

    Args:
        X_BT: The pose of the tool in the base link's frame, shape (3 or 4, 4).
        length: The length that is weighted like one radian [m].
        q: Start on input, result on output [rad or m], shape (joints,).
        X: Scratch array, shape (joints + 2, 3, 4).
        J: Scratch array, shape (6, joints).
        A: Scratch array, shape (6, 7).

    Returns:
        Whether the pose is reached to EXACT within the limits.
    """
    count, weight = len(q), 1.0 / length
    before = inf
    for step in range(STEPS):
        place(chain, q, X)
        shift, turn = error(X[count + 1], X_BT, A)
        if shift <= EXACT * EXACT and turn <= EXACT * EXACT:
            return True
        total = weight * weight * shift + turn
        # Without progress in three steps it is in a local minimum.
        if step % 3 == 0:
            if total > 0.5 * before:
                return False
            before = total
        differentiate(chain, X, J)
        for row in range(3):
            A[row, 6] *= weight
            for j in range(count):
                J[row, j] *= weight
        hold_at_limits(chain, q, J, A)
        damped(J, DAMPING * total + LEAST, A)
        move(chain, q, J, A)
    return False


@compiled
def hold_at_limits(chain: ChainArrays, q: Array, J: Array, A: Array) -> None:
    """Take joints out of a step whose gradient, J' times A's last column, is beyond a limit."""
    for j in range(len(q)):
        if chain.lower[j] < q[j] < chain.upper[j]:
            continue
        slope = 0.0
        for row in range(6):
            slope += J[row, j] * A[row, 6]
        if (slope < 0.0 and q[j] <= chain.lower[j]) or (slope > 0.0 and q[j] >= chain.upper[j]):
            for row in range(6):
                J[row, j] = 0.0


@compiled
def move(chain: ChainArrays, q: Array, J: Array, A: Array) -> None:
    """Make a step of J' times A's last column, within LONGEST and the limits; J is overwritten."""
    longest = 0.0
    for j in range(len(q)):
        step = 0.0
        for row in range(6):
            step += J[row, j] * A[row, 6]
        J[0, j] = step
        longest = max(longest, abs(step))
    scale = LONGEST / longest if longest > LONGEST else 1.0
    for j in range(len(q)):
        q[j] = min(max(q[j] + scale * J[0, j], chain.lower[j]), chain.upper[j])


@compiled
def error(X: Array, X_BT: Array, A: Array) -> tuple[float, float]:
    """Write the translation [m] and rotation [rad] between two poses to A's last column.

    Returns:
        Their squares [m^2, rad^2].
    """
    shift = 0.0
    for row in range(3):
        A[row, 6] = X_BT[row, 3] - X[row, 3]
        shift += A[row, 6] * A[row, 6]
    # Twice the sine of the angle times the axis: the sum of x * x', y * y' and z * z'.
    sx, sy, sz, trace = 0.0, 0.0, 0.0, 0.0
    for k in range(3):
        sx += X[1, k] * X_BT[2, k] - X[2, k] * X_BT[1, k]
        sy += X[2, k] * X_BT[0, k] - X[0, k] * X_BT[2, k]
        sz += X[0, k] * X_BT[1, k] - X[1, k] * X_BT[0, k]
        trace += X[0, k] * X_BT[0, k] + X[1, k] * X_BT[1, k] + X[2, k] * X_BT[2, k]
    sine = sqrt(sx * sx + sy * sy + sz * sz)
    angle = atan2(sine, trace - 1.0)
    factor = angle / sine if sine > 0.0 else 0.0
    A[3, 6], A[4, 6], A[5, 6] = factor * sx, factor * sy, factor * sz
    return shift, angle * angle


@compiled
def damped(J: Array, damping: float, A: Array) -> None:
    """Solve (J J' + damping) y = e for e in the last column of A, which becomes y."""
    fill(J, damping, A)
    eliminate(A)


@compiled
def fill(J: Array, damping: float, A: Array) -> None:
    """Write the lower half of J J' + damping to A."""
    P, Q, S = gram(J)
    A[0, 0], A[1, 0], A[2, 0], A[1, 1], A[2, 1], A[2, 2] = P
    A[3, 0], A[4, 0], A[5, 0], A[3, 1], A[4, 1], A[5, 1], A[3, 2], A[4, 2], A[5, 2] = Q
    A[3, 3], A[4, 3], A[5, 3], A[4, 4], A[5, 4], A[5, 5] = S
    for j in range(6):
        A[j, j] += damping


@compiled
def eliminate(A: Array) -> None:
    """Solve a symmetric system, of whose matrix A has the lower half, for A's last column."""
    # Gaussian elimination: the remaining block stays symmetric after a pivot.
    for j in range(6):
        A[j, j] = 1.0 / max(A[j, j], 1e-300)
        for i in range(j + 1, 6):
            factor = A[i, j] * A[j, j]
            for k in range(j + 1, i + 1):
                A[i, k] -= factor * A[k, j]
            A[i, 6] -= factor * A[j, 6]
    for j in range(5, -1, -1):
        total = A[j, 6]
        for k in range(j + 1, 6):
            total -= A[k, j] * A[k, 6]
        A[j, 6] = total * A[j, j]
