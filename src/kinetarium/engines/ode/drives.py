"""Drives and losses of joints: what acts along their axes in a step."""

from collections.abc import Sequence
from math import copysign

from kinetarium.engines.layout import Layout
from kinetarium.engines.ode.joints import OdeJoint, Row
from kinetarium.scene import Drive
from kinetarium.spatial.arrays import Array


class Drives:
    """The drives of a layout, and the damping, friction and drive inertia of every joint.

    A servo's spring at the end of the step, k (r - q - h v), joins its damper in
    an implicit row. A drive's inertia I acts as a damper I/h that tends to the
    present speed: over a time step h its effort is -I (v' - v)/h, which adds I
    to the joint's inertia exactly.

    Attributes:
        efforts: What TORQUE drives push with [N m or N], one for each joint.
        follow: Whether positions or speeds have to be followed, so that `act` must be called.
    """

    def __init__(self, joints: Sequence[OdeJoint], layout: Layout, *, timestep: float) -> None:
        """Set up the motors.

        Args:
            joints: The joints, in the order of `layout.joints`.
            layout: The layout of the scene.
            timestep: Time step [s].
        """
        self.efforts = [0.0] * len(joints)
        self._pushed: list[tuple[int, int, float]] = []
        self._placed: list[tuple[int, int, OdeJoint, float]] = []
        self._sped: list[tuple[int, OdeJoint]] = []
        for i, (k, act) in enumerate(zip(layout.command_joints, layout.actuations, strict=True)):
            joint = joints[k]
            spring = act.stiffness if act.drive is Drive.POSITION else 0.0
            damping = act.damping + timestep * spring
            if act.drive is Drive.TORQUE:
                self._pushed.append((i, int(k), act.effort))
            elif damping > 0:
                joint.set_row(Row.SERVO, damping=damping, effort=act.effort)
                if spring > 0:
                    self._placed.append((i, int(k), joint, spring / damping))
                elif act.drive is Drive.VELOCITY:
                    self._sped.append((i, joint))
        self._pushers = [(joints[k].push, joints[k].handle, k) for _, k, _ in self._pushed]
        self._targets = [0.0] * len(self._placed)
        self._heavy: list[tuple[int, OdeJoint, float]] = []
        for k, joint in enumerate(joints):
            inertial = joint.joint.armature / timestep
            damping = joint.joint.damping + inertial
            if damping > 0:
                joint.set_row(Row.PASSIVE, damping=damping)
            if inertial > 0:
                self._heavy.append((k, joint, inertial / damping))
            if joint.joint.friction > 0:
                joint.set_row(Row.FRICTION, effort=joint.joint.friction)
        self.follow = bool(self._placed or self._heavy)

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
        for k, joint, share in self._heavy:
            joint.set_speed(Row.PASSIVE, share * float(v[k]))
