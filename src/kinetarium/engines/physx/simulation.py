"""PhysxSimulation: a scene inside PhysX, and the commands to its joints."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot
from operator import itemgetter
from struct import Struct
from typing import Any

import numpy as np

from kinetarium.engines.base.audit import limit_of, lumped_solids, merged
from kinetarium.engines.base.simulation import LIMIT, AppliedWrench, Setup, SimulationBase
from kinetarium.engines.physx.body_specs import PhysxJoint, PhysxModel, read_inertia
from kinetarium.engines.physx.build import UNBOUNDED, build
from kinetarium.engines.physx.contacts import read_contacts
from kinetarium.engines.physx.library import World, matrix
from kinetarium.engines.physx.options import PhysxOptions
from kinetarium.engines.protocol import (
    Audit,
    Contacts,
    Layout,
    LoadedDrive,
    LoadedJoint,
    LoadedLoop,
    LoadedSurface,
    State,
)
from kinetarium.scene import Actuation, DriveMode
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import rotation_from_quaternion

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


_LARGEST = float(np.finfo(np.float32).max)
"""Number that PhysX can still hold."""


class PhysxSimulation(SimulationBase[bytes]):
    """A scene inside PhysX.

    Contacts and sensors are those of the last step. A contact's force is its
    normal part alone: PhysX keeps friction to itself. Mimic joints are held by
    tendons (`coupling`), loops by constraints. PhysX computes in single
    precision. A run that is saved continues as a restored one does, without the
    contact points that PhysX keeps from step to step.
    """

    def __init__(self, setup: Setup[PhysxOptions]) -> None:
        """Build the scene."""
        super().__init__(setup)
        self._scene = setup.scene
        self._model = model = build(setup)
        self._world = world = World(model.entities, setup=setup)
        memory = Memory.of(model, world)
        self._drives = Drives(setup.layout, model, memory=memory)
        self._order = list(memory.order)
        self._pick = itemgetter(*memory.order) if memory.order else _nothing
        self._sizes = len(model.joints), len(model.floating)
        self._signs = np.array([joint.sign for joint in model.joints])
        self._flips = bool((self._signs < 0).any())
        self._centers = [
            (i, np.asarray(body.cmass_local_pose.p, dtype=np.float64).tolist())
            for i, body in enumerate(model.floating)
            if body.cmass_local_pose.p.any()
        ]
        self._movable = {name: solid.component for solid in model.solids for name in solid.members}
        self._template = np.frombuffer(world.system.pack(), dtype=np.float32)
        self._unpack = Struct(f"{self._template.size}f").unpack
        self._packed = b""
        self._numbers: tuple[float, ...] = ()

    def audit(self) -> Audit:
        """Read back the model as PhysX loaded it."""
        model, scene, layout = self._model, self._scene, self._layout
        inertias = {solid.name: read_inertia(solid.component) for solid in model.solids}
        joints: list[LoadedJoint] = []
        loops: list[LoadedLoop] = []
        loaded = iter(model.joints)
        for robot, frames in zip(scene.robots, model.frames, strict=True):
            joints += [_joint(next(loaded), X_PJ) for X_PJ in frames.joints.values()]
            for loop in robot.model.loops:
                tie = model.loops[f"{robot.name}/{loop.name}"]
                ends = map(matrix, (tie.hold.pose_in_parent, tie.hold.pose_in_child))
                loops.append(frames.loop(loop, list(zip(tie.links, ends, strict=True))))
        commands = zip(layout.commands, layout.command_joints, layout.actuations, strict=True)
        return Audit(
            tuple(lumped_solids(scene, inertias)),
            tuple(joints),
            frozen(self._world.system.config.gravity),
            model.remarks,
            drives=tuple(_drive(name, model.joints[k].joint, drive) for name, k, drive in commands),
            couplings=model.couplings,
            loops=tuple(loops),
            surfaces=merged(
                LoadedSurface(scene.solids[solid], friction, shape.physical_material.restitution)
                for shape, (_, solid) in model.shapes.items()
                for friction in (
                    shape.physical_material.static_friction,
                    shape.physical_material.dynamic_friction,
                )
            ),
        )

    def _write(self, state: State) -> None:
        poses, twists = state.poses.copy(), state.twists.copy()
        packed = self._template.copy()
        poses[:, 3:] /= np.linalg.norm(poses[:, 3:], axis=1, keepdims=True)
        for i, center in self._centers:
            _shift(twists[i], pose=poses[i], lever=center, sense=1)
        q, v = state.q * self._signs, state.v * self._signs
        packed[self._order] = np.concatenate([q, v, poses.ravel(), twists.ravel()])
        self._restore(packed.tobytes())

    def _read(self) -> tuple[Array, Array, Array, Array]:
        x = np.array(self._numbers)
        n, f = self._sizes
        if self._flips:
            x[:n] *= self._signs
            x[n : 2 * n] *= self._signs
        poses = x[2 * n : 2 * n + 7 * f].reshape(f, 7)
        twists = x[2 * n + 7 * f :].reshape(f, 6)
        for i, center in self._centers:
            _shift(twists[i], pose=poses[i], lever=center, sense=-1)
        return x[:n], x[n : 2 * n], poses, twists

    def _advance(self, command: Array, n: int, wrenches: Sequence[AppliedWrench]) -> int:
        numbers = command.tolist()
        if not hypot(*numbers) < _LARGEST:
            self._diverge()
            return 0
        self._drives.apply(numbers)
        system = self._world.system
        for i in range(n):
            for solid, F_W, point in wrenches:
                if solid in self._movable:
                    component = self._movable[solid]
                    component.add_force_at_point(F_W[:3].tolist(), point.tolist())
                    component.add_force_torque([0.0, 0.0, 0.0], F_W[3:].tolist())
            system.step()
            self._take(system.pack())
            if not hypot(*self._numbers) < LIMIT:
                self._suspect()
                return i + 1
        return n

    def _contacts(self) -> Contacts:
        return read_contacts(self._world, self._model.shapes)

    def _wrench(self, sensor: str) -> Array:
        link, R_LJ = self._model.sensors[sensor]
        # PhysX gives what the parent exerts on the child, force and torque one after the other.
        forces = link.articulation.get_link_incoming_joint_forces()[link.index]
        F: Array = -(R_LJ @ forces.reshape(2, 3).T).T.ravel()
        return F

    def _save(self) -> bytes:
        self._restore(self._packed)
        return self._packed

    def _restore(self, memory: bytes) -> None:
        """Continue from a state in a new PhysX scene."""
        self._take(memory)
        self._world.renew()
        self._world.system.unpack(memory)

    def _close(self) -> None:
        self._world.close()

    def _take(self, packed: bytes) -> None:
        self._packed = packed
        self._numbers = self._pick(self._unpack(packed))


def _drive(name: str, joint: Any, asked: Actuation) -> LoadedDrive:
    """Read back a drive; torques are limited by us (`Drives`)."""
    if asked.drive is DriveMode.TORQUE:
        return LoadedDrive(name, asked.drive, 0.0, 0.0, asked.effort, read_back=False)
    stiffness, damping = float(joint.stiffness), float(joint.damping)
    mode = DriveMode.POSITION if stiffness else asked.drive
    return LoadedDrive(name, mode, stiffness, damping, limit_of(joint.force_limit, _LARGEST))


def _joint(own: PhysxJoint, X_PJ: Array) -> LoadedJoint:
    R_LJ = rotation_from_quaternion(own.joint.pose_in_child.q)
    lower, upper = np.sort(own.sign * np.asarray(own.joint.limits, dtype=np.float64)[0])
    return LoadedJoint(
        name=own.name,
        axis=frozen(own.sign * R_LJ[:, 0]),
        damping=own.resistance.read_damping(),
        friction=own.resistance.read_friction(),
        armature=float(own.joint.armature[0]),
        lower=limit_of(float(lower), UNBOUNDED),
        upper=limit_of(float(upper), UNBOUNDED),
        X_PJ=X_PJ,
    )


def _nothing(numbers: tuple[float, ...]) -> tuple[float, ...]:
    """Pick nothing."""
    return ()


def _shift(twist: Array, *, pose: Array, lever: list[float], sense: int) -> None:
    """Take the velocity in a twist to a point fixed to the body, or back: v += sense w x R lever.

    In plain numbers, ten times faster here than in arrays.
    """
    a, b, c = lever
    w, x, y, z = pose[3:].tolist()
    # R lever = lever + w t + u x t with t = 2 u x lever and the quaternion's vector part u.
    t, u, v = 2 * (y * c - z * b), 2 * (z * a - x * c), 2 * (x * b - y * a)
    a, b, c = a + w * t + y * v - z * u, b + w * u + z * t - x * v, c + w * v + x * u - y * t
    p, q, r = twist[3:].tolist()
    twist[:3] += (sense * (q * c - r * b), sense * (r * a - p * c), sense * (p * b - q * a))
