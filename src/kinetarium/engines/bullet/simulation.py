"""BulletSimulation: a scene inside Bullet, and the drives of its robots."""

import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isfinite

import numpy as np

from kinetarium.engines.base.joint_law import JointLaw
from kinetarium.engines.base.simulation import AppliedWrench, Setup, SimulationBase
from kinetarium.engines.bullet.build import World, audit
from kinetarium.engines.bullet.joint_space import Floating, JointSpace
from kinetarium.engines.bullet.library import BulletClient
from kinetarium.engines.bullet.multibody import Multibody
from kinetarium.engines.bullet.options import BulletOptions, Servo
from kinetarium.engines.bullet.readings import Memory, WrenchSensors, read_contacts
from kinetarium.engines.protocol import Audit, Contacts, Layout, LoadedDrive, State
from kinetarium.scene import DriveMode
from kinetarium.spatial.arrays import Array

_FAR = 1e4
"""Height at which nothing touches [m]."""
_NO_POSES, _NO_TWISTS = np.zeros((0, 7)), np.zeros((0, 6))


class TorqueDrive:
    """Puts the torque commands of one robot on its joints, cut off at the effort limits."""

    def __init__(self, bullet: BulletClient, robot: Multibody, *, layout: Layout) -> None:
        """Look up the torque drives of a robot."""
        drives = [row for row in layout.drives(robot.name) if row[2].drive is DriveMode.TORQUE]
        self._robot, self._links = robot.id, [robot.joints[joint] for _, joint, _ in drives]
        self._limits = [(command, drive.effort) for command, _, drive in drives]
        self._names = layout.commands
        self._set, self._mode = bullet.bare("setJointMotorControlArray"), bullet.TORQUE_CONTROL
        self._number = bullet.number

    def __call__(self, commands: Sequence[float]) -> None:
        """Hand over the forces for the next step."""
        forces = [
            limit if commands[i] > limit else -limit if commands[i] < -limit else commands[i]
            for i, limit in self._limits
        ]
        self._set(self._robot, self._links, self._mode, forces=forces, physicsClientId=self._number)

    def loaded(self) -> Iterator[LoadedDrive]:
        """Yield the drives in force."""
        for i, limit in self._limits:
            yield LoadedDrive(self._names[i], DriveMode.TORQUE, 0.0, 0.0, limit, read_back=False)


class MotorDrive:
    """Passes the commands of one kind of drive of one robot to Bullet's own motors."""

    def __init__(
        self,
        bullet: BulletClient,
        robot: Multibody,
        *,
        layout: Layout,
        kind: DriveMode,
        options: BulletOptions,
    ) -> None:
        """Look up the position or velocity drives of a robot."""
        drives = [row for row in layout.drives(robot.name) if row[2].drive is kind]
        self._bullet, self._robot = bullet, robot.id
        self._names, self._kind = layout.commands, kind
        self._links = [robot.joints[joint] for _, joint, _ in drives]
        self._commands = [command for command, _, _ in drives]
        self._forces = [drive.effort for _, _, drive in drives]
        self._gains = {"velocityGains": [options.motor_velocity_gain] * len(drives)}
        self._mode, self._target = bullet.VELOCITY_CONTROL, "targetVelocities"
        if kind is DriveMode.POSITION:
            self._gains["positionGains"] = [options.motor_position_gain] * len(drives)
            self._mode, self._target = bullet.POSITION_CONTROL, "targetPositions"

    def __call__(self, commands: Sequence[float]) -> None:
        """Set the targets of the motors."""
        targets = {self._target: [commands[i] for i in self._commands]}
        self._bullet.setJointMotorControlArray(
            self._robot, self._links, self._mode, forces=self._forces, **targets, **self._gains
        )

    def loaded(self) -> Iterator[LoadedDrive]:
        """Yield the drives in force; stiffness and damping have no counterpart in them."""
        for i, force in zip(self._commands, self._forces, strict=True):
            yield LoadedDrive(self._names[i], self._kind, 0.0, 0.0, force, read_back=False)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class _Saved:
    """A state that Bullet keeps under a number, and what the adapter adds to it."""

    number: int
    sensors: Memory
    steps_before: tuple[Array | None, ...]


