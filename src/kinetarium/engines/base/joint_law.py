"""JointLaw: drives, losses and couplings of joints as forces from outside an engine's solver.

For engines whose own servos will not do: they do not obey the stiffness and damping of a drive,
or contacts do not know of them, so that a wheel whose servo is stiff for its inertia rattles on
the ground. The law

    tau = u + K (q_ref - q - h v') + D (v_ref - v') + k (q_0 - q - h v') - d v' - c(v')
          - A (v' - v) / h + J' f

of the velocity v' after a step of length h is solved together with the equation of motion
M (v' - v) / h = tau + load (stable PD control: Tan, Liu and Turk, 2011): drives with their gains K
and D, springs k and damping d of joints, Coulomb friction c, drive inertia A, and coupling forces
f such that J q = offset regains a share of what it lost. The load is -bias, weight and Coriolis
forces as the engine has them now, and whatever else acted in the step before: contacts, joint
limits, loops.
Free motion is implicit Euler; against an obstacle tau comes to rest at the law's static value,
without overshoot.

Friction is part of the law because it has to act on the inertia with that of the drives, which the
engine does not know: its own constraint would stop a light link behind a heavy drive at once.
"""

from collections.abc import Callable, Iterator

import numpy as np

from kinetarium.engines.base.simulation import OptionsT, Setup
from kinetarium.engines.protocol import Layout, LoadedCoupling, LoadedDrive
from kinetarium.scene import DriveMode, PlacedRobot
from kinetarium.spatial.arrays import Array


class JointLaw:
    """The drives and losses of one robot with n coordinates.

    Attributes:
        damping: Joint damping d in force [N m s/rad or N s/m], shape (n,).
        armature: Inertia of the drives A in force [kg m^2 or kg], shape (n,).
        friction: Coulomb friction c in force [N m or N], shape (n,); none if `only_torques`, as
            the engine's own is right for a robot that has no other loss.
        only_torques: Whether there is nothing but torque drives: no servo, loss or coupling.
        before: The rows of the step before in the kernel; None if there was none.
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
        joints = robot.model.moving_joints
        self._n, self._h = base + len(joints), setup.timestep
        self.damping, self.armature, self.friction = np.zeros((3, self._n))
        self.damping[base:] = [joint.damping for joint in joints]
        self._springs = np.zeros((2, self._n))
        self._springs[0, base:] = [joint.stiffness for joint in joints]
        self._springs[1, base:] = [joint.stiffness * joint.springref for joint in joints]
        self.armature[base:] = [joint.armature for joint in joints]
        self._J, self._offset = _couplings(robot, base)
        if coupling_erp is None:
            self._J, self._offset = self._J[:0], self._offset[:0]
        self._back = (coupling_erp or 0.0) / self._h
        drives = [(i, base + k, drive) for i, k, drive in setup.layout.drives(robot.name)]
        torques = [row for row in drives if row[2].drive is DriveMode.TORQUE]
        self._commands = np.array([command for command, _, _ in torques], dtype=np.intp)
        self._driven = np.array([place for _, place, _ in torques], dtype=np.intp)
        self._limit = np.array([drive.effort for _, _, drive in torques])
        self._servos = [row for row in drives if servos and row[2].drive is not DriveMode.TORQUE]
        losses = self.damping.any() or self.armature.any() or self._springs[0].any()
        self.only_torques = not (self._servos or len(self._J) or losses)
        if not self.only_torques:
            self.friction[base:] = [joint.friction for joint in joints]
        if not servos:  # then the engine's motor in a joint is its drive, and not its friction
            moved = [place for _, place, drive in drives if drive.drive is not DriveMode.TORQUE]
            self.friction[moved] = 0.0
        self.before: Array | None = None
        self._law: Callable[[Array, Array, Array], None] | None = None

    def torques(self, command: Array) -> Array:
        """Return the efforts of the torque drives within their limits [N m or N], shape (n,)."""
        force = np.zeros(self._n)
        wanted = command[self._commands]
        force[self._driven] = np.minimum(np.maximum(wanted, -self._limit), self._limit)
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
        law = self._law or self._load()
        step = np.empty((4 + self._n, self._n))
        step[0], step[1], step[2], step[4:] = q, v, bias, M
        law(command, step, self._nothing if self.before is None else self.before)
        self.before = step
        tau: Array = step[3]
        return tau

    def loaded_drives(self, layout: Layout) -> Iterator[LoadedDrive]:
        """Yield the drives in force."""
        for command, effort in zip(self._commands.tolist(), self._limit.tolist(), strict=True):
            yield LoadedDrive(
                layout.commands[command], DriveMode.TORQUE, 0.0, 0.0, effort, read_back=False
            )
        for command, _, drive in self._servos:
            stiffness = drive.stiffness if drive.drive is DriveMode.POSITION else 0.0
            gains = (stiffness, drive.damping, drive.effort)
            yield LoadedDrive(layout.commands[command], drive.drive, *gains, read_back=False)

    def loaded_couplings(self, robot: PlacedRobot) -> Iterator[LoadedCoupling]:
        """Yield the couplings in force."""
        joints = robot.model.moving_joints
        place = {joint.name: self._n - len(joints) + i for i, joint in enumerate(joints)}
        followers = [(joint.name, joint.mimic.joint) for joint in joints if joint.mimic]
        for (follower, leader), row, offset in zip(followers, self._J, self._offset, strict=False):
            names = (f"{robot.name}/{follower}", f"{robot.name}/{leader}")
            yield LoadedCoupling(*names, float(-row[place[leader]]), float(offset), read_back=False)

    def _load(self) -> Callable[[Array, Array, Array], None]:
        """Load the kernel, which takes a second, and lay out what it needs."""
        from kinetarium.engines.base import _joint_law_kernel as kernel

        n = self._n
        self._nothing = np.zeros((4 + n, n))
        table = np.zeros((kernel.COUPLINGS + len(self._J), n + 1))
        table[kernel.COUPLINGS :, :n], table[kernel.COUPLINGS :, n] = self._J, self._offset
        constants = table[:, :n]
        constants[kernel.SOURCE] = -1
        constants[kernel.SOURCE, self._driven] = self._commands
        constants[kernel.LIMIT, self._driven] = self._limit
        constants[kernel.ARMATURE] = self.armature / self._h
        constants[kernel.FRICTION] = self.friction
        constants[kernel.SPRING], constants[kernel.RELAXED] = self._springs
        constants[kernel.PASSIVE] = self.damping + constants[kernel.ARMATURE]
        constants[kernel.PASSIVE] += self._h * self._springs[0]
        for command, i, drive in self._servos:
            position = drive.drive is DriveMode.POSITION
            stiffness = drive.stiffness if position else 0.0
            constants[kernel.SOURCE, i] = command
            constants[kernel.SCALE, i] = stiffness if position else drive.damping
            constants[kernel.STIFFNESS, i] = stiffness
            constants[kernel.GAIN, i] = drive.damping + self._h * stiffness
            constants[kernel.EFFORT, i] = drive.effort
        joint_forces, back, h = kernel.joint_forces, self._back, self._h

        def law(command: Array, step: Array, before: Array) -> None:
            joint_forces(command, table, back, h, step, before)

        self._law = law
        return law


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
