"""The free motion: every back-end lets the same robot go, and energy is watched."""

from dataclasses import dataclass

import numpy as np

from kinetarium.dynamics import RobotDynamics
from kinetarium.model.robot import RobotModel
from kinetarium.spatial.arrays import Array
from kinetarium.studies.dynamics.backends.backend import Backend
from kinetarium.studies.dynamics.backends.unhindered import unhindered, with_held_sliders
from kinetarium.studies.dynamics.integration import runge_kutta

DURATION = 2.0
"""How long the robot falls [s]."""
TIMESTEP = 1e-3
"""Step of the motion [s]."""
_NUDGE = 1e-9
"""Disturbance of the start by which the sensitivity of a motion is measured [rad or m]."""
_MARGIN = 10.0
"""How far beyond the disturbance that rounding is a motion may go astray [-]."""
_ASTRAY = 1e-2
"""Deviation beyond which motions are not compared any more [rad or m]."""


@dataclass(frozen=True, slots=True, eq=False)
class Motion:
    """A free motion.

    Attributes:
        joints: The joints that move.
        q: Positions at the start and after every step [rad or m], shape (t, joints).
        energy: Kinetic and potential energy [J], shape (t,).
        kinetic: Kinetic energy [J], shape (t,).
    """

    joints: tuple[str, ...]
    q: Array
    energy: Array
    kinetic: Array


def falling_robot(model: RobotModel) -> RobotModel:
    """Give a robot as it falls: without limits and couplings, its sliders held."""
    return with_held_sliders(unhindered(model, reference=model))


def free_motion(
    backend: Backend, model: RobotModel, *, gravity: Array, start: dict[str, float]
) -> Motion:
    """Let a back-end's robot go from rest.

    Args:
        backend: The back-end.
        model: The robot that it was given, by whose masses energy is reckoned.
        gravity: The gravity that it was given [m/s^2], shape (3,).
        start: Positions of the falling robot's joints by name [rad or m].
    """
    positions, velocities = backend.fall(start, timestep=TIMESTEP, steps=round(DURATION / TIMESTEP))
    return _watched(model, positions, velocities, gravity=gravity, joints=tuple(start))


def exact_motion(model: RobotModel, *, gravity: Array, start: dict[str, float]) -> Motion:
    """Let a robot go from rest by a rule that keeps energy far better than engines' does."""
    dynamics = RobotDynamics(falling_robot(model), free_base=False, gravity=gravity)
    still = np.zeros(dynamics.nv)
    positions, velocities = runge_kutta(
        lambda q, v: dynamics.forward_dynamics(q, v, still),
        np.array([start[name] for name in dynamics.position_names]),
        timestep=TIMESTEP,
        steps=round(DURATION / TIMESTEP),
    )
    return _watched(model, positions, velocities, gravity=gravity, joints=dynamics.position_names)


def deviation(backend: Backend, motion: Motion, *, tolerance: float) -> Array:
    """Give how far rounding may lead a motion astray, over its time.

    A small disturbance of the start is followed; what it grows by, every
    rounding on the way grows by at most.

    Args:
        backend: The back-end that made the motion.
        motion: Its motion.
        tolerance: Relative size of the rounding [-].

    Returns:
        The greatest deviation so far [rad or m], shape (t,).
    """
    nudged = {name: value + _NUDGE for name, value in zip(motion.joints, motion.q[0], strict=True)}
    astray, _ = backend.fall(nudged, timestep=TIMESTEP, steps=len(motion.q) - 1)
    with np.errstate(all="ignore"):
        growth = np.abs(astray - motion.q).max(axis=1, initial=_NUDGE) / _NUDGE
    growth = np.where(np.isfinite(growth), growth, np.inf)
    worst: Array = _MARGIN * tolerance * np.maximum.accumulate(growth)
    return worst


def horizon(deviation: Array) -> int:
    """Give the number of samples until rounding has its way with a motion."""
    return max(2, int(np.count_nonzero(deviation <= _ASTRAY)))


def _watched(
    model: RobotModel, q: Array, v: Array, *, gravity: Array, joints: tuple[str, ...]
) -> Motion:
    robot = falling_robot(model)
    dynamics = RobotDynamics(robot, free_base=False, gravity=gravity)
    order = [joints.index(name) for name in dynamics.position_names]
    with np.errstate(all="ignore"):
        kinetic = np.array(
            [dynamics.kinetic_energy(*s) for s in zip(q[:, order], v[:, order], strict=True)]
        )
        potential = np.array([dynamics.potential_energy(each) for each in q[:, order]])
        return Motion(joints, q, kinetic + potential, kinetic)
