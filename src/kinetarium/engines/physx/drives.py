"""Commands on their way to the joints of PhysX."""

from dataclasses import dataclass
from typing import Any

from kinetarium.engines.physx.body_specs import PhysxModel
from kinetarium.engines.physx.library import World
from kinetarium.engines.protocol import Layout
from kinetarium.scene import DriveMode

_BODY = 13
"""Numbers of a body or root link: quaternion wxyz, position, velocity of the centre, rate."""


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """Indices into the packed state.

    SAPIEN packs the free bodies in turn and then the robots: root, positions,
    speeds, and target position and speed of each joint.

    Attributes:
        order: Where in it the positions of all joints lie, then their speeds, then position
            and quaternion of each floating body, then speed of the centre and rate of each.
        dofs: Place of each joint among those of its robot.
    """

    order: tuple[int, ...]
    dofs: tuple[int, ...]

    @classmethod
    def of(cls, model: PhysxModel, world: World) -> "Memory":
        """Look up a scene in its world."""
        starts = {}
        positions: dict[str, int] = {}
        speeds: dict[str, int] = {}
        dofs: dict[str, int] = {}
        at = 0
        for body in world.system.rigid_dynamic_components:
            starts[body] = at
            at += _BODY
        names = {each.joint.child_link: each.name for each in model.joints}
        for link in world.system.articulation_link_components:
            if link.is_root:
                starts[link] = at
                at += _BODY
                joints = link.articulation.active_joints
                for i, joint in enumerate(joints):
                    name = names[joint.child_link]
                    positions[name], speeds[name], dofs[name] = at + i, at + len(joints) + i, i
                at += 4 * len(joints)
        firsts = [starts[body] for body in model.floating]
        order = [positions[each.name] for each in model.joints]
        order += [speeds[each.name] for each in model.joints]
        order += [first + i for first in firsts for i in (4, 5, 6, 0, 1, 2, 3)]
        order += [first + i for first in firsts for i in range(7, _BODY)]
        return cls(tuple(order), tuple(dofs[each.name] for each in model.joints))


class Drives:
    """Hands commands to joints: torques robot by robot, targets servo by servo.

    In plain numbers, which are faster than arrays for as many as a robot has.
    """

    def __init__(self, layout: Layout, model: PhysxModel, *, memory: Memory) -> None:
        """Look up the driven joints."""
        self._servos: list[tuple[int, float, Any]] = []
        # For each robot: its articulation, the forces on its joints, and of each motor the
        # number of its command, its joint, its sign and its limit.
        self._motors: list[tuple[Any, list[float], list[tuple[int, int, float, float]]]] = []
        for robot, own in layout.robot_joints.items():
            motors = []
            for i, joint, actuation in layout.drives(robot):
                driven = model.joints[own.start + joint]
                sign, target = driven.sign, driven.joint
                match actuation.drive:
                    case DriveMode.TORQUE:
                        dof = memory.dofs[own.start + joint]
                        motors.append((i, dof, sign, actuation.effort))
                    case DriveMode.POSITION:
                        self._servos.append((i, sign, target.set_drive_target))
                    case DriveMode.VELOCITY:
                        self._servos.append((i, sign, target.set_drive_velocity_target))
            if motors:
                articulation = model.joints[own.start].joint.child_link.articulation
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
