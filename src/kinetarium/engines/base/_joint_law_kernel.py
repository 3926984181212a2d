"""The joint law of one step, as a Numba kernel.

Products and the elimination are written out: for matrices this small a library call costs more.
"""

import numpy as np

from kinetarium.spatial.arrays import Array
from kinetarium.spatial.compiled import compiled

Q, V, BIAS, TAU, MASS = range(5)
"""Rows of a step: positions, velocities, Coriolis and gravity forces, forces of the law; and then
the rows of the mass matrix."""
SOURCE, LIMIT, SCALE, STIFFNESS, GAIN, EFFORT = range(6)
ARMATURE, PASSIVE, FRICTION, SPRING, RELAXED, COUPLINGS = range(6, 12)
"""Rows of the constants: the command that a coordinate obeys, -1 for none; effort limit of a torque
drive; of a servo the force for a command of one, the stiffness K, the gain D + h K and the effort
limit; drive inertia over the time step, A / h; all that acts against the velocity of the joint
itself, d + A / h + h k; Coulomb friction; stiffness k of the joint's own spring, and its force
k q_0 at position zero; and then the rows of the couplings J, each with what J q is to be at its
end."""
_CREEP = 1e-6
"""Speed at which a joint that sticks bears its full friction [rad/s or m/s]."""
_ROUNDS = 20
"""Most changes of what slips, sticks or is at its limit."""


@compiled
def joint_forces(
    command: Array, constants: Array, back: float, h: float, step: Array, before: Array
) -> None:
    """Write the forces of the next step into its row TAU.

    Servos at their effort limit, and joints that slip and stick, are an active set: what moves
    slips at first, what rests sticks, and after every solution a joint that slips and has turned
    sticks, one that sticks with more than its friction slips, and a servo is limited as its force
    demands. Beginning with all joints stuck ends elsewhere if they are coupled by M.

    Every array more costs as much as the arithmetic of three joints, hence the rows.

    Args:
        command: The commands of the scene, shape (c,).
        constants: Rows as above, shape (11 + k, n + 1).
        back: Share of a violated coupling that is given back, over the time step [1/s].
        h: Time step [s].
        step: Rows as above, shape (4 + n, n).
        before: Rows of the step before, zero if there was none, shape (4 + n, n).
    """
    n, k = step.shape[1], len(constants) - COUPLINGS
    momentum, force, pull = np.zeros(n), np.zeros(n), np.zeros(n)
    limited, slip = np.zeros(n), np.zeros(n)  # signs of the servo's force and of the slip, or 0
    for i in range(n):
        load = before[BIAS, i] - before[TAU, i] - step[BIAS, i]
        for j in range(n):
            load += before[MASS + i, j] * (step[V, j] - before[V, j]) / h
        for j in range(n):
            momentum[i] += step[MASS + i, j] * step[V, j]
        momentum[i] += h * load
        force[i] = constants[ARMATURE, i] * step[V, i]
        force[i] += constants[RELAXED, i] - constants[SPRING, i] * step[Q, i]
        pull[i] = -constants[STIFFNESS, i] * step[Q, i]
        source = int(constants[SOURCE, i])
        if source >= 0:
            limit = constants[LIMIT, i]
            force[i] += min(max(command[source], -limit), limit)
            pull[i] += constants[SCALE, i] * command[source]
        if abs(step[V, i]) > _CREEP:
            slip[i] = np.sign(step[V, i])
    system, solved = np.empty((n + k, n + k)), np.empty(n + k)
    for _ in range(_ROUNDS):
        # [[M + h G, J'], [J, 0]] [v'; -h f] = [momentum; what J v' is to be].
        for i in range(n):
            system[i, :n] = step[MASS + i]
            gain, push = constants[PASSIVE, i], force[i] - slip[i] * constants[FRICTION, i]
            if slip[i] == 0.0:
                gain += constants[FRICTION, i] / _CREEP
            if limited[i] == 0.0:
                gain, push = gain + constants[GAIN, i], push + pull[i]
            else:
                push += limited[i] * constants[EFFORT, i]
            system[i, i] += h * gain
            solved[i] = momentum[i] + h * push
        for i in range(k):
            J = constants[COUPLINGS + i, :n]
            system[n + i, :n] = J
            system[:n, n + i] = J
            system[n + i, n:] = 0.0
            solved[n + i] = constants[COUPLINGS + i, n] * back
            for j in range(n):
                solved[n + i] -= back * J[j] * step[Q, j]
        solve(system, solved)
        settled = True
        for i in range(n):
            servo = pull[i] - constants[GAIN, i] * solved[i]
            sign = np.sign(servo) if abs(servo) > constants[EFFORT, i] else 0.0
            if sign != limited[i]:
                limited[i], settled = sign, False
            if constants[FRICTION, i] > 0.0:
                if slip[i] == 0.0 and abs(solved[i]) > _CREEP:
                    slip[i], settled = np.sign(solved[i]), False
                elif slip[i] * solved[i] < 0.0:
                    slip[i], settled = 0.0, False
        if settled:
            break
    for i in range(n):
        most, friction = constants[EFFORT, i], constants[FRICTION, i]
        tau = force[i] - constants[PASSIVE, i] * solved[i]
        tau += min(max(pull[i] - constants[GAIN, i] * solved[i], -most), most)
        if slip[i] != 0.0:
            tau -= slip[i] * friction
        else:
            tau -= friction * min(max(solved[i] / _CREEP, -1.0), 1.0)
        for j in range(k):
            tau -= solved[n + j] * constants[COUPLINGS + j, i] / h
        step[TAU, i] = tau


@compiled
def solve(A: Array, b: Array) -> None:
    """Solve A x = b by elimination with pivots; A is used up and b becomes x."""
    n = len(b)
    for i in range(n):
        pivot = i
        for row in range(i + 1, n):
            if abs(A[row, i]) > abs(A[pivot, i]):
                pivot = row
        if pivot != i:
            for column in range(i, n):
                A[i, column], A[pivot, column] = A[pivot, column], A[i, column]
            b[i], b[pivot] = b[pivot], b[i]
        for row in range(i + 1, n):
            share = A[row, i] / A[i, i]
            if share != 0.0:
                for column in range(i + 1, n):
                    A[row, column] -= share * A[i, column]
                b[row] -= share * b[i]
    for i in range(n - 1, -1, -1):
        for column in range(i + 1, n):
            b[i] -= A[i, column] * b[column]
        b[i] /= A[i, i]
