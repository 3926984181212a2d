"""How a joint is driven."""

from dataclasses import dataclass
from enum import StrEnum
from math import inf


class Drive(StrEnum):
    """What a joint's command means."""

    TORQUE = "torque"
    """The command is a torque [N m] or force [N], held over the step."""
    POSITION = "position"
    """The command is a position [rad or m]; the engine's own servo follows it."""
    VELOCITY = "velocity"
    """The command is a speed [rad/s or m/s]; the engine's own servo follows it."""
    PASSIVE = "passive"
    """The joint takes no command and moves freely."""


@dataclass(frozen=True, slots=True)
class Actuation:
    """The drive of a joint.

    A servo is a spring and a damper between the joint and its command, solved
    implicitly by the engine and cut off at the effort limit:
    effort = clip(stiffness (command - q) - damping v) for POSITION and
    clip(damping (command - v)) for VELOCITY.

    Attributes:
        drive: What the command means.
        stiffness: Of the position servo [N m/rad or N/m].
        damping: Of either servo [N m s/rad or N s/m].
        effort: Highest torque or force [N m or N]; infinite means the model's own limit.
    """

    drive: Drive = Drive.TORQUE
    stiffness: float = 0.0
    damping: float = 0.0
    effort: float = inf