class BulletSimulation(SimulationBase[_Saved]):
    """A scene inside Bullet.

    Contacts and sensors are those of the last step: taken at its start, with
    the forces that acted through it, normal and friction. Mimic joints are
    coupled by gears and loops closed by constraints of Bullet's solver.
    Position and velocity drives, joint damping, friction and armature are
    forces from outside it (`JointLaw`; friction alone is Bullet's), and sensors
    are read off the motion (`WrenchSensors`). A restored run continues bit by
    bit; only where a link touches one and the same solid with several of its
    shapes, to rounding.
    """

    def __init__(self, setup: Setup[BulletOptions], *, bullet: BulletClient, world: World) -> None:
        """Start a scene that has been built; pybullet's world ends with the simulation."""
        super().__init__(setup)
        self._bullet, self._scene, self._world = bullet, setup.scene, world
        self._options = setup.options
        self._places = world.places()
        self._robots = [robot for robot in world.robots if robot.joints]
        self._jointed = [(robot.id, robot.joints) for robot in self._robots]
        moving = [m for m in (*world.robots, *world.bodies) if m.free or m.joints]
        self._floating = [Floating(bullet, m) for m in moving if m.free]
        self._homes = [(m.id, *bullet.getBasePositionAndOrientation(m.id)) for m in moving]
        self._sensors = WrenchSensors(
            bullet, setup.scene, robots=world.robots, timestep=setup.timestep
        )
        self._spaces: dict[str, JointSpace] = {}
        self._drives: list[TorqueDrive | MotorDrive] = []
        self._laws: dict[str, JointLaw] = {}
        for robot in world.robots:
            if robot.free or robot.joints:
                self._add_drives(setup, robot)
        # The loop of steps is short enough to feel the look-up.
        self._step, self._number = bullet.bare("stepSimulation"), bullet.number
        self._read_joints = bullet.bare("getJointStates")
        self._wrenches: Sequence[AppliedWrench] = ()  # of the last step
        self._has_contacts = True  # whether Bullet may remember contact points
        self._known = False  # whether q and v are those of now
        self._q: list[float] = []
        self._v: list[float] = []
        self._end = weakref.finalize(self, bullet.disconnect)

    def audit(self) -> Audit:
        """Read back the model as Bullet loaded it."""
        drives = [drive for own in self._drives for drive in own.loaded()]
        drives += [
            drive for law in self._laws.values() for drive in law.loaded_drives(self._layout)
        ]
        loaded = audit(
            self._bullet, self._scene, world=self._world, laws=self._laws, options=self._options
        )
        commands = self._layout.commands
        return replace(loaded, drives=tuple(sorted(drives, key=lambda d: commands.index(d.joint))))

    def _write(self, state: State) -> None:
        self._sensors.forget()
        for law in self._laws.values():
            law.before = None
        if self._has_contacts:
            self._forget_contacts()
            self._has_contacts = False
        for robot in self._robots:
            own = self._layout.robot_joints[robot.name]
            self._bullet.resetJointStatesMultiDof(
                robot.id,
                robot.joints,
                state.q[own, np.newaxis].tolist(),
                state.v[own, np.newaxis].tolist(),
            )
        for base, placed, twist in zip(
            self._floating, state.poses.tolist(), state.twists.tolist(), strict=True
        ):
            base.write(placed, twist)
        self._known = False

    def _read(self) -> tuple[Array, Array, Array, Array]:
        self._observe()
        poses, twists = [], []
        for base in self._floating:
            placed, twist = base.read()
            poses.append(placed)
            twists.append(twist)
        return (
            np.array(self._q),
            np.array(self._v),
            np.array(poses or _NO_POSES),
            np.array(twists or _NO_TWISTS),
        )

    def _advance(self, command: Array, n: int, wrenches: Sequence[AppliedWrench]) -> int:
        numbers = command.tolist()
        for left in range(n, 0, -1):
            for drive in self._drives:
                drive(numbers)
            if self._laws and not self._apply_laws(command):
                self._diverge()
                return n - left
            if wrenches:
                self._push(wrenches)
            if left == 1 and self._scene.sensors:
                self._sensors.note()
            self._step(self._number)
            self._known = False
        self._wrenches, self._has_contacts = wrenches, True
        return n

    def _contacts(self) -> Contacts:
        return read_contacts(self._bullet, self._world.surfaces)

    def _wrench(self, sensor: str) -> Array:
        return self._sensors.read(sensor, contacts=self.contacts(), wrenches=self._wrenches)

    def _save(self) -> _Saved:
        saved = _Saved(
            self._bullet.saveState(),
            self._sensors.memory,
            tuple(law.before for law in self._laws.values()),
        )
        weakref.finalize(saved, self._drop, saved.number)
        return saved

    def _restore(self, memory: _Saved) -> None:
        self._bullet.restoreState(memory.number)
        self._sensors.memory = memory.sensors
        for law, before in zip(self._laws.values(), memory.steps_before, strict=True):
            law.before = before
        self._known, self._has_contacts = False, True

    def _mass_matrix(self, robot: str) -> Array:
        return self._spaces[robot].mass_matrix(self._joints(robot)[0])

    def _inverse_dynamics(self, robot: str, acceleration: Array) -> Array:
        q, v = self._joints(robot)
        return self._spaces[robot].inverse_dynamics(q, v, acceleration=acceleration)

    def _equation_of_motion(
        self, robot: str, q: Array, v: Array, a: Array
    ) -> tuple[Array, Array, Array, Array]:
        return self._spaces[robot].of_fixed_base(q.tolist(), v.tolist(), a=a)

    def _close(self) -> None:
        self._end()

    def _add_drives(self, setup: Setup[BulletOptions], robot: Multibody) -> None:
        """Set up the equation of motion and the drives of a robot."""
        bullet, layout, placed = self._bullet, setup.layout, setup.scene.robot(robot.name)
        self._spaces[robot.name] = JointSpace(bullet, robot, placed=placed)
        kinds = {actuation.drive for _, _, actuation in layout.drives(robot.name)}
        motors = setup.options.servo is Servo.MOTOR
        if motors:
            self._drives += [
                MotorDrive(bullet, robot, layout=layout, kind=kind, options=setup.options)
                for kind in (DriveMode.POSITION, DriveMode.VELOCITY)
                if kind in kinds
            ]
        law = JointLaw(setup, placed, servos=not motors)
        if not law.only_torques:
            self._laws[robot.name] = law
            # The law has the friction, so Bullet's motors must not add to it.
            bullet.setJointMotorControlArray(
                robot.id, robot.joints, bullet.VELOCITY_CONTROL, forces=[0.0] * len(robot.joints)
            )
        elif DriveMode.TORQUE in kinds:
            self._drives.append(TorqueDrive(bullet, robot, layout=layout))

    def _apply_laws(self, command: Array) -> bool:
        """Hand over the forces for the next step; return whether there is a state to find them."""
        self._observe()
        if not isfinite(sum(self._q) + sum(self._v)):
            return False
        for robot in self._robots:
            if robot.name in self._laws:
                q, v = self._joints(robot.name)
                M, bias = self._spaces[robot.name].of_joints(q, v)
                law = self._laws[robot.name]
                tau = law(command, q=np.array(q), v=np.array(v), M=M, bias=bias)
                self._bullet.setJointMotorControlArray(
                    robot.id, robot.joints, self._bullet.TORQUE_CONTROL, forces=tau.tolist()
                )
        return True

    def _observe(self) -> None:
        """Read the joints, unless they are known, in plain numbers: after a step those are fast."""
        if self._known:
            return
        self._q, self._v, self._known = [], [], True
        for robot, joints in self._jointed:
            positions, velocities, _, _ = zip(
                *self._read_joints(robot, joints, self._number), strict=True
            )
            self._q += positions
            self._v += velocities

    def _push(self, wrenches: Sequence[AppliedWrench]) -> None:
        bullet = self._bullet
        for solid, F_W, point in wrenches:
            place, (f, m) = self._places[solid], F_W.reshape(2, 3).tolist()
            bullet.applyExternalForce(*place, f, point.tolist(), bullet.WORLD_FRAME)
            bullet.applyExternalTorque(*place, m, bullet.WORLD_FRAME)

    def _forget_contacts(self) -> None:
        """Take everything apart and let Bullet look, so that it drops its contact points."""
        for i, (body, _, quaternion) in enumerate(self._homes, 1):
            self._bullet.resetBasePositionAndOrientation(body, [0.0, 0.0, i * _FAR], quaternion)
        self._bullet.performCollisionDetection()
        for body, place, quaternion in self._homes:
            self._bullet.resetBasePositionAndOrientation(body, place, quaternion)

    def _joints(self, robot: str) -> tuple[list[float], list[float]]:
        """Return the positions and velocities of a robot's joints."""
        self._observe()
        own = self._layout.robot_joints[robot]
        return self._q[own], self._v[own]

    def _drop(self, number: int) -> None:
        """Let Bullet forget a saved state."""
        if self._end.alive:
            self._bullet.removeState(number)
