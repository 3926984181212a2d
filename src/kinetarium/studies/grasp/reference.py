"""The reference motion of the arm: a path of the tool, and its joint motion."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from kinetarium.control.arm.tracking import JacobianTracker
from kinetarium.dynamics import RobotDynamics
from kinetarium.model.load import catalogue_entry
from kinetarium.scene.grasped_cube import CUBE_SIZE, FINGERS, TOOL, gripper_arm
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.paths import Circle, Square
from kinetarium.studies.grasp.config import ToolPath

SETTLE = 1.0
"""Time between closing the fingers and the start of the path [s]."""
PERIOD = 8.0
"""Duration of one lap [s]."""
RADIUS = 0.1
"""Radius of the circle, half height of the eight and half side of the square [m]."""


@dataclass(frozen=True, slots=True, eq=False)
class ArmReference:
    """A joint motion at equal time intervals, both ends included.

    Attributes:
        q: Positions of the arm [rad], shape (k, 7).
        v: Velocities from each position to the next [rad/s], shape (k, 7).
    """

    q: Array
    v: Array


def offsets(path: ToolPath, time: Array) -> Array:
    """Return the desired tool displacement along y and z [m], shape (k, 2).

    Every path starts along y, across the pads. Circle and square have constant speed, the
    eight (Gerono's, upright) a constant rate of its parameter.

    Args:
        time: Since the start of the path [s], shape (k,).
    """
    turns = np.asarray(time) / PERIOD
    match path:
        case ToolPath.CIRCLE:
            circle = Circle(RADIUS)
            lowest = 0.75
            points = circle.position((turns + lowest) * circle.length)
            return points + frozen([0.0, RADIUS])
        case ToolPath.SQUARE:
            square = Square(2 * RADIUS)
            return square.position(turns * square.length) + RADIUS
        case ToolPath.EIGHT:
            angle = 2 * np.pi * turns
            return np.stack([RADIUS / 2 * np.sin(2 * angle), RADIUS * np.sin(angle)], axis=-1)
        case ToolPath.STILL | ToolPath.RELEASE:
            return np.zeros((*turns.shape, 2))


def home() -> Array:
    """Return the initial positions of arm and fingers, the pads at the cube, shape (9,)."""
    positions = {**catalogue_entry("panda").home, **dict.fromkeys(FINGERS, CUBE_SIZE / 2)}
    return frozen(list(positions.values()))


@lru_cache(maxsize=8)
def arm_reference(path: ToolPath, *, duration: float, timestep: float) -> ArmReference:
    """Return the joint motion along a path, the same for all engines.

    Args:
        duration: Simulated part of the path [s].
        timestep: Time between two positions [s].
    """
    dynamics = RobotDynamics(gripper_arm(coupled=False))
    time = timestep * np.arange(round(duration / timestep) + 1, dtype=np.float64)
    X_WT = np.tile(dynamics.link_pose(home(), TOOL), (len(time), 1, 1))
    X_WT[:, 1:3, 3] += offsets(path, time)
    if path in (ToolPath.STILL, ToolPath.RELEASE):
        q = np.tile(home()[:-2], (len(time), 1))
    else:
        tracker = JacobianTracker(dynamics, link=TOOL)
        q = tracker.follow(home(), X_WT, timestep=timestep)[:, :-2]
    v = np.diff(q, axis=0, append=q[-1:]) / timestep
    return ArmReference(frozen(q), frozen(v))
