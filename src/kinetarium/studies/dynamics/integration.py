"""Two rules of integration: the one engines step by, and one that keeps energy."""

from collections.abc import Callable

import numpy as np

from kinetarium.spatial.arrays import Array

Acceleration = Callable[[Array, Array], Array]
"""Gives a at positions and velocities."""


def semi_implicit_euler(
    acceleration: Acceleration, q: Array, *, timestep: float, steps: int
) -> tuple[Array, Array]:
    """Integrate a motion from rest as engines do: v += h a(q, v), q += h v.

    Args:
        acceleration: Gives a.
        q: Positions at the start [rad or m], shape (joints,).
        timestep: Time step h [s].
        steps: Number of steps.

    Returns:
        Positions and velocities at the start and after each step, shape (steps + 1, joints) each.
    """
    positions, velocities = np.zeros((2, steps + 1, len(q)))
    positions[0] = q
    for i in range(steps):
        step = timestep * acceleration(positions[i], velocities[i])
        velocities[i + 1] = velocities[i] + step
        positions[i + 1] = positions[i] + timestep * velocities[i + 1]
    return positions, velocities


def runge_kutta(
    acceleration: Acceleration, q: Array, *, timestep: float, steps: int
) -> tuple[Array, Array]:
    """Integrate a motion from rest by the classical rule of fourth order (Kutta, 1901).

    Arguments and results are those of `semi_implicit_euler`.
    """
    n = len(q)
    states = np.zeros((steps + 1, 2 * n))
    states[0, :n] = q

    def rate(x: Array) -> Array:
        return np.concatenate([x[n:], acceleration(x[:n], x[n:])])

    for i in range(steps):
        x = states[i]
        k1 = rate(x)
        k2 = rate(x + timestep / 2 * k1)
        k3 = rate(x + timestep / 2 * k2)
        k4 = rate(x + timestep * k3)
        states[i + 1] = x + timestep / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return states[:, :n], states[:, n:]
