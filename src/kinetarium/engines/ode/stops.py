"""Joint limits as stops of ODE's joints.

ODE knows the angle of a hinge only from -pi to pi about its zero, and a stop
only inside of that. Hinges that go nearly round or farther therefore have their
stops set as they come near and lifted again.
"""

from collections.abc import Sequence
from math import inf, isfinite, pi

import numpy as np

from kinetarium.engines.ode.joints import OdeJoint
from kinetarium.model.robot import Joint, JointType
from kinetarium.spatial.arrays import Array

LO_STOP, HI_STOP = 0, 1
"""ODE's numbers of the parameters of a joint's stops."""
_WIDE = pi - 0.1
"""Half range [rad] beyond which a hinge may jump from one stop to the other."""


def stop_reference(joint: Joint) -> float:
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


class Stops:
    """The limits of all joints.

    Attributes:
        rounds: Whether some hinge may go round, so that its turns have to be followed.
        references: Where ODE's own positions are zero [rad or m], shape (joints,). What does
            not go round is always less than half a turn from there.
    """

    def __init__(self, joints: Sequence[OdeJoint]) -> None:
        """Set the stops that can stay."""
        self.rounds = False
        self.references = np.array([joint.reference for joint in joints])
        self._all = joints
        wide = []
        for i, joint in enumerate(joints):
            lower, upper = joint.joint.limits.lower, joint.joint.limits.upper
            if not joint.revolute or (upper - lower) / 2 < _WIDE:
                joint.set_stop(joint.handle, LO_STOP, lower - joint.reference)
                joint.set_stop(joint.handle, HI_STOP, upper - joint.reference)
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
        """Set the stops within a quarter turn of the positions [rad or m], lift the others."""
        if not self._joints:
            return
        near = np.abs(self._bounds - q[self._coordinates, None]) < pi / 2
        for k, side in np.argwhere(near != self._near).tolist():
            joint = self._joints[k]
            stop = _less_turns(self._bounds[k, side] - joint.reference)
            lifted = (-inf, inf)[side]
            joint.set_stop(
                joint.handle, (LO_STOP, HI_STOP)[side], stop if near[k, side] else lifted
            )
        self._near = near

    def limits(self) -> list[tuple[float, float]]:
        """Give the limits in force [rad or m]: what ODE was given, or is when it comes near."""
        limits = [
            (
                joint.get_stop(joint.handle, LO_STOP) + joint.reference,
                joint.get_stop(joint.handle, HI_STOP) + joint.reference,
            )
            for joint in self._all
        ]
        for i, (lower, upper) in zip(
            self._coordinates.tolist(), self._bounds.tolist(), strict=True
        ):
            limits[i] = (lower, upper)
        return limits


def _less_turns(angle: float) -> float:
    """Give an angle [rad] less its full turns, in -pi .. pi."""
    return angle - 2 * pi * round(angle / (2 * pi))
