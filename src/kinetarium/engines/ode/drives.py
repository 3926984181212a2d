"""Drives and losses of joints: what acts along their axes in a step."""

from collections.abc import Callable, Iterator, Sequence
from math import copysign

import numpy as np

from kinetarium.engines.base.simulation import Setup
from kinetarium.engines.ode.joints import OdeJoint, Row
from kinetarium.engines.ode.options import OdeOptions
from kinetarium.engines.protocol import Layout, LoadedCoupling, LoadedDrive
from kinetarium.scene import DriveMode
from kinetarium.spatial.arrays import Array


class Drives:
    """The drives of a layout, and the damping, friction and drive inertia of every joint.

    A servo's spring at the end of the step, k (r - q - h v), joins its damper in
    an implicit row, as does that of the joint itself. A drive's inertia I acts as
    a damper I/h that tends to the present speed: over a time step h its effort is
    -I (v' - v)/h, which adds I to the joint's inertia exactly.

    Attributes:
        efforts: What TORQUE drives push with [N m or N], one for each joint.
        follow: Whether positions or speeds have to be followed, so that `act` must be called.
    """

    def __init__(self, joints: Sequence[OdeJoint], layout: Layout, *, timestep: float) -> None:
        """Set up the motors of the joints, which stand in the order of `layout.joints`."""
        self.efforts = [0.0] * len(joints)
        self._joints, self._layout, self._timestep = joints, layout, timestep
        self._pushed: list[tuple[int, int, float]] = []
        self._placed: list[tuple[int, int, OdeJoint, float]] = []
        self._sped: list[tuple[int, OdeJoint]] = []
        for i, (k, act) in enumerate(zip(layout.command_joints, layout.actuations, strict=True)):
            joint = joints[k]
            spring = act.stiffness if act.drive is DriveMode.POSITION else 0.0
            damping = act.damping + timestep * spring
            if act.drive is DriveMode.TORQUE:
                self._pushed.append((i, int(k), act.effort))
            elif damping > 0:
                joint.set_row(Row.SERVO, damping=damping, effort=act.effort)
                if spring > 0:
                    self._placed.append((i, int(k), joint, spring / damping))
                elif act.drive is DriveMode.VELOCITY:
                    self._sped.append((i, joint))
        self._pushers = [(joints[k].push, joints[k].handle, k) for _, k, _ in self._pushed]
        self._targets = [0.0] * len(self._placed)
        self._heavy: list[tuple[int, OdeJoint, float, float, float]] = []
        for k, joint in enumerate(joints):
            inertial, spring = joint.joint.armature / timestep, joint.joint.stiffness
            damping = joint.joint.damping + inertial + timestep * spring
            if damping > 0:
                joint.set_row(Row.PASSIVE, damping=damping)
            if inertial > 0 or spring > 0:
                relaxed = joint.joint.springref
                self._heavy.append((k, joint, inertial / damping, spring / damping, relaxed))
            if joint.joint.friction > 0:
                joint.set_row(Row.FRICTION, effort=joint.joint.friction)
        self.follow = bool(self._placed or self._heavy)

    def loaded(self) -> Iterator[LoadedDrive]:
        """Yield the drives in force; the targets of springs and the limits of torques are ours."""
        springs = {i: gain for i, _, _, gain in self._placed}
        limits = {i: limit for i, _, limit in self._pushed}
        layout = self._layout
        for i, (name, k) in enumerate(zip(layout.commands, layout.command_joints, strict=True)):
            mode, limit = layout.actuations[i].drive, layout.actuations[i].effort
            if i in limits:
                yield LoadedDrive(name, DriveMode.TORQUE, 0.0, 0.0, limits[i], read_back=False)
                continue
            gain, effort = self._joints[k].row(Row.SERVO)
            stiffness = springs.get(i, 0.0) * gain
            damping = gain - self._timestep * stiffness
            # Without gains there is no row, and nothing to limit.
            own = (stiffness, damping, effort if gain else limit)
            yield LoadedDrive(name, mode, *own, read_back=bool(gain and not stiffness))

    def command(self, command: Sequence[float]) -> None:
        """Take finite commands, in the order of `layout.commands`."""
        for i, k, most in self._pushed:
            effort = command[i]
            self.efforts[k] = effort if -most <= effort <= most else copysign(most, effort)
        self._targets = [command[i] for i, _, _, _ in self._placed]
        for i, joint in self._sped:
            joint.set_speed(Row.SERVO, command[i])

    def push(self) -> None:
        """Push the joints during the next step."""
        for push, handle, k in self._pushers:
            push(handle, self.efforts[k])

    def act(self, q: Array, v: Array) -> None:
        """Act on the joints during the next step.

        Args:
            q: Positions [rad or m], shape (joints,).
            v: Speeds [rad/s or m/s], shape (joints,).
        """
        self.push()
        for target, (_, k, joint, gain) in zip(self._targets, self._placed, strict=True):
            joint.set_speed(Row.SERVO, gain * (target - float(q[k])))
        for k, joint, share, spring, relaxed in self._heavy:
            joint.set_speed(Row.PASSIVE, share * float(v[k]) + spring * (relaxed - float(q[k])))


