"""The order in which a scene's joints, commands and solids stand in every engine's arrays."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinetarium.scene import Actuation, Base, Drive, Motion, Scene


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Names in array order.

    Attributes:
        joints: All moving joints, "robot/joint", in each model's own order.
        commands: The driven joints, "robot/joint".
        command_joints: Index into `joints` of each command, shape (c,).
        actuations: The drive of each command, its effort limit filled in from the model.
        floating: Solids that fly freely: roots of free robots, then free bodies.
        solids: All solids, as in the scene.
        robot_joints: The part of `joints` that belongs to each robot, by name.
    """

    joints: tuple[str, ...]
    commands: tuple[str, ...]
    command_joints: NDArray[np.intp]
    actuations: tuple[Actuation, ...]
    floating: tuple[str, ...]
    solids: tuple[str, ...]
    robot_joints: dict[str, slice]

    @classmethod
    def of(cls, scene: Scene) -> "Layout":
        """Lay out a scene."""
        joints: list[str] = []
        commands: list[str] = []
        actuations: list[Actuation] = []
        robot_joints: dict[str, slice] = {}
        for robot in scene.robots:
            start = len(joints)
            for joint in robot.model.moving_joints:
                name = f"{robot.name}/{joint.name}"
                joints.append(name)
                actuation = robot.actuation.get(joint.name, Actuation(Drive.PASSIVE))
                if actuation.drive is not Drive.PASSIVE:
                    commands.append(name)
                    effort = min(actuation.effort, joint.limits.effort)
                    actuations.append(
                        Actuation(actuation.drive, actuation.stiffness, actuation.damping, effort)
                    )
            robot_joints[robot.name] = slice(start, len(joints))
        roots = [f"{r.name}/{r.model.root}" for r in scene.robots if r.base is Base.FREE]
        free = [body.name for body in scene.bodies if body.motion is Motion.FREE]
        index = {name: i for i, name in enumerate(joints)}
        return cls(
            joints=tuple(joints),
            commands=tuple(commands),
            command_joints=np.array([index[name] for name in commands], dtype=np.intp),
            actuations=tuple(actuations),
            floating=(*roots, *free),
            solids=scene.solids,
            robot_joints=robot_joints,
        )
