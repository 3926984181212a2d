"""Servo, friction and damping of a joint, all solved implicitly."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetarium.engines.physx.library import physx
from kinetarium.model.robot import Joint, JointType
from kinetarium.scene import Actuation, Drive

_ENDLESS = float(np.finfo(np.float32).max)
_CREEP = 1e-6
"""Speed [rad/s or m/s] at which a joint that sticks gives way under its full friction."""

Reader = Callable[[], float]


@dataclass(frozen=True, slots=True, eq=False)
class Resistance:
    """What a joint does against its motion.

    Attributes:
        read_damping: Reads back its viscous damping [N m s/rad or N s/m].
        read_friction: Reads back its Coulomb friction [N m or N].
        beside: Whether part of it acts beside the joint, so that a sensor in it does not feel it.
    """

    read_damping: Reader
    read_friction: Reader
    beside: bool


def resist(link: Any, joint: Joint, *, actuation: Actuation, timestep: float) -> Resistance:
    """Set up the servo, the friction and the damping of a joint.

    PhysX gives a joint one drive: a spring and a damper with a limit. The first
    of the three that the joint has takes it. The others are drives of further
    constraints between the two links, whose force the joint's own reading
    lacks. Coulomb friction is a damper so hard that its limit is what counts.

    Args:
        link: The child link.
        joint: The joint of the model.
        actuation: Its drive.
        timestep: Time step [s].
    """
    slots = _Slots(link, slides=joint.type is JointType.PRISMATIC, timestep=timestep)
    if actuation.drive in (Drive.POSITION, Drive.VELOCITY):
        stiffness = actuation.stiffness if actuation.drive is Drive.POSITION else 0.0
        slots.add(actuation.damping, stiffness=stiffness, limit=actuation.effort)
    read_damping, read_friction = _nothing, _nothing
    if joint.friction > 0:
        _, read_friction = slots.add(joint.friction / _CREEP, limit=joint.friction)
    if joint.damping > 0:
        read_damping, _ = slots.add(joint.damping)
    return Resistance(read_damping, read_friction, slots.count > 1)


class _Slots:
    """The drives of a joint: its own, then those of added constraints."""

    def __init__(self, link: Any, *, slides: bool, timestep: float) -> None:
        self._link = link
        self._slides = slides
        self._timestep = timestep
        self.count = 0

    def add(
        self, damping: float, *, stiffness: float = 0.0, limit: float = _ENDLESS
    ) -> tuple[Reader, Reader]:
        """Set up a drive and give readers of its damping and its limit."""
        limit = min(limit, _ENDLESS)
        joint = self._link.joint
        self.count += 1
        if self.count == 1:
            joint.set_drive_properties(stiffness, damping, limit, "force")
            return (lambda: joint.damping), (lambda: joint.force_limit)
        added = physx.PhysxDriveComponent(self._link)
        added.parent = self._link.parent
        added.pose_in_parent = joint.pose_in_parent
        added.pose_in_child = joint.pose_in_child
        axis = "x" if self._slides else "twist"
        # Here the limit is one of the impulse within a step.
        impulse = min(limit * self._timestep, _ENDLESS)
        getattr(added, f"set_drive_property_{axis}")(stiffness, damping, impulse, "force")
        self._link.entity.add_component(added)
        read = getattr(added, f"get_drive_property_{axis}")
        return (lambda: read()[1]), (lambda: read()[2] / self._timestep)


def _nothing() -> float:
    return 0.0
