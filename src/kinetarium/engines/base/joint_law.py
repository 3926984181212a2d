"""JointLaw: drives, losses and couplings of joints as forces from outside an engine's solver.

For engines whose own servos will not do: they do not obey the stiffness and damping of a drive,
or contacts do not know of them, so that a wheel whose servo is stiff for its inertia rattles on
the ground. The law

    tau = u + K (q_ref - q - h v') + D (v_ref - v') - d v' - A (v' - v) / h + J' f

of the velocity v' after a step of length h is solved together with the equation of motion
M (v' - v) / h = tau + load (stable PD control: Tan, Liu and Turk, 2011): drives with their gains K
and D, joint damping d, drive inertia A, and coupling forces f such that J q = offset regains a
share of what it lost. The load is -bias, weight and Coriolis forces as the engine has them now,
and whatever else acted in the step before: contacts, joint limits, joint friction, loops. Free
motion is implicit Euler; against an obstacle tau comes to rest at the law's static value, without
overshoot.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dgesv

from kinetarium.engines.base.simulation import OptionsT, Setup
from kinetarium.scene import Drive, PlacedRobot
from kinetarium.spatial.arrays import Array


@dataclass(frozen=True, slots=True, eq=False)
class StepBefore:
    """What is left of a step: the equation of motion at its start, and the forces during it."""

    v: Array
    M: Array
    bias: Array
    tau: Array


class JointLaw:
    """The drives and losses of one robot with n coordinates.

    Attributes:
        damping: Joint damping d in force [N m s/rad or N s/m], shape (n,).
        armature: Inertia of the drives A in force [kg m^2 or kg], shape (n,).
        only_torques: Whether there is nothing but torque drives: no servo, loss or coupling.
        before: The step before; None if there was none.
    """

    def __init__(
        self,
        setup: Setup[OptionsT],
        robot: PlacedRobot,
        *,
        base: int = 0,
        servos: bool = True,
        coupling_erp: float | None = None,
    ) -> None:
        """Look up the drives of a robot.

        Args:
            base: Number of coordinates of a free base that stand first.
            servos: Whether position and velocity drives are part of the law.
            coupling_erp: Share of the violation of a coupling that is given back per step [-]; None
                if the engine couples joints itself.
        """
        joints, h = robot.model.moving_joints, setup.timestep
        n = base + len(joints)
        self._h, self._n = h, n
        self.damping, self.armature = np.zeros((2, n))
        self.damping[base:] = [joint.damping for joint in joints]
        self.armature[base:] = [joint.armature for joint in joints]
        self._K, self._gain, self._effort = np.zeros(n), np.zeros(n), np.full(n, np.inf)
        # Command, coordinate, force for a command of one and effort limit of torque drives, servos.
        torques: list[tuple[int, int, float]] = []
        pulls: list[tuple[int, int, float]] = []
        for command, joint, drive in setup.layout.drives(robot.name):
            i = base + joint
            if drive.drive is Drive.TORQUE:
                torques.append((command, i, drive.effort))
            elif servos:
                position = drive.drive is Drive.POSITION
                self._K[i] = drive.stiffness if position else 0.0
                self._gain[i] = drive.damping + h * self._K[i]
                self._effort[i] = drive.effort
                pulls.append((command, i, self._K[i] if position else drive.damping))
        self._torques, self._pulls = _columns(torques), _columns(pulls)
        self._limited = bool((self._effort[self._gain > 0] < np.inf).any())
        self._A_h = self.armature / h
        self._passive = self.damping + self._A_h
        self._J, self._offset, self._back = np.zeros((0, n)), np.zeros(0), 0.0
        if coupling_erp is not None:
            self._J, self._offset = _couplings(robot, base)
            self._back = coupling_erp / h
        k = len(self._offset)
        # [[M + h G, J'], [J, 0]] [v'; -h f] = [momentum; what J v' is to be].
        self._system, self._right = np.zeros((n + k, n + k), order="F"), np.zeros(n + k)
        self._system[n:, :n], self._system[:n, n:] = self._J, self._J.T
        self._diagonal = np.diag_indices(n)
        self.only_torques = not (pulls or k or self._passive.any())
        self.before: StepBefore | None = None

    def torques(self, command: Array) -> Array:
        """Return the efforts of the torque drives within their limits [N m or N], shape (n,)."""
        force = np.zeros(self._n)
        commands, coordinates, limit = self._torques
        force[coordinates] = np.minimum(np.maximum(command[commands], -limit), limit)
        return force

    def __call__(self, command: Array, *, q: Array, v: Array, M: Array, bias: Array) -> Array:
        """Return the forces tau for the next step, shape (n,).

        Args:
            command: The commands of the scene.
            q: Positions [rad or m], shape (n,).
            v: Velocities [rad/s or m/s], shape (n,).
            M: Mass matrix without the inertia of the drives, shape (n, n).
            bias: Coriolis and gravity forces less known external forces, shape (n,).
        """
        h, n, before = self._h, self._n, self.before
        load = -bias
        if before is not None:
            load += before.M @ (v - before.v) / h + before.bias - before.tau
        force = self._A_h * v + self.torques(command)
        commands, coordinates, scale = self._pulls
        pull = -self._K * q
        pull[coordinates] += scale * command[commands]
        momentum = M @ v
        self._right[n:] = -self._back * (self._J @ q - self._offset)
        gain = self._gain
        while True:
            G = self._passive + gain
            self._system[:n, :n] = M
            self._system[self._diagonal] += h * G
            self._right[:n] = momentum + h * (load + force + pull)
            # As np.linalg.solve, without its checks, which take five times as long.
            _, _, solved, _ = dgesv(self._system, self._right)
            after = solved[:n]
            if not self._limited:
                break
            servo = pull - gain * after
            beyond = np.abs(servo) > self._effort
            if not beyond.any():
                break
            # A servo at its limit is a mere force.
            force += np.where(beyond, np.copysign(self._effort, servo), 0.0)
            pull, gain = np.where(beyond, 0.0, pull), np.where(beyond, 0.0, gain)
        tau: Array = force + pull - G * after
        if len(self._offset):
            tau -= solved[n:] @ self._J / h
        self.before = StepBefore(v, M, bias, tau)
        return tau


def _columns(rows: list[tuple[int, int, float]]) -> tuple[Array, Array, Array]:
    commands, coordinates, numbers = zip(*rows, strict=True) if rows else ((), (), ())
    return np.array(commands, np.intp), np.array(coordinates, np.intp), np.array(numbers)


def _couplings(robot: PlacedRobot, base: int) -> tuple[Array, Array]:
    """Return the couplings of a robot as J, shape (k, n), and the offsets of J q, shape (k,)."""
    joints = robot.model.moving_joints
    place = {joint.name: base + i for i, joint in enumerate(joints)}
    followers = [(joint.name, joint.mimic) for joint in joints if joint.mimic]
    J = np.zeros((len(followers), base + len(joints)))
    for row, (follower, mimic) in zip(J, followers, strict=True):
        row[place[follower]] = 1.0
        row[place[mimic.joint]] -= mimic.multiplier
    return J, np.array([mimic.offset for _, mimic in followers])
