"""Commands on their way to the joints of PhysX."""

from typing import Any

from kinetarium.engines.layout import Layout
from kinetarium.engines.physx.memory import Memory
from kinetarium.engines.physx.parts import Parts
from kinetarium.scene import Drive


class Drives:
    """Hands commands to joints: torques robot by robot, targets servo by servo.

    In plain numbers, which are faster than arrays for as many as a robot has.
    """

    def __init__(self, layout: Layout, parts: Parts, *, memory: Memory) -> None:
        """Look up the driven joints.

        Args:
            layout: The layout of the scene.
            parts: The scene in PhysX.
            memory: Where the joints stand among those of their robots.
        """
        self._servos: list[tuple[int, float, Any]] = []
        # For each robot: its articulation, the forces on its joints, and of each motor the
        # number of its command, its joint, its sign and its limit.
        self._motors: list[tuple[Any, list[float], list[tuple[int, int, float, float]]]] = []
        for owner in layout.robot_joints.values():
            motors = []
            for i, (joint, actuation) in enumerate(
                zip(layout.command_joints.tolist(), layout.actuations, strict=True)
            ):
                if not owner.start <= joint < owner.stop:
                    continue
                part = parts.joints[joint]
                match actuation.drive:
                    case Drive.TORQUE:
                        motors.append((i, memory.dofs[joint], part.sign, actuation.effort))
                    case Drive.POSITION:
                        self._servos.append((i, part.sign, part.joint.set_drive_target))
                    case Drive.VELOCITY:
                        self._servos.append((i, part.sign, part.joint.set_drive_velocity_target))
            if motors:
                articulation = parts.joints[owner.start].joint.child_link.articulation
                self._motors.append((articulation, [0.0] * articulation.dof, motors))

    def apply(self, command: list[float]) -> None:
        """Hand over a command, torques cut off at their limits."""
        for articulation, forces, motors in self._motors:
            for i, dof, sign, effort in motors:
                c = command[i]
                forces[dof] = sign * (effort if c > effort else -effort if c < -effort else c)
            articulation.set_qf(forces)
        for i, sign, set_target in self._servos:
            set_target(sign * command[i])