TOLERANCE = 1e-6
"""How far coupled speeds may differ after a step [rad/s or m/s]."""
_HOPELESS = 1e6
"""Difference of speeds [rad/s or m/s] beyond which the run has diverged."""
_MOST_TRIES = 10
_LEAST_DAMPING, _MOST_DAMPING = 1e-4, 1.0
"""Damping of the search, as a share of the mobility of the joints alone."""


class Couplings:
    """The couplings G q = offset of all robots, followers less their leaders' share.

    Attributes:
        count: How many there are.
        forces: The coupling forces of the last step [N m or N], shape (count,).
    """

    def __init__(
        self, setup: Setup[OdeOptions], joints: Sequence[OdeJoint], *, inertias: Sequence[float]
    ) -> None:
        """Read the couplings off the robots of a scene.

        Args:
            joints: The joints, in the order of `layout.joints`.
            inertias: Mass or moment of inertia that moves with each [kg or kg m^2].
        """
        scene, options, timestep = setup.scene, setup.options, setup.timestep
        index = {name: i for i, name in enumerate(setup.layout.joints)}
        followers = [
            (index[f"{robot.name}/{joint.name}"], index[f"{robot.name}/{joint.mimic.joint}"],
             joint.mimic)
            for robot in scene.robots
            for joint in robot.model.moving_joints
            if joint.mimic
        ]  # fmt: skip
        self.count = len(followers)
        self._names = [
            (setup.layout.joints[follower], setup.layout.joints[leader], leader)
            for follower, leader, _ in followers
        ]
        self._G = np.zeros((self.count, len(joints)))
        self._offset = np.array([mimic.offset for _, _, mimic in followers])
        for row, (follower, leader, mimic) in enumerate(followers):
            self._G[row, follower] = 1.0
            self._G[row, leader] -= mimic.multiplier
        self._pushers = [
            (joints[k].push, joints[k].handle, k)
            for k in np.flatnonzero(self._G.any(axis=0)).tolist()
        ]
        self._return, self._fastest = options.erp / timestep, options.correcting_speed
        self._mobility = timestep * (self._G**2 / np.asarray(inertias)).sum(axis=1)
        self.reset()

    def reset(self) -> None:
        """Forget the forces and what was learnt of their effect."""
        self.forces = np.zeros(self.count)
        self._slope = np.diag(self._mobility)

    def loaded(self) -> Iterator[LoadedCoupling]:
        """Yield the couplings in force."""
        rows = zip(self._names, self._G, self._offset.tolist(), strict=True)
        for (joint, leader, k), row, offset in rows:
            yield LoadedCoupling(joint, leader, float(-row[k]), offset, read_back=False)

    @property
    def efforts(self) -> Array:
        """What the coupling forces of the last step are at the joints [N m or N]."""
        return np.asarray(self.forces @ self._G)

    def save(self) -> tuple[Array, Array]:
        """Return the forces and what was learnt of their effect."""
        return self.forces, self._slope

    def restore(self, saved: tuple[Array, Array]) -> None:
        """Take back what was saved."""
        self.forces, self._slope = saved

    def push(self) -> None:
        """Push the joints with the coupling forces during the next step."""
        efforts = self.efforts.tolist()
        for push, handle, k in self._pushers:
            push(handle, efforts[k])

    def solve(self, q: Array, attempt: Callable[[], Array]) -> None:
        """Make a step that keeps the couplings.

        Args:
            q: Positions at its start [rad or m], shape (joints,).
            attempt: Goes back to the start, calls `push`, makes the step and returns the speeds.
        """
        wanted = self._return * (self._offset - self._G @ q)
        wanted = np.clip(wanted, -self._fastest, self._fastest)

        def miss(forces: Array) -> Array:
            self.forces = forces
            return np.asarray(self._G @ attempt() - wanted)

        forces, slope, damping = self.forces, self._slope, _LEAST_DAMPING
        error = miss(forces)
        for _ in range(_MOST_TRIES):
            if not TOLERANCE < np.abs(error).max() < _HOPELESS or damping > _MOST_DAMPING:
                break
            damped = slope + damping * np.diag(self._mobility)
            change = -np.linalg.lstsq(damped, error)[0]
            tried = miss(forces + change)
            if np.abs(tried).max() < _HOPELESS:
                surprise = tried - error - slope @ change
                slope = slope + np.outer(surprise, change / (change @ change))
            if np.abs(tried).max() < np.abs(error).max():
                forces, error = self.forces, tried
            else:
                damping *= 100
        if self.forces is not forces:
            miss(forces)
        self._slope = slope
