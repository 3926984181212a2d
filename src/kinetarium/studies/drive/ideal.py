"""The drive without an engine: the ramped commands of open loop, and friction after Coulomb.

Wheels that need not skid roll. Those that must are in the steady skid of their
momentary speeds (`coulomb.py`): what it takes to get there is left out, which a
slow vehicle does within centimetres.
"""

from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from kinetarium.control.differential_drive import SpeedRamp
from kinetarium.control.driving_reference import DrivingReference
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.studies.drive.config import PathName, Robot
from kinetarium.studies.drive.coulomb import coulomb_skid
from kinetarium.studies.drive.profiles import CONTROL_RATE
from kinetarium.studies.drive.run import HOLD, REFERENCES
from kinetarium.studies.drive.vehicle import vehicle

_NODE = 10
"""Commands between two at which the skid is solved; between them it changes evenly."""


@dataclass(frozen=True, slots=True, eq=False)
class IdealDrive:
    """A drive in open loop, with a sample for each command.

    Attributes:
        position: Where the robot is when the command is given [m], shape (n, 2).
        heading: Its unwrapped heading then [rad], shape (n,).
        yaw_rate: Its yaw rate until the next command [rad/s], shape (n,).
        commanded: The yaw rate that the command stands for [rad/s], shape (n,).
    """

    position: Array
    heading: Array
    yaw_rate: Array
    commanded: Array


@lru_cache(maxsize=64)
def ideal_drive(
    robot: Robot, path: PathName, *, friction: float, wheel_damping: float, multiplier: float
) -> IdealDrive:
    """Work out where open loop would take a robot.

    Args:
        robot: The robot.
        path: The path.
        friction: Between wheels and ground [-].
        wheel_damping: Gain of the wheels' servos [N m s/rad].
        multiplier: What the track is multiplied by if the wheels skid [-].
    """
    commands = _commands(REFERENCES[path])
    moving = vehicle(robot)
    drive = moving.drive(multiplier)

    @cache
    def skid(v: float, w: float) -> tuple[float, float, float]:
        if not w or not moving.skids:
            return v, 0.0, w
        left, right = drive.wheel_speeds(v, w)
        found = coulomb_skid(
            moving,
            left=left,
            right=right,
            friction=friction,
            wheel_damping=wheel_damping,
            effort=moving.model.moving_joints[0].limits.effort,
        )
        return found.forward, found.sideways, found.yaw_rate

    bend = np.abs(np.diff(commands, n=2, axis=0, prepend=commands[:1], append=commands[-1:]))
    kinks = np.flatnonzero((bend > 1e-3).any(axis=1))
    nodes = np.union1d(np.arange(0, len(commands), _NODE), [*kinks, len(commands) - 1])
    solved = np.array([skid(v, w) for v, w in commands[nodes].tolist()])
    every = np.arange(len(commands))
    forward, sideways, yaw_rate = (np.interp(every, nodes, column) for column in solved.T)
    turned = np.append(0.0, np.cumsum(yaw_rate) / CONTROL_RATE)
    # The heading in the middle of a period, during which the speeds are held.
    middle = (turned[1:] + turned[:-1]) / 2
    c, s = np.cos(middle), np.sin(middle)
    steps = np.stack([forward * c - sideways * s, forward * s + sideways * c], axis=-1)
    position = np.vstack([np.zeros(2), np.cumsum(steps, axis=0) / CONTROL_RATE])
    return IdealDrive(
        frozen(position[:-1]), frozen(turned[:-1]), frozen(yaw_rate), frozen(commands[:, 1])
    )


def _commands(reference: DrivingReference) -> Array:
    """Give the speeds that open loop commands [m/s and rad/s], shape (n, 2)."""
    times = np.arange(0.0, reference.duration + HOLD, 1 / CONTROL_RATE)
    ramp, now = SpeedRamp(), (0.0, 0.0)
    speeds = np.empty((len(times), 2))
    for k, wanted in enumerate(reference.sample(times)[1].tolist()):
        speeds[k] = now = ramp.toward(wanted, now=now, period=1 / CONTROL_RATE)
    return speeds
