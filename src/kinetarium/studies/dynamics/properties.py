"""What the terms of any sound robot have in common, whatever its numbers are."""

import numpy as np

from kinetarium.dynamics import RobotDynamics
from kinetarium.spatial.arrays import Array
from kinetarium.studies.dynamics.backends.backend import Backend
from kinetarium.studies.dynamics.states import States
from kinetarium.studies.dynamics.terms import largest

_STEP = 1e-5
"""Step of the central differences, relative to a state of order one: cubes of it vanish [-]."""
DIFFERENCE_TOLERANCE = 1e-7
"""What central differences of that step leave, relative to the scale [-]."""


def asymmetry(M: Array) -> Array:
    """Give the largest entry of M - M' at each state, shape (n,)."""
    return largest(M - M.swapaxes(1, 2))


def least_eigenvalue(M: Array) -> Array:
    """Give the least eigenvalue of the symmetric part of M at each state, shape (n,)."""
    eigenvalues = np.full(len(M), -np.inf)
    finite = np.isfinite(M).all(axis=(1, 2))
    symmetric = (M + M.swapaxes(1, 2))[finite] / 2
    eigenvalues[finite] = np.linalg.eigvalsh(symmetric)[:, 0]
    return eigenvalues


def skewness(backend: Backend, states: States) -> Array:
    """Give the largest entry of the symmetric part of Mdot - 2 C at each state, shape (n,).

    c(q, v) is quadratic in v; its polar form gives, without any differences,
    C(q, v) w = (c(v + w) - c(v) - c(w)) / 2, which is the C of the Christoffel
    symbols (Spong, Hutchinson, Vidyasagar, "Robot Modeling and Control", 2006,
    section 7.2). Mdot is taken by central differences along v.
    """
    q, v = states.q, states.v
    rest = np.zeros_like(v)
    g = backend.inverse_dynamics(q, rest, rest)

    def c(v: Array) -> Array:
        return backend.inverse_dynamics(q, v, rest) - g

    alone = c(v)
    unit = np.eye(v.shape[1])
    C = np.stack([(c(v + e) - alone - c(rest + e)) / 2 for e in unit], axis=-1)
    forward, back = backend.mass_matrix(q + _STEP * v), backend.mass_matrix(q - _STEP * v)
    N = (forward - back) / (2 * _STEP) - 2 * C
    return largest((N + N.swapaxes(1, 2)) / 2)


def roundtrip(backend: Backend, states: States) -> tuple[Array, Array]:
    """Turn accelerations into forces, and those into accelerations by the back-end's own motion.

    Returns:
        The accelerations that come back less those that went in [rad/s^2 or m/s^2],
        and the forces M times that, which were missing or too many [N m or N],
        shape (n, joints) each.
    """
    tau = backend.inverse_dynamics(states.q, states.v, states.a)
    difference = backend.acceleration(states.q, states.v, tau) - states.a
    return difference, np.einsum("nij,nj->ni", backend.mass_matrix(states.q), difference)


def derivative_error(
    backend: Backend, reference: RobotDynamics, states: States
) -> tuple[Array, float]:
    """Compare finite differences of tau with Pinocchio's analytic derivatives.

    At each state tau is differentiated along one direction in positions,
    velocities and accelerations together, the direction being (v, a, v).

    Args:
        backend: Gives tau.
        reference: Gives the derivatives, of the same joints in the same order.
        states: Where.

    Returns:
        The largest difference at each state [N m/s or N/s], shape (n,), and the
        greatest derivative.
    """
    q, v, a = states.q, states.v, states.a
    forward = backend.inverse_dynamics(q + _STEP * v, v + _STEP * a, a + _STEP * v)
    back = backend.inverse_dynamics(q - _STEP * v, v - _STEP * a, a - _STEP * v)
    analytic = np.zeros_like(forward)
    for i, (q_i, v_i, a_i) in enumerate(zip(q, v, a, strict=True)):
        by_q, by_v = reference.joint_derivatives(q_i, v_i, a_i)
        analytic[i] = by_q @ v_i + by_v @ a_i + reference.mass_matrix(q_i) @ v_i
    error = largest((forward - back) / (2 * _STEP) - analytic)
    return error, float(np.abs(analytic).max(initial=0.0))
