"""BulletSimulation: a scene inside Bullet."""

import weakref
from dataclasses import dataclass
from math import hypot, isfinite

import numpy as np

from kinetarium.engines.bullet.audit import audit
from kinetarium.engines.bullet.build import World
from kinetarium.engines.bullet.contacts import read_contacts
from kinetarium.engines.bullet.drives import MotorDrive, SpringDrive, StepBefore, TorqueDrive
from kinetarium.engines.bullet.joint_space import Floating, JointSpace, Wiring
from kinetarium.engines.bullet.library import BulletClient
from kinetarium.engines.bullet.multibody import Multibody
from kinetarium.engines.bullet.options import BulletOptions, Servo
from kinetarium.engines.bullet.sensors import Memory, Push, WrenchSensors
from kinetarium.engines.protocol import Audit, Contacts, Layout, State, Status
from kinetarium.errors import KinetariumError, UnknownNameError
from kinetarium.scene import Scene
from kinetarium.spatial.arrays import Array

_ABSURD = 1e6
"""Norm of positions and velocities beyond which a run has diverged."""
_FAR = 1e4
"""Height at which nothing touches [m]."""
_LOOK = 32
"""Steps under one command between two looks at where they lead."""
_NO_POSES, _NO_TWISTS = np.zeros((0, 7)), np.zeros((0, 6))


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class _Saved:
    """A state that Bullet keeps under a number, and what the adapter adds to it."""

    simulation: "BulletSimulation"
    number: int
    time: float
    diverged: bool
    pending: tuple[Push, ...]
    pushes: tuple[Push, ...]
    touch: Contacts
    sensors: Memory
    springs: tuple[StepBefore | None, ...]


