"""The references: a rigid grasp under the same control, without an engine, and Coulomb's law.

The object is rigidly attached to the fingers. The force variation of a finger is then due to the
path alone: half of the object's mass times its acceleration across the fingers. Tangential forces
are shared equally by both sides.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from math import inf

import numpy as np

from kinetarium.control.interface import Measurement
from kinetarium.dynamics import RobotDynamics
from kinetarium.scene.held_object import Holder
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.gravity import GRAVITY_VECTOR
from kinetarium.studies.grasp.config import Case, Profile
from kinetarium.studies.grasp.profiles import (
    JointControl,
    Setting,
    closing,
    grasp_law,
    lifts,
    servo_gains,
)
from kinetarium.studies.grasp.task import SETTLE, ArmReference, arm_reference, task

SAMPLE_RATE = 100.0
"""Sampling rate of the forces [Hz]."""
PUSH_TIME = 0.1
"""Duration of a push on the object [s]."""
_FACETS = 64
"""Edges of the friction cones in the linear program of the least grip: 0.12 % of the friction."""
_Motion = Callable[[int, Array, Array], Array]
"""Returns the accelerations of all joints at a step, positions and velocities."""


@dataclass(frozen=True, slots=True, eq=False)
class Ideal:
    """Samples along the path, the first one a sample after its start.

    Attributes:
        force: Of both sides, as of the step before the sample [N], shape (k, 2).
        rest: The same before the path, at rest [N], shape (2,).
        error: Distance of the grip from the path [m], shape (k,).
        friction: Least friction with which the grip holds the object all along [-].
    """

    force: Array
    rest: Array
    error: Array
    friction: float


def ideal(case: Case, chosen: Setting) -> Ideal:
    """Integrate the rigid grasp along the path of a case (semi-implicit Euler).

    Args:
        case: The case; its engine makes no difference.
        chosen: The settings of that engine: what drives the joints, and their inertia.
    """
    alike = replace(
        case, engine="", profile=Profile.MATCHED, iterations=0, friction=0.0, start=0, seed=0
    )
    return _ideal(alike, chosen.control, chosen.armature, chosen.lifted)


@lru_cache(maxsize=16)
def _ideal(case: Case, control: JointControl, armature: float, lifted: bool) -> Ideal:
    done, timestep = task(case), case.timestep
    holder = done.holder.driven(coupled=False, armature=armature)
    arm = arm_reference(case)
    grip = _RigidGrip(holder, force=case.force)
    motion = (
        _law(case, holder, arm=arm, grip=grip)
        if control is JointControl.LAW
        else _servos(holder, arm, grip=grip, timestep=timestep, lifted=lifted)
    )
    q, v = holder.home.copy(), np.zeros(len(holder.home))
    if control is JointControl.SERVO:
        # Without gravity compensation the arm sags before the path begins.
        for _ in range(round(SETTLE / timestep)):
            v = v + timestep * motion(0, q, v)
            q = q + timestep * v
    rest = grip.forces(q, np.zeros_like(v), np.zeros_like(v))
    stride = round(1 / (SAMPLE_RATE * timestep))
    forces, positions, friction = [], [], grip.friction(q, np.zeros_like(v), np.zeros_like(v))
    for k in range(round(case.duration / timestep)):
        push = case.push if pushed(case, k * timestep) else 0.0
        grip.push(q, push)
        a = motion(k, q, v)
        sampled = (k + 1) % stride == 0
        if sampled:
            forces.append(grip.forces(q, v, a))
            friction = max(friction, grip.friction(q, v, a))
        v = v + timestep * a
        q = q + timestep * v
        if sampled:
            positions.append(q)
    time = np.arange(1, len(forces) + 1) / SAMPLE_RATE
    error = done.error(np.array(positions), time)
    return Ideal(frozen(forces), frozen(rest), frozen(error), friction)


def pushed(case: Case, since: float) -> bool:
    """Return whether the object is pushed at a time since the start of the path [s]."""
    begin = case.duration / 2
    return bool(case.push) and begin - 1e-9 <= since < begin + PUSH_TIME - 1e-9


class _RigidGrip:
    """An object that is fixed to both sides of a gripper, and the forces between them."""

    def __init__(self, holder: Holder, *, force: float) -> None:
        self._holder, self._force = holder, force
        self.carrying = RobotDynamics(holder.carrying())
        self._bare = RobotDynamics(holder.model)
        n, openings = holder.arm, holder.openings
        columns = [np.eye(len(holder.home))[:, :n]]
        if holder.parallel:  # the object moves aside, and both fingers with it
            aside = np.zeros((len(holder.home), 1))
            aside[n:, 0] = 1 / openings * (1.0, -1.0)
            columns.append(aside)
        self.free = np.hstack(columns)
        self._pushed, self.load = 0.0, np.zeros(len(holder.home))

    def push(self, q: Array, push: float) -> None:
        """Push the object along the closing axis [N] from now on."""
        self._pushed = push
        if push:
            self.load = self._jacobian(q).T @ (push * self._frame(q)[:3, 1])
        else:
            self.load = np.zeros(len(self._holder.home))

    def forces(self, q: Array, v: Array, a: Array) -> Array:
        """Return the forces between both sides and the object [N], shape (2,).

        Their difference accelerates the object (Newton); the moving sides are closed by the
        drives, by the principle of virtual work.
        """
        holder, n = self._holder, self._holder.arm
        axis = self._frame(q)[:3, 1]
        needed = holder.mass * float(axis @ (self._acceleration(q, v, a) - GRAVITY_VECTOR))
        bare = self._bare.inverse_dynamics(q, v, a)[n:] / holder.openings
        both = self.carrying.inverse_dynamics(q, v, a)[n:] / holder.openings
        signs = np.array([1.0, -1.0])[: len(bare)]
        # What of the half loads is not along the axis is carried by friction.
        pressed = bare + (both - bare - signs * needed / 2) + self._force
        needed -= self._pushed
        if len(pressed) == 2:
            total = pressed.sum()
            return np.array([total - needed, total + needed]) / 2
        return np.array([pressed[0], pressed[0] + needed])

    def friction(self, q: Array, v: Array, a: Array) -> float:
        """Return the least friction that holds the object, normals along the closing axis [-].

        Coulomb's law: both sides together carry m (a - g) across the axis by mu (N1 + N2).
        """
        axis = self._frame(q)[:3, 1]
        load = self._holder.mass * (self._acceleration(q, v, a) - GRAVITY_VECTOR)
        pressed = float(self.forces(q, v, a).sum())
        return float(np.linalg.norm(np.cross(axis, load))) / pressed if pressed > 0 else inf

    def _acceleration(self, q: Array, v: Array, a: Array) -> Array:
        """Return the acceleration of the object's centre [m/s^2], shape (3,)."""
        dt = 1e-4
        change = self._jacobian(q + dt * v) - self._jacobian(q - dt * v)
        acceleration: Array = self._jacobian(q) @ a + change @ v / (2 * dt)
        return acceleration

    def _jacobian(self, q: Array) -> Array:
        """Return the Jacobian of the object's centre, shape (3, n): it moves with its halves."""
        point = self._frame(q) @ self._holder.X_TO @ [*self._holder.inertia.center, 1.0]
        halves = []
        for side in self._holder.sides:
            local = np.linalg.solve(self._bare.link_pose(q, side.pad), point)
            halves.append(self._bare.jacobian(q, side.pad, point=local[:3])[:3])
        mean: Array = (halves[0] + halves[1]) / 2
        return mean

    def _frame(self, q: Array) -> Array:
        X_WT: Array = self._bare.link_pose(q, self._holder.palm) @ self._holder.X_PT
        return X_WT


