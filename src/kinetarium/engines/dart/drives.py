"""What moves joints: forces, servos, damping, armature and couplings.

DART solves springs and dampers of joints implicitly, but its contacts do not
know of them: a wheel whose servo is stiff for its inertia rattles on the ground.
So here the law

    tau = u + K (q_ref - q - h v') + D (v_ref - v') - d v' - A (v' - v) / h + J' f

of the velocity v' after a step of length h is solved together with the
equation of motion M (v' - v) / h = tau + load, M being DART's own (stable PD
control: Tan, Liu and Turk, 2011), f such that the couplings J q = offset regain
a share of what they lost. The load is weight and Coriolis forces as DART has
them now, and whatever else acted in the step before: contacts, stops, joint
friction, loops. Free motion is implicit Euler; against an obstacle tau comes to
rest at the law's static value, without overshoot.
"""

from dataclasses import dataclass
from math import hypot
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetarium.engines.protocol import Layout
from kinetarium.model.robot import RobotModel
from kinetarium.scene import Drive
from kinetarium.spatial.arrays import Array

Indices = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Wiring:
    """The drives of one robot with n coordinates, the six of a free base first.

    Attributes:
        commands: Indices into the commands of the scene, shape (c,).
        coordinates: Index of the coordinate that each drives, shape (c,).
        scale: Force for a command of one: 1, or the stiffness or damping of a servo, shape (c,).
        limit: Effort limit of force drives, infinite for servos, shape (c,).
        stiffness: Of position servos [N m/rad or N/m], otherwise zero, shape (n,).
        damping: Of servos [N m s/rad or N s/m], otherwise zero, shape (n,).
        effort: Effort limit of servos, otherwise infinite [N m or N], shape (n,).
        resistance: Damping of the joints themselves [N m s/rad or N s/m], shape (n,).
        armature: Inertia of the drives [kg m^2 or kg], shape (n,).
    """

    commands: Indices
    coordinates: Indices
    scale: Array
    limit: Array
    stiffness: Array
    damping: Array
    effort: Array
    resistance: Array
    armature: Array

    @classmethod
    def of(cls, layout: Layout, model: RobotModel, *, robot: str, free: bool) -> "Wiring":
        """Find the drives of a robot in the layout of its scene.

        Args:
            model: The robot.
            robot: Its name in the scene.
            free: Whether it has a free base.
        """
        own, first, joints = layout.robot_joints[robot], 6 * free, model.moving_joints
        n = first + len(joints)
        stiffness, damping, effort = np.zeros(n), np.zeros(n), np.full(n, np.inf)
        wires: list[tuple[int, int, float, float]] = []
        drives = zip(layout.command_joints.tolist(), layout.actuations, strict=True)
        for command, (joint, actuation) in enumerate(drives):
            if not own.start <= joint < own.stop:
                continue
            i = first + joint - own.start
            if actuation.drive is Drive.TORQUE:
                wires.append((command, i, 1.0, actuation.effort))
                continue
            position = actuation.drive is Drive.POSITION
            stiffness[i] = actuation.stiffness if position else 0.0
            damping[i], effort[i] = actuation.damping, actuation.effort
            wires.append((command, i, stiffness[i] if position else damping[i], np.inf))
        base = np.zeros(first)
        return cls(
            np.array([wire[0] for wire in wires], dtype=np.intp),
            np.array([wire[1] for wire in wires], dtype=np.intp),
            np.array([wire[2] for wire in wires]),
            np.array([wire[3] for wire in wires]),
            stiffness,
            damping,
            effort,
            np.append(base, [joint.damping for joint in joints]),
            np.append(base, [joint.armature for joint in joints]),
        )

    @property
    def plain(self) -> bool:
        """Whether there is nothing but forces: no servo, damping or armature."""
        return not any(
            part.any() for part in (self.stiffness, self.damping, self.resistance, self.armature)
        )

    def forces(self, command: Array) -> Array:
        """Return what the commands [in the scene's order] contribute to the forces, shape (n,)."""
        force = np.zeros(len(self.effort))
        wanted = command[self.commands] * self.scale
        force[self.coordinates] = np.minimum(np.maximum(wanted, -self.limit), self.limit)
        return force


