"""A joint in ODE: a hinge or slider with a motor of three rows."""

from collections.abc import Sequence
from ctypes import CDLL
from enum import IntEnum
from math import inf, isfinite, pi
from typing import Any

import numpy as np

from kinetarium.model.robot import Joint, JointType
from kinetarium.spatial.arrays import Array

_SPEED, _MOST_EFFORT, _CFM = 2, 5, 8
"""ODE's numbers of the parameters of a motor."""
_OF_CHILD = 1
"""ODE's number for an axis that moves with the first body of a joint."""


class Row(IntEnum):
    """The rows of a joint's motor, each a constraint along its axis."""

    SERVO = 0
    """The spring and damper of a drive, cut off at the effort limit."""
    PASSIVE = 1
    """The joint's own damping and the inertia of its drive, without limit."""
    FRICTION = 2
    """Coulomb friction, which holds the joint still up to its own limit."""

    def parameter(self, number: int) -> int:
        """Return ODE's number for a parameter of this row."""
        return number + 0x100 * self


class OdeJoint:
    """A hinge or slider with its motor.

    A row of the motor makes the joint's speed v at the end of the step satisfy
    v + CFM f = SPEED, where f is the row's effort. That is any law f = k - d v,
    solved implicitly, with CFM = 1/d and SPEED = k/d (ODE manual, "How to use
    ERP and CFM").

    Attributes:
        joint: The joint of the model.
        revolute: Whether it is a hinge.
        handle: The hinge or slider.
        motor: Its motor.
        reference: Where ODE's own position is zero [rad or m].
        push: Adds an effort to `handle` for one step.
        set_limit: Sets a limit of `handle`.
        get_limit: Reads one back.
    """

    def __init__(self, library: CDLL, world: int, joint: Joint, *, reference: float) -> None:
        """Make the joint, not yet attached to anything."""
        self.joint = joint
        self.reference = reference
        self.revolute = joint.type is not JointType.PRISMATIC
        self._library = library
        self._kind, self._motor_kind, effort = (
            ("Hinge", "AMotor", "HingeTorque")
            if self.revolute
            else ("Slider", "LMotor", "SliderForce")
        )
        self.handle: int = self._call("Create", self._kind)(world, None)
        self.motor: int = self._call("Create", self._motor_kind)(world, None)
        self.push = self._call("Add", effort)
        self.set_limit = self._call("Set", self._kind, "Param")
        self.get_limit = self._call("Get", self._kind, "Param")
        self._set_motor = self._call("Set", self._motor_kind, "Param")
        self._get_motor = self._call("Get", self._motor_kind, "Param")

    def _call(self, *parts: str) -> Any:
        return getattr(self._library, "dJoint" + "".join(parts))

    def join(self, child: int, parent: int | None, *, anchor: Array, axis: Array) -> None:
        """Join two bodies that stand at the reference position.

        Args:
            child: The body below.
            parent: The body above; None for the world.
            anchor: A point on the axis [m], world frame, shape (3,).
            axis: The axis, world frame, shape (3,).
        """
        for handle in (self.handle, self.motor):
            self._library.dJointAttach(handle, child, parent)
        if self.revolute:
            self._library.dJointSetHingeAnchor(self.handle, *anchor)
        self._call("Set", self._kind, "Axis")(self.handle, *axis)
        self._call("Set", self._motor_kind, "NumAxes")(self.motor, len(Row))
        for row in Row:
            self._call("Set", self._motor_kind, "Axis")(self.motor, row, _OF_CHILD, *axis)

    def axis(self) -> Array:
        """Return the axis in the world frame, shape (3,)."""
        return self._vector(self._kind, "Axis")

    def position(self) -> float:
        """Return the position as ODE has it [rad or m], a hinge's less its full turns."""
        get = self._call("Get", self._kind, "Angle" if self.revolute else "Position")
        return float(get(self.handle)) + self.reference

    def anchors(self) -> tuple[Array, Array]:
        """Return the point of a hinge on the child and on the parent [m], world frame."""
        return self._vector("HingeAnchor"), self._vector("HingeAnchor2")

    def _vector(self, *parts: str) -> Array:
        vector = np.zeros(4)
        self._call("Get", *parts)(self.handle, vector.ctypes.data)
        return vector[:3]

    def set_row(self, row: Row, *, damping: float = inf, effort: float = inf) -> None:
        """Switch on a row.

        Args:
            damping: Its damping d [N m s/rad or N s/m]; infinite for ODE's stiffest.
            effort: Its effort limit [N m or N].
        """
        if damping < inf:
            self._set_motor(self.motor, row.parameter(_CFM), 1 / damping)
        self._set_motor(self.motor, row.parameter(_MOST_EFFORT), effort)

    def row(self, row: Row) -> tuple[float, float]:
        """Return the damping and the effort limit in force in a row; zeros if it is off."""
        effort = float(self._get_motor(self.motor, row.parameter(_MOST_EFFORT)))
        cfm = float(self._get_motor(self.motor, row.parameter(_CFM)))
        return (1 / cfm, effort) if effort else (0.0, 0.0)

    def set_speed(self, row: Row, speed: float) -> None:
        """Set the speed k/d [rad/s or m/s] that a row tends to."""
        self._set_motor(self.motor, row.parameter(_SPEED), speed)


