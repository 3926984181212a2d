"""Phases that move the arm and the fingers by position servos, and the first commands."""

import numpy as np

from kinetarium.control.interface import Measurement
from kinetarium.dynamics import RobotDynamics
from kinetarium.plan import TimedMotion
from kinetarium.scene.held_object import Holder
from kinetarium.spatial.arrays import Array
from kinetarium.studies.pick.robot import FINGER_STIFFNESS, Picker

RATE = 500.0
"""Control rate [Hz]; wheels get commands at a fifth of it."""
_CLOSING = 0.8
"""Duration of the fingers' way to the object [s]."""
_PRESSING = 0.4
"""Time for the grip force to build up [s]."""
_SPARE = 80.0
"""Most force of a servo beyond its limit, such that it presses with that limit [N]."""


class ArmMotion:
    """A phase that moves the arm: servo commands with the torques that the motion needs.

    A position servo gives k (command - q) - d v, so that command = q + (d v + tau) / k with the
    torques tau of inverse dynamics.

    Attributes:
        name: Name of the phase.
    """

    def __init__(
        self,
        name: str,
        motion: TimedMotion,
        *,
        picker: Picker,
        holder: Holder,
        loaded: bool = False,
        backwards: bool = False,
    ) -> None:
        """Compute the commands of the whole motion.

        Args:
            holder: The gripper with the object.
            loaded: Whether the arm carries it.
            backwards: Whether the motion is run in reverse.
        """
        self.name = name
        times = np.arange(round(motion.duration * RATE) + 2) / RATE
        q, v, a = motion.sample(times)
        if backwards:
            q, v, a = q[::-1], -v[::-1], a[::-1]
        self._commands = servo_commands(picker, holder, (q, v, a), loaded=loaded)
        self._places = [picker.commands[joint] for joint in picker.arm.joints]
        self._begin = 0.0

    def begin(self, t: float, measurement: Measurement) -> None:
        """Start at a time [s]."""
        self._begin = t

    def update(self, t: float, measurement: Measurement, command: Array) -> bool:
        """Write the commands of the arm; return whether the motion is over."""
        k = min(round((t - self._begin) * RATE), len(self._commands) - 1)
        command[self._places] = self._commands[k]
        return k == len(self._commands) - 1


def servo_commands(
    picker: Picker, holder: Holder, motion: tuple[Array, Array, Array], *, loaded: bool
) -> Array:
    """Return commands of the arm's servos along positions, speeds and accelerations, (k, arm)."""
    dynamics = RobotDynamics(holder.carrying() if loaded else holder.model)
    servos = [picker.servos[joint] for joint in picker.arm.joints]
    stiffness = np.array([servo.stiffness for servo in servos])
    damping = np.array([servo.damping for servo in servos])
    fingers, still = holder.home[holder.arm :], np.zeros(len(holder.home) - holder.arm)
    q, v, a = motion
    tau = np.array(
        [
            dynamics.inverse_dynamics(
                np.concatenate([q[k], fingers]),
                np.concatenate([v[k], still]),
                np.concatenate([a[k], still]),
            )[: holder.arm]
            for k in range(len(q))
        ]
    )
    return np.asarray(q + (damping * v + tau) / stiffness)


class Fingers:
    """A phase that moves the fingers from one opening to another, and may press.

    Attributes:
        name: Name of the phase.
    """

    def __init__(
        self,
        name: str,
        *,
        picker: Picker,
        holder: Holder,
        force: float = 0.0,
        duration: float = _CLOSING,
    ) -> None:
        """Compute where the fingers go.

        Args:
            holder: The gripper with the object.
            force: Grip force at each finger [N]; 0 to open.
            duration: Of their way [s].
        """
        self.name = name
        sides = holder.moving
        self._places = [picker.commands[side.joint] for side in sides]
        touching = holder.home[holder.arm :]
        wide = np.array([picker.positions[side.joint] for side in sides])
        self._end = touching if force else wide
        # One finger gives way by the force that the other presses with; that one presses with all
        # its effort, a little earlier: meanwhile the object is pushed aside.
        give = force / FINGER_STIFFNESS / holder.openings
        most = min(3.0, 1.0 + _SPARE / force) if force else 1.0
        self._press = np.where(np.arange(len(sides)) < len(sides) - 1, -give, -most * give)
        self._duration, self._more = duration, _PRESSING if force else 0.0

    def begin(self, t: float, measurement: Measurement) -> None:
        """Start at a time [s]."""
        self._begin, self._started = t, False

    def update(self, t: float, measurement: Measurement, command: Array) -> bool:
        """Write the commands of the fingers; return whether they have arrived."""
        if not self._started:
            self._from, self._started = command[self._places].copy(), True
        since = t - self._begin
        share = min(since / self._duration, 1.0)
        press = min(max((since - self._duration) / (_PRESSING / 4), 0.0), 1.0)
        command[self._places] = (1 - share) * self._from + share * self._end + press * self._press
        return since >= self._duration + self._more


def first_commands(picker: Picker) -> Array:
    """Return the first commands: wheels at rest, arm and fingers held, shape (c,)."""
    command = np.zeros(len(picker.commands))
    for name, place in picker.commands.items():
        command[place] = picker.positions[name]
    for wheel in picker.base.driven:
        command[wheel.command] = 0.0
    posture = picker.posture[None]
    still = np.zeros_like(posture)
    arm = [picker.commands[name] for name in picker.arm.joints]
    motion = posture, still, still
    command[arm] = servo_commands(picker, picker.usual_holder, motion, loaded=False)[0]
    return command
