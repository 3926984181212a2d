"""Coupling: the joints that follow others, as one linear map."""

from dataclasses import dataclass
from math import isfinite, pi

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.dynamics.robot_dynamics import RobotDynamics
from kinetarium.model.robot import Joint, JointType, LoopKind, RobotModel
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import Array, frozen


@dataclass(frozen=True, slots=True, eq=False)
class Coupling:
    """All joints from the independent ones: q = E q_independent + offset.

    The matrices refer to joints. Vectors and matrices may begin with the coordinates of
    a free base, which stay unchanged.

    Attributes:
        independent: Names of the joints that follow no other, in the model's order.
        E: The map from their rates to all rates, shape (joints, independent).
        offset: Positions of all joints at the zero of the independent ones
            [rad or m], shape (joints,).
    """

    independent: tuple[str, ...]
    E: Array
    offset: Array

    @classmethod
    def of(cls, model: RobotModel) -> "Coupling":
        """Read the coupling off a robot's mimic joints."""
        joints = model.moving_joints
        independent = tuple(joint.name for joint in joints if joint.mimic is None)
        E = np.zeros((len(joints), len(independent)))
        offset = np.zeros(len(joints))
        for row, joint in enumerate(joints):
            if joint.mimic is None:
                E[row, independent.index(joint.name)] = 1.0
            else:
                E[row, independent.index(joint.mimic.joint)] = joint.mimic.multiplier
                offset[row] = joint.mimic.offset
        return cls(independent, frozen(E), frozen(offset))

    def positions(self, q_independent: ArrayLike) -> Array:
        """Return all positions [rad or m], shape (..., nq), from the independent ones."""
        base, joints = self._split(q_independent)
        return np.concatenate([base, joints @ self.E.T + self.offset], axis=-1)

    def velocities(self, v_independent: ArrayLike) -> Array:
        """Return all velocities or accelerations, shape (..., nv), from the independent."""
        base, joints = self._split(v_independent)
        return np.concatenate([base, joints @ self.E.T], axis=-1)

    def forces(self, tau: ArrayLike) -> Array:
        """Return the forces on the independent coordinates, E' tau [N, N m], from those on all."""
        tau = np.asarray(tau, dtype=np.float64)
        base, joints = np.split(tau, [tau.shape[-1] - self.offset.size], axis=-1)
        return np.concatenate([base, joints @ self.E], axis=-1)

    def matrix(self, M: ArrayLike) -> Array:
        """Return E' M E of a mass or Coriolis matrix, shape (nv, nv).

        E is constant, so that the reduced matrices keep the properties of the
        full ones: M stays positive definite and Mdot - 2 C skew.
        """
        return self.forces(self.forces(M).T).T

    def _split(self, independent: ArrayLike) -> list[Array]:
        values = np.asarray(independent, dtype=np.float64)
        return np.split(values, [values.shape[-1] - len(self.independent)], axis=-1)


def random_positions(model: RobotModel, rng: np.random.Generator, *, count: int) -> Array:
    """Draw joint positions uniformly between the limits; followers follow.

    Where a joint has no limit it is drawn from half a turn to either side, or
    from a metre to either side.

    Args:
        count: How many configurations to draw.

    Returns:
        Positions of the moving joints [rad or m], shape (count, joints).
    """
    coupling = Coupling.of(model)
    ranges = np.array([_range(model.joint(name)) for name in coupling.independent])
    lower, upper = ranges.reshape(-1, 2).T
    return coupling.positions(rng.uniform(lower, upper, size=(count, lower.size)))


def _range(joint: Joint) -> tuple[float, float]:
    reach = 1.0 if joint.type is JointType.PRISMATIC else pi
    lower, upper = joint.limits.lower, joint.limits.upper
    if not isfinite(lower) and not isfinite(upper):
        return -reach, reach
    if not isfinite(lower):
        return upper - 2 * reach, upper
    if not isfinite(upper):
        return lower, lower + 2 * reach
    return lower, upper