_ABSURD = 1e30
"""Force that no motion survives [N or N m]; DART would take it for none."""


class TorqueDrive:
    """Puts the commands of one robot on its joints as forces, cut off at the effort limits."""

    def __init__(self, skeleton: Any, wiring: Wiring) -> None:
        """Wire a robot.

        Args:
            skeleton: The robot in DART.
            wiring: Its drives.
        """
        self._skeleton, self._wiring = skeleton, wiring

    def __call__(self, command: Array) -> bool:
        """Hand over the forces for the steps to come; tell whether they make sense."""
        force = self._wiring.forces(command)
        if not hypot(*force.tolist()) < _ABSURD:
            return False
        self._skeleton.setForces(force)
        return True


@dataclass(frozen=True, slots=True, eq=False)
class StepBefore:
    """What is left of a step: velocity and M at its start, and the impulse that was known of."""

    v: Array
    M: Array
    impulse: Array


class ServoDrive:
    """Drives the joints of one robot by the law above.

    Attributes:
        before: The step before; None if there was none.
    """

    def __init__(
        self,
        skeleton: Any,
        wiring: Wiring,
        *,
        couplings: tuple[Array, Array],
        timestep: float,
        coupling_erp: float,
    ) -> None:
        """Wire a robot.

        Args:
            skeleton: The robot in DART.
            wiring: Its drives.
            couplings: J and the offsets of its couplings.
            timestep: Time step h [s].
            coupling_erp: Share of the violation of a coupling given back per step [-].
        """
        self._skeleton, self._wiring, self._h = skeleton, wiring, timestep
        self._J, self._offset = couplings
        self._back = coupling_erp / timestep
        self._A_h = wiring.armature / timestep
        self._gain = wiring.damping + timestep * wiring.stiffness
        self._servos = self._gain > 0
        self._all = wiring.resistance + self._A_h + self._gain
        self._limited = bool(np.isfinite(wiring.effort).any())
        # [[M + h G, J'], [J, 0]] [v'; -h f] = [momentum; what J v' is to be].
        n, k = len(self._gain), len(self._offset)
        self._system, self._right = np.zeros((n + k, n + k)), np.zeros(n + k)
        self._system[n:, :n], self._system[:n, n:] = self._J, self._J.T
        self._n, self._diagonal = n, np.diag_indices(n)
        self.before: StepBefore | None = None

    def __call__(self, command: Array, *, pushed: bool) -> bool:
        """Hand over the forces for the next step; tell whether they make sense.

        Args:
            command: The commands of the scene.
            pushed: Whether wrenches from outside act in the step.
        """
        h, skeleton, wiring, before = self._h, self._skeleton, self._wiring, self.before
        force = wiring.forces(command)
        if not hypot(*force.tolist()) < _ABSURD:
            return False
        q, v, M = skeleton.getPositions(), skeleton.getVelocities(), skeleton.getMassMatrix()
        known = -skeleton.getCoriolisAndGravityForces()
        if pushed:
            known += skeleton.getExternalForces()
        pull = np.where(self._servos, force - wiring.stiffness * q, 0.0)
        force = np.where(self._servos, 0.0, force) + self._A_h * v
        momentum = M @ v + h * known
        if before is not None:
            momentum += before.M @ (v - before.v) - before.impulse
        self._right[self._n :] = -self._back * (self._J @ q - self._offset)
        gain, G = self._gain, self._all
        while True:
            self._system[: self._n, : self._n] = M
            self._system[self._diagonal] += h * G
            self._right[: self._n] = momentum + h * (force + pull)
            solved = np.linalg.solve(self._system, self._right)
            after = solved[: self._n]
            if not self._limited:
                break
            servo = pull - gain * after
            beyond = np.abs(servo) > wiring.effort
            if not beyond.any():
                break
            # A servo at its limit is a mere force.
            force[beyond] += np.copysign(wiring.effort[beyond], servo[beyond])
            G = np.where(beyond, G - gain, G)
            pull, gain = np.where(beyond, 0.0, pull), np.where(beyond, 0.0, gain)
        tau = force + pull - G * after - solved[self._n :] @ self._J / h
        skeleton.setForces(tau)
        self.before = StepBefore(v, M, h * (tau + known))
        return True