def _law(case: Case, holder: Holder, *, arm: ArmReference, grip: _RigidGrip) -> _Motion:
    """Return the accelerations under the computed-torque law."""
    steps = len(arm.q)
    law = grasp_law(
        holder,
        arm,
        opening=closing(np.full(steps, SETTLE), force=case.force),
        grip=np.full(steps, case.force),
        rate=1 / case.timestep,
        mass=case.mass * (1 + case.payload_error),
    )
    nothing = np.empty((0, 7)), np.empty((0, 6))
    free, carrying = grip.free, grip.carrying

    def motion(k: int, q: Array, v: Array) -> Array:
        tau = law.update(k * case.timestep, Measurement(q, v, *nothing, {})) + grip.load
        M = free.T @ carrying.mass_matrix(q) @ free
        a: Array = free @ np.linalg.solve(M, free.T @ (tau - carrying.bias(q, v)))
        return a

    return motion


def _servos(
    holder: Holder, arm: ArmReference, *, grip: _RigidGrip, timestep: float, lifted: bool
) -> _Motion:
    """Return the accelerations under implicit spring-damper servos; a gear couples the fingers."""
    n = holder.arm
    stiffness, damping = servo_gains(holder)
    commands = arm.q + lifts(holder, arm.q) if lifted else arm.q
    stiffening = np.diag(timestep * damping + timestep**2 * stiffness)
    carrying = grip.carrying

    def motion(k: int, q: Array, v: Array) -> Array:
        ahead = q[:n] + timestep * v[:n]
        pull = stiffness * (commands[k] - ahead) - damping * v[:n] + grip.load[:n]
        M = carrying.mass_matrix(q)[:n, :n] + stiffening
        a = np.zeros(len(q))
        a[:n] = np.linalg.solve(M, pull - carrying.bias(q, v)[:n])
        return a

    return motion


def least_grip(normals: Array, *, friction: float, mass: float) -> float | None:
    """Return the least mean normal force [N] of two contacts that hold an object at rest.

    Coulomb's law at both contacts, forces in balance; moments are balanced by the contacts'
    extent. A linear program: cones of 64 edges.

    Args:
        normals: Unit normals of both contacts, into the object, shape (2, 3).
        friction: Friction coefficient [-].
        mass: Mass of the object [kg].

    Returns:
        The force; None if no grip holds it.
    """
    from scipy.optimize import linprog

    angles = np.linspace(0.0, 2 * np.pi, _FACETS, endpoint=False)
    edges = []
    for normal in normals:
        across = np.linalg.svd(normal[None])[2][1:]
        rim = np.stack([np.cos(angles), np.sin(angles)], axis=1) @ across
        edges.append(normal + friction * rim)
    A = np.concatenate(edges).T
    found = linprog(np.full(A.shape[1], 0.5), A_eq=A, b_eq=-mass * GRAVITY_VECTOR, method="highs")
    return float(found.fun) if found.status == 0 else None
