"""Wiring: which commands drive which coordinates of a robot, and how."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinetarium.engines.layout import Layout
from kinetarium.model.robot import RobotModel
from kinetarium.scene import Drive
from kinetarium.spatial.arrays import Array

Indices = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Wiring:
    """The drives of one robot with n coordinates, the six of a free base first.

    Attributes:
        commands: Indices into the commands of the scene, shape (c,).
        coordinates: Index of the coordinate that each drives, shape (c,).
        scale: Force for a command of one: 1, or the stiffness or damping of a servo, shape (c,).
        limit: Effort limit of force drives, infinite for servos, shape (c,).
        stiffness: Of position servos [N m/rad or N/m], otherwise zero, shape (n,).
        damping: Of servos [N m s/rad or N s/m], otherwise zero, shape (n,).
        effort: Effort limit of servos, otherwise infinite [N m or N], shape (n,).
        resistance: Damping of the joints themselves [N m s/rad or N s/m], shape (n,).
        armature: Inertia of the drives [kg m^2 or kg], shape (n,).
    """

    commands: Indices
    coordinates: Indices
    scale: Array
    limit: Array
    stiffness: Array
    damping: Array
    effort: Array
    resistance: Array
    armature: Array

    @classmethod
    def of(cls, layout: Layout, model: RobotModel, *, robot: str, free: bool) -> "Wiring":
        """Find the drives of a robot in the layout of its scene.

        Args:
            layout: The layout.
            model: The robot.
            robot: Its name in the scene.
            free: Whether it has a free base.
        """
        own, first, joints = layout.robot_joints[robot], 6 * free, model.moving_joints
        n = first + len(joints)
        stiffness, damping, effort = np.zeros(n), np.zeros(n), np.full(n, np.inf)
        wires: list[tuple[int, int, float, float]] = []
        drives = zip(layout.command_joints.tolist(), layout.actuations, strict=True)
        for command, (joint, actuation) in enumerate(drives):
            if not own.start <= joint < own.stop:
                continue
            i = first + joint - own.start
            if actuation.drive is Drive.TORQUE:
                wires.append((command, i, 1.0, actuation.effort))
                continue
            position = actuation.drive is Drive.POSITION
            stiffness[i] = actuation.stiffness if position else 0.0
            damping[i], effort[i] = actuation.damping, actuation.effort
            wires.append((command, i, stiffness[i] if position else damping[i], np.inf))
        base = np.zeros(first)
        return cls(
            np.array([wire[0] for wire in wires], dtype=np.intp),
            np.array([wire[1] for wire in wires], dtype=np.intp),
            np.array([wire[2] for wire in wires]),
            np.array([wire[3] for wire in wires]),
            stiffness,
            damping,
            effort,
            np.append(base, [joint.damping for joint in joints]),
            np.append(base, [joint.armature for joint in joints]),
        )

    @property
    def plain(self) -> bool:
        """Whether there is nothing but forces: no servo, damping or armature."""
        return not any(
            part.any() for part in (self.stiffness, self.damping, self.resistance, self.armature)
        )

    def forces(self, command: Array) -> Array:
        """Give what the commands [in the scene's order] contribute to the forces, shape (n,)."""
        force = np.zeros(len(self.effort))
        wanted = command[self.commands] * self.scale
        force[self.coordinates] = np.minimum(np.maximum(wanted, -self.limit), self.limit)
        return force
