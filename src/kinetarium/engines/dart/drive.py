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

from kinetarium.engines.dart.wiring import Wiring
from kinetarium.spatial.arrays import Array

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
