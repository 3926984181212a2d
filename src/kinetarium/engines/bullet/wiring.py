"""Wiring: which commands drive which joints of a robot."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinetarium.engines.bullet.multibody import Multibody
from kinetarium.engines.layout import Layout
from kinetarium.model.robot import Joint
from kinetarium.scene import Drive, PlacedRobot
from kinetarium.spatial.arrays import Array

Indices = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Wires:
    """The commands of one kind, and what they drive.

    Attributes:
        commands: Indices into the commands of the scene, shape (c,).
        joints: Indices into the robot's moving joints, shape (c,).
        stiffness: Of each drive [N m/rad or N/m], shape (c,).
        damping: Of each drive [N m s/rad or N s/m], shape (c,).
        effort: Limit of each drive [N m or N], shape (c,).
    """

    commands: Indices
    joints: Indices
    stiffness: Array
    damping: Array
    effort: Array


@dataclass(frozen=True, slots=True, eq=False)
class Wiring:
    """The drives of one robot.

    Attributes:
        robot: The robot in Bullet.
        joints: Its moving joints.
        commands: How many commands the scene has.
        torque: Its force and torque drives.
        position: Its position servos.
        velocity: Its velocity servos.
    """

    robot: Multibody
    joints: tuple[Joint, ...]
    commands: int
    torque: Wires
    position: Wires
    velocity: Wires

    @classmethod
    def of(cls, layout: Layout, placed: PlacedRobot, *, robot: Multibody) -> "Wiring":
        """Find the drives of a robot in the layout of its scene.

        Args:
            layout: The layout.
            placed: The robot in the scene.
            robot: The robot in Bullet.
        """
        return cls(
            robot,
            placed.model.moving_joints,
            len(layout.commands),
            torque=_wires(layout, placed.name, Drive.TORQUE),
            position=_wires(layout, placed.name, Drive.POSITION),
            velocity=_wires(layout, placed.name, Drive.VELOCITY),
        )


def _wires(layout: Layout, robot: str, drive: Drive) -> Wires:
    own = layout.robot_joints[robot]
    drives = zip(layout.command_joints.tolist(), layout.actuations, strict=True)
    wired = [
        (command, joint - own.start, actuation)
        for command, (joint, actuation) in enumerate(drives)
        if own.start <= joint < own.stop and actuation.drive is drive
    ]
    return Wires(
        np.array([command for command, _, _ in wired], dtype=np.intp),
        np.array([joint for _, joint, _ in wired], dtype=np.intp),
        np.array([actuation.stiffness for _, _, actuation in wired]),
        np.array([actuation.damping for _, _, actuation in wired]),
        np.array([actuation.effort for _, _, actuation in wired]),
    )