class BulletSimulation:
    """A scene inside Bullet.

    Contacts and sensors are those of the last step: taken at its start, with
    the forces that acted through it, normal and friction. Mimic joints are
    coupled by gears and loops closed by constraints of Bullet's solver.
    Position and velocity drives, joint damping and armature are forces from
    outside it (`SpringDrive`), and sensors are read off the motion
    (`WrenchSensors`). A restored run goes on bit by bit; only where a link
    touches one and the same solid with several of its shapes, to rounding.
    """

    def __init__(
        self,
        bullet: BulletClient,
        scene: Scene,
        *,
        world: World,
        timestep: float,
        options: BulletOptions,
        start: State,
    ) -> None:
        """Start a scene that has been built.

        Args:
            bullet: pybullet's world, which ends with the simulation.
            world: The scene in it.
            timestep: Time step [s].
            options: The settings.
            start: The state it starts in.
        """
        self._bullet, self._scene, self._world = bullet, scene, world
        self._layout = Layout.of(scene)
        self._timestep, self._options = timestep, options
        self._solids = {name: i for i, name in enumerate(scene.solids)}
        self._places = world.places()
        self._robots = [robot for robot in world.robots if robot.joints]
        self._jointed = [(robot.id, robot.joints) for robot in self._robots]
        moving = [m for m in (*world.robots, *world.bodies) if m.free or m.joints]
        self._floating = [Floating(bullet, m) for m in moving if m.free]
        self._homes = [(m.id, *bullet.getBasePositionAndOrientation(m.id)) for m in moving]
        self._sensors = WrenchSensors(bullet, scene, robots=world.robots, timestep=timestep)
        self._spaces: dict[str, JointSpace] = {}
        self._drives: list[TorqueDrive | MotorDrive] = []
        self._springs: dict[str, SpringDrive] = {}
        for robot in world.robots:
            if robot.free or robot.joints:
                self._wire(robot)
        # The loop of steps is short enough to feel the look-up.
        self._advance, self._read_joints = (
            bullet.bare("stepSimulation"),
            bullet.bare("getJointStates"),
        )
        self._number = bullet.number
        self._may_touch = True  # whether Bullet may remember contact points
        self.reset(start)
        self._end = weakref.finalize(self, bullet.disconnect)

    @property
    def layout(self) -> Layout:
        """The order of joints, commands, floating solids and all solids."""
        return self._layout

    @property
    def status(self) -> Status:
        """Whether the numbers still mean anything."""
        self._observe()
        return Status.DIVERGED if self._diverged else Status.RUNNING

    def state(self) -> State:
        """Read the state."""
        self._observe()
        return State(
            self._time,
            np.array(self._q),
            np.array(self._v),
            np.array(self._poses or _NO_POSES),
            np.array(self._twists or _NO_TWISTS),
        )

    def reset(self, state: State) -> None:
        """Set the state and forget contacts and pending wrenches."""
        self._time, self._diverged = state.time, False
        self._pending: list[Push] = []
        self._pushes: tuple[Push, ...] = ()
        self._touch: Contacts | None = None
        self._sensors.forget()
        for spring in self._springs.values():
            spring.before = None
        poses = np.array(state.poses)
        if len(poses):
            lengths = np.linalg.norm(poses[:, 3:], axis=1, keepdims=True)
            with np.errstate(invalid="ignore"):  # no rotation at all is judged like any nonsense
                poses[:, 3:] /= np.where(np.abs(lengths - 1) < 1e-9, 1.0, lengths)
        self._q, self._v = state.q.tolist(), state.v.tolist()
        self._poses, self._twists = poses.tolist(), state.twists.tolist()
        self._judge()
        if self._diverged:
            return
        if self._may_touch:
            self._forget_contacts()
            self._may_touch = False
        for robot in self._robots:
            own = self._layout.robot_joints[robot.name]
            self._bullet.resetJointStatesMultiDof(
                robot.id, robot.joints, [[q] for q in self._q[own]], [[v] for v in self._v[own]]
            )
        for base, placed, twist in zip(self._floating, self._poses, self._twists, strict=True):
            base.write(placed, twist)
        self._known = False

    def step(self, command: Array, n: int = 1) -> None:
        """Advance n time steps under one command, in the order of `layout.commands`."""
        commands = command.tolist()
        if not isfinite(sum(commands)):
            self._mark_diverged()
        for left in range(n, 0, -1):
            if not self._known and (left == n or self._springs or left % _LOOK == 0):
                self._observe()
            if self._diverged:
                return
            for drive in self._drives:
                drive(commands)
            for robot, spring in self._springs.items():
                own = self._layout.robot_joints[robot]
                spring(command, q=np.array(self._q[own]), v=np.array(self._v[own]))
            if self._pending or self._pushes:
                self._push()
            if left == 1 and self._scene.sensors:
                self._sensors.note()
            self._advance(self._number)
            self._time += self._timestep
            self._known, self._touch, self._may_touch = False, None, True

    def contacts(self) -> Contacts:
        """Return the contacts of the last step; the arrays are read-only."""
        if self._touch is None:
            self._touch = read_contacts(self._bullet, self._world.surfaces)
        return self._touch

    def wrench(self, sensor: str) -> Array:
        """Read a force-torque sensor [N, N m], shape (6,), as of the last step."""
        return self._sensors.read(sensor, contacts=self.contacts(), pushes=self._pushes)

    def apply_wrench(self, solid: str, F_W: Array, point: Array) -> None:
        """Apply a wrench [f; m] in world axes at a world point during the next time step."""
        if solid not in self._solids:
            raise UnknownNameError("solid", solid, known=self._solids)
        push = Push(self._solids[solid], np.array(F_W, dtype=float), np.array(point, dtype=float))
        if not isfinite(push.F_W.sum() + push.point.sum()):
            self._mark_diverged()
        self._pending.append(push)

    def save(self) -> _Saved:
        """Return everything needed to go on from here."""
        saved = _Saved(
            self,
            self._bullet.saveState(),
            self._time,
            self.status is Status.DIVERGED,
            tuple(self._pending),
            self._pushes,
            self.contacts(),
            self._sensors.memory,
            tuple(spring.before for spring in self._springs.values()),
        )
        weakref.finalize(saved, self._drop, saved.number)
        return saved

    def restore(self, saved: _Saved) -> None:
        """Go back to where `save` was called.

        Raises:
            KinetariumError: If it was called on another simulation.
        """
        if saved.simulation is not self:
            raise KinetariumError("a state can be restored only where it was saved")
        self._bullet.restoreState(saved.number)
        self._time, self._diverged = saved.time, saved.diverged
        self._pending, self._pushes = list(saved.pending), saved.pushes
        self._sensors.memory = saved.sensors
        for spring, before in zip(self._springs.values(), saved.springs, strict=True):
            spring.before = before
        self._touch = saved.touch
        self._known, self._may_touch = False, True

    def audit(self) -> Audit:
        """Read back the model as Bullet loaded it."""
        return audit(
            self._bullet,
            self._scene,
            world=self._world,
            springs=self._springs,
            options=self._options,
        )

    def mass_matrix(self, robot: str) -> Array:
        """Return the mass matrix of a robot in Kinetarium's coordinates, as Bullet sees it."""
        q, _ = self._joints(robot)
        return self._space(robot).mass_matrix(q)

    def inverse_dynamics(self, robot: str, acceleration: Array) -> Array:
        """Return the generalised forces for an acceleration at the present state.

        Joint damping and friction are left out, as in `RobotDynamics`.
        """
        q, v = self._joints(robot)
        return self._space(robot).inverse_dynamics(q, v, acceleration=acceleration)

    def close(self) -> None:
        """Release what Bullet holds."""
        self._end()

    def _wire(self, robot: Multibody) -> None:
        """Set up the equation of motion and the drives of a robot."""
        wiring = Wiring.of(self._layout, self._scene.robot(robot.name), robot=robot)
        space = self._spaces[robot.name] = JointSpace(self._bullet, wiring)
        servos = len(wiring.position.joints) + len(wiring.velocity.joints) > 0
        motors = servos and self._options.servo is Servo.MOTOR
        losses = any(joint.damping or joint.armature for joint in wiring.joints)
        if motors:
            self._drives.append(MotorDrive(self._bullet, wiring, options=self._options))
        if losses or (servos and not motors):
            self._springs[robot.name] = SpringDrive(
                self._bullet, wiring, space=space, timestep=self._timestep, servos=not motors
            )
        elif len(wiring.torque.joints):
            self._drives.append(TorqueDrive(self._bullet, wiring))

    def _observe(self) -> None:
        """Read the state, unless it is known, and judge it.

        In plain numbers, which right after a step are faster than arrays.
        """
        if self._known:
            return
        q: list[float] = []
        v: list[float] = []
        for robot, joints in self._jointed:
            positions, velocities, _, _ = zip(
                *self._read_joints(robot, joints, self._number), strict=True
            )
            q += positions
            v += velocities
        poses, twists = [], []
        for base in self._floating:
            placed, twist = base.read()
            poses.append(placed)
            twists.append(twist)
        self._q, self._v, self._poses, self._twists = q, v, poses, twists
        self._judge()

    def _judge(self) -> None:
        """Mark the run diverged if a number is not finite or absurd."""
        self._known = True
        if not hypot(*self._q, *self._v) < _ABSURD:
            self._diverged = True
        for placed, twist in zip(self._poses, self._twists, strict=True):
            if not hypot(*placed, *twist) < _ABSURD:
                self._diverged = True

    def _mark_diverged(self) -> None:
        self._observe()
        self._diverged = True

    def _push(self) -> None:
        """Hand over the pending wrenches for the next step."""
        bullet = self._bullet
        self._pushes = tuple(self._pending)
        self._pending.clear()
        for push in self._pushes:
            place = self._places[self._layout.solids[push.solid]]
            f, m = push.F_W[:3].tolist(), push.F_W[3:].tolist()
            bullet.applyExternalForce(*place, f, push.point.tolist(), bullet.WORLD_FRAME)
            bullet.applyExternalTorque(*place, m, bullet.WORLD_FRAME)

    def _forget_contacts(self) -> None:
        """Take everything apart and let Bullet look, so that it drops its contact points."""
        for i, (body, _, quaternion) in enumerate(self._homes, 1):
            self._bullet.resetBasePositionAndOrientation(body, [0.0, 0.0, i * _FAR], quaternion)
        self._bullet.performCollisionDetection()
        for body, place, quaternion in self._homes:
            self._bullet.resetBasePositionAndOrientation(body, place, quaternion)

    def _space(self, robot: str) -> JointSpace:
        if robot not in self._spaces:
            raise UnknownNameError("robot", robot, known=self._spaces)
        return self._spaces[robot]

    def _joints(self, robot: str) -> tuple[list[float], list[float]]:
        """Return the positions and velocities of a robot's joints."""
        own = self._layout.robot_joints.get(robot, slice(0))
        self._observe()
        return self._q[own], self._v[own]

    def _drop(self, number: int) -> None:
        """Let Bullet forget a saved state."""
        if self._end.alive:
            self._bullet.removeState(number)