class LoopClosure:
    """The residual of a robot's loop constraints and its Jacobian.

    A point loop has three rows, the vector from the frame on link a to that on
    link b in world axes [m]. A pose loop adds three rows: the rotation vector
    that turns the one frame into the other, in the axes of the first [rad].
    All loops are closed where the residual is zero.
    """

    def __init__(self, dynamics: RobotDynamics) -> None:
        """Take the loops of a robot; they are opened in its dynamics."""
        self._dynamics = dynamics
        self._loops = dynamics.model.loops
        index = {link.name: i for i, link in enumerate(dynamics.model.links)}
        self._ends = [(index[loop.link_a], index[loop.link_b]) for loop in self._loops]
        self.size = sum(3 if loop.kind is LoopKind.POINT else 6 for loop in self._loops)

    def residual(self, q: ArrayLike) -> Array:
        """Return the residual at a configuration [m, rad], shape (size,)."""
        rows = [np.zeros(0)]
        for loop, (X_WA, X_WB) in zip(self._loops, self._frames(q), strict=True):
            rows.append(X_WB[:3, 3] - X_WA[:3, 3])
            if loop.kind is LoopKind.POSE:
                rows.append(so3.log(X_WA[:3, :3].T @ X_WB[:3, :3]))
        return np.concatenate(rows)

    def jacobian(self, q: ArrayLike) -> Array:
        """Return the Jacobian, shape (size, nv): the rate of the residual is J v."""
        rows = [np.zeros((0, self._dynamics.nv))]
        for loop, (X_WA, X_WB) in zip(self._loops, self._frames(q), strict=True):
            J_A = self._dynamics.jacobian(q, loop.link_a, point=loop.X_AC[:3, 3])
            J_B = self._dynamics.jacobian(q, loop.link_b, point=loop.X_BC[:3, 3])
            J = J_B - J_A
            rows.append(J[:3])
            if loop.kind is LoopKind.POSE:
                R_WB = X_WB[:3, :3]
                turn = so3.log(X_WA[:3, :3].T @ R_WB)
                rows.append(so3.dexp_inv(-turn) @ R_WB.T @ J[3:])
        return np.concatenate(rows)

    def _frames(self, q: ArrayLike) -> list[tuple[Array, Array]]:
        """Return the two constrained frames of every loop in the world."""
        X_WL = self._dynamics.link_poses(q)
        return [
            (X_WL[a] @ loop.X_AC, X_WL[b] @ loop.X_BC)
            for loop, (a, b) in zip(self._loops, self._ends, strict=True)
        ]


_ROUNDS = 200
_DAMPING = 1e-6
"""Share of the largest singular value squared that keeps steps near singular poses short [-]."""
_LONGEST = 0.2
"""Longest step of a joint [rad or m]: linkages have other branches, which are far away."""
CLOSED = 1e-4
"""Residual up to which loops are closed [m or rad]: what soft constraints give way anyhow."""


def close_loops(model: RobotModel, q: ArrayLike) -> Array:
    """Return the positions near others at which the loops of a robot are closed.

    Damped Gauss-Newton steps on the independent joints, within their limits (Nocedal, Wright,
    "Numerical Optimization", 2006, section 10.3); the motion is the least in each step.

    Args:
        q: Positions of the moving joints [rad or m], shape (joints,).

    Returns:
        The positions, shape (joints,); those given if the loops cannot be closed from there.
    """
    given = np.asarray(q, dtype=np.float64)
    closure = LoopClosure(RobotDynamics(model, free_base=False))
    coupling = Coupling.of(model)
    names = [joint.name for joint in model.moving_joints]
    x = given[[names.index(name) for name in coupling.independent]]
    joints = [model.joint(name) for name in coupling.independent]
    lower = np.array([joint.limits.lower for joint in joints])
    upper = np.array([joint.limits.upper for joint in joints])
    for _ in range(_ROUNDS):
        r = closure.residual(coupling.positions(x))
        if np.abs(r).max(initial=0.0) < CLOSED / 100:
            break
        J = closure.jacobian(coupling.positions(x)) @ coupling.E
        step = _least_step(J, r)
        # Joints that are at a limit and would pass it stay; the others do their part.
        stuck = ((x <= lower) & (step < 0)) | ((x >= upper) & (step > 0))
        step = np.where(stuck, 0.0, _least_step(np.where(stuck, 0.0, J), r))
        step *= min(1.0, _LONGEST / max(float(np.abs(step).max()), 1e-12))
        x = np.clip(x + step, lower, upper)
    closed = coupling.positions(x)
    return closed if np.abs(closure.residual(closed)).max(initial=0.0) < CLOSED else given


def _least_step(J: Array, r: Array) -> Array:
    """Return the least step that removes a residual to first order."""
    A = J @ J.T
    step: Array = -J.T @ np.linalg.solve(A + (_DAMPING * np.trace(A) + 1e-12) * np.eye(len(r)), r)
    return step