LOWER, UPPER = 0, 1
"""ODE's numbers of the limits of a joint, which it calls stops."""
_STOP_ERP, _GIVEN_BACK = 9, 0.01
"""ODE's number of the share of an overshoot that a stop gives back per step, and that share [-]:
what it gives back is speed, so that by the world's own share a joint would bounce."""
_WIDE = pi - 0.1
"""Half range [rad] beyond which a hinge may jump from one limit to the other."""


def reference_position(joint: Joint) -> float:
    """Choose the position [rad or m] that ODE is to count as zero.

    For a hinge it is the middle between the limits, or opposite to it if they
    would lie near the seam where ODE's angle jumps.
    """
    lower, upper = joint.limits.lower, joint.limits.upper
    if joint.type is JointType.PRISMATIC:
        return 0.0
    if isfinite(lower) and isfinite(upper):
        middle, half = (lower + upper) / 2, (upper - lower) / 2
        return middle if half < _WIDE or abs(_less_turns(half)) <= pi / 2 else middle + pi
    return next((limit for limit in (lower, upper) if isfinite(limit)), 0.0)


class OdeLimits:
    """The limits of all joints.

    Attributes:
        rounds: Whether some hinge may go round, so that its turns have to be followed.
        references: Where ODE's own positions are zero [rad or m], shape (joints,). What does
            not go round is always less than half a turn from there.
    """

    def __init__(self, joints: Sequence[OdeJoint]) -> None:
        """Set the limits that can stay."""
        self.rounds = False
        self.references = np.array([joint.reference for joint in joints])
        self._all = joints
        wide = []
        for i, joint in enumerate(joints):
            joint.set_limit(joint.handle, _STOP_ERP, _GIVEN_BACK)
            lower, upper = joint.joint.limits.lower, joint.joint.limits.upper
            if not joint.revolute or (upper - lower) / 2 < _WIDE:
                joint.set_limit(joint.handle, LOWER, lower - joint.reference)
                joint.set_limit(joint.handle, UPPER, upper - joint.reference)
            else:
                self.rounds = True
                if isfinite(lower) or isfinite(upper):
                    wide.append(i)
        self._coordinates = np.array(wide, dtype=np.intp)
        self._joints = [joints[i] for i in wide]
        limits = [joint.joint.limits for joint in self._joints]
        self._bounds = np.array([(limit.lower, limit.upper) for limit in limits]).reshape(-1, 2)
        self._near = np.zeros(self._bounds.shape, dtype=np.bool_)

    def update(self, q: Array) -> None:
        """Set the limits within a quarter turn of the positions [rad or m], lift the others."""
        if not self._joints:
            return
        near = np.abs(self._bounds - q[self._coordinates, None]) < pi / 2
        for k, side in np.argwhere(near != self._near).tolist():
            joint = self._joints[k]
            limit = _less_turns(self._bounds[k, side] - joint.reference)
            lifted = (-inf, inf)[side]
            joint.set_limit(joint.handle, (LOWER, UPPER)[side], limit if near[k, side] else lifted)
        self._near = near

    def limits(self) -> list[tuple[float, float]]:
        """Return the limits in force [rad or m]: what ODE was given, or is when it comes near."""
        limits = [
            (
                joint.get_limit(joint.handle, LOWER) + joint.reference,
                joint.get_limit(joint.handle, UPPER) + joint.reference,
            )
            for joint in self._all
        ]
        for i, (lower, upper) in zip(
            self._coordinates.tolist(), self._bounds.tolist(), strict=True
        ):
            limits[i] = (lower, upper)
        return limits


def _less_turns(angle: float) -> float:
    """Return an angle [rad] less its full turns, in -pi .. pi."""
    return angle - 2 * pi * round(angle / (2 * pi))
