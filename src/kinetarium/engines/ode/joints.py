"""A joint in ODE: a hinge or slider with a motor of three rows."""

from ctypes import CDLL
from enum import IntEnum
from math import inf
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
        """Give ODE's number for a parameter of this row."""
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
        set_stop: Sets a parameter of the stops of `handle`.
        get_stop: Reads one back.
    """

    def __init__(self, library: CDLL, world: int, joint: Joint, *, reference: float) -> None:
        """Make the joint, not yet attached to anything.

        Args:
            library: ODE.
            world: The world.
            joint: The joint of the model.
            reference: Where ODE's own position is to be zero [rad or m].
        """
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
        self.set_stop = self._call("Set", self._kind, "Param")
        self.get_stop = self._call("Get", self._kind, "Param")
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
        """Give the axis in the world frame, shape (3,)."""
        axis = np.zeros(4)
        self._call("Get", self._kind, "Axis")(self.handle, axis.ctypes.data)
        return axis[:3]

    def set_row(self, row: Row, *, damping: float = inf, effort: float = inf) -> None:
        """Switch on a row.

        Args:
            row: The row.
            damping: Its damping d [N m s/rad or N s/m]; infinite for ODE's stiffest.
            effort: Its effort limit [N m or N].
        """
        if damping < inf:
            self._set_motor(self.motor, row.parameter(_CFM), 1 / damping)
        self._set_motor(self.motor, row.parameter(_MOST_EFFORT), effort)

    def row(self, row: Row) -> tuple[float, float]:
        """Give the damping and the effort limit in force in a row; zeros if it is off."""
        effort = float(self._get_motor(self.motor, row.parameter(_MOST_EFFORT)))
        cfm = float(self._get_motor(self.motor, row.parameter(_CFM)))
        return (1 / cfm, effort) if effort else (0.0, 0.0)

    def set_speed(self, row: Row, speed: float) -> None:
        """Set the speed k/d [rad/s or m/s] that a row tends to."""
        self._set_motor(self.motor, row.parameter(_SPEED), speed)
