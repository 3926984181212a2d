"""BulletSimulation: a scene inside Bullet."""

import weakref
from dataclasses import dataclass
from math import hypot, inf, isfinite
from typing import Any

import numpy as np

from kinetarium.engines.audit import Audit
from kinetarium.engines.bullet.audit import audit
from kinetarium.engines.bullet.contacts import read_contacts
from kinetarium.engines.bullet.drive import MotorDrive, TorqueDrive
from kinetarium.engines.bullet.floating import Floating
from kinetarium.engines.bullet.joint_space import JointSpace
from kinetarium.engines.bullet.multibody import Multibody
from kinetarium.engines.bullet.options import BulletOptions, Servo
from kinetarium.engines.bullet.sensors import Memory, Push, WrenchSensors
from kinetarium.engines.bullet.spring import SpringDrive, StepBefore
from kinetarium.engines.bullet.wiring import Wiring
from kinetarium.engines.bullet.world import World
from kinetarium.engines.layout import Layout
from kinetarium.engines.protocol import Contacts, State, Status
from kinetarium.errors import KinetariumError, UnknownNameError
from kinetarium.scene import Scene
from kinetarium.spatial.arrays import Array

_ABSURD = 1e6
"""Norm of positions and velocities beyond which a run has diverged."""
_NO_POSES, _NO_TWISTS = np.zeros((0, 7)), np.zeros((0, 6))
_FAR = 1e4
"""Height at which nothing touches [m]."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class _Saved:
    """A state that Bullet keeps under a number, and what the adapter adds to it."""

    simulation: "BulletSimulation"
    number: int
    time: float
    diverged: bool
    pending: tuple[Push, ...]
    pushes: tuple[Push, ...]
    sensors: Memory
    springs: tuple[StepBefore | None, ...]


class BulletSimulation:
    """A scene inside Bullet.

    Contacts and sensors are those of the last step: taken at its start, with
    the forces that acted through it, normal and friction. Mimic joints are
    coupled by gears and loops closed by constraints of Bullet's solver; drives
    other than torques, joint damping and armature are forces from outside it
    (`SpringDrive`), and so are sensors (`WrenchSensors`).
    """

    def __init__(
        self,
        bullet: BulletClient,
        scene: Scene,
        *,
        layout: Layout,
        world: World,
        timestep: float,
        options: BulletOptions,
        start: State,
    ) -> None:
        """Start a scene that has been built.

        Args:
            bullet: The world, which ends with the simulation.
            scene: The scene.
            layout: Its layout.
            world: The scene in Bullet.
            timestep: Time step [s].
            options: The settings.
            start: The state it starts in.
        """
        self._p, self._client, self._advance = p, client, p.stepSimulation
        self._read_joints = p.getJointStates
        self._scene, self._layout, self._world = scene, layout, world
        self._timestep, self._options = timestep, options
        self._solids = {name: i for i, name in enumerate(scene.solids)}
        self._places = world.places()
        self._robots = [robot for robot in world.robots if robot.joints]
        self._jointed = [(robot.id, robot.joints) for robot in self._robots]
        moving = [m for m in (*world.robots, *world.bodies) if m.parts[0].inertia or m.joints]
        self._floating = [Floating(p, client, m) for m in moving if m.parts[0].inertia]
        self._homes = [
            (m.id, *p.getBasePositionAndOrientation(m.id, physicsClientId=client)) for m in moving
        ]
        self._sensors = WrenchSensors(p, client, scene, world=world, timestep=timestep)
        self._spaces: dict[str, JointSpace] = {}
        self._drives: list[TorqueDrive | MotorDrive] = []
        self._springs: list[tuple[SpringDrive, slice]] = []
        for robot in self._robots:
            self._wire(robot)
        self.reset(start)
        self._end = weakref.finalize(self, p.disconnect, client)

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
        self._sensors.forget()
        for spring, _ in self._springs:
            spring.before = None
        self._q, self._v = state.q.tolist(), state.v.tolist()
        self._poses, self._twists = state.poses.tolist(), state.twists.tolist()
        self._judge()
        if self._diverged:
            return
        p, client = self._p, self._client
        self._forget_contacts()
        for robot in self._robots:
            own = self._layout.robot_joints[robot.name]
            p.resetJointStatesMultiDof(
                robot.id, robot.joints, [[q] for q in state.q[own]], [[v] for v in state.v[own]],
                physicsClientId=client,
            )  # fmt: skip
        for base, placed, twist in zip(self._floating, state.poses, state.twists, strict=True):
            base.write(placed, twist)
        self._known = False

    def step(self, command: Array, n: int = 1) -> None:
        """Advance n time steps under one command, in the order of `layout.commands`."""
        commands = command.tolist()
        if not isfinite(sum(commands)):
            self._mark_diverged()
        for left in range(n, 0, -1):
            if not self._known and (left == n or self._springs):
                self._observe()
            if self._diverged:
                return
            for drive in self._drives:
                drive(commands)
            for spring, own in self._springs:
                spring(command, np.array(self._q[own]), np.array(self._v[own]))
            if self._pending or self._pushes:
                self._push()
            if left == 1 and self._scene.sensors:
                self._sensors.note()
            self._advance(self._client)
            self._time += self._timestep
            self._known = False

    def contacts(self) -> Contacts:
        """Give the contacts of the last step."""
        return read_contacts(self._p, self._client, self._world)

    def wrench(self, sensor: str) -> Array:
        """Read a force-torque sensor [N, N m], shape (6,), as of the last step."""
        return self._sensors.read(sensor, contacts=self.contacts(), pushes=self._pushes)

    def apply_wrench(self, solid: str, F_W: Array, point: Array) -> None:
        """Apply a wrench [f; m] in world axes at a world point during the next time step."""
        if solid not in self._solids:
            raise UnknownNameError("solid", solid, known=self._solids)
        push = Push(self._solids[solid], np.array(F_W, dtype=float), np.array(point, dtype=float))
        if not push.F_W @ push.F_W + push.point @ push.point < inf:
            self._mark_diverged()
        self._pending.append(push)

    def save(self) -> _Saved:
        """Give everything needed to go on from here."""
        number = self._p.saveState(self._client)
        saved = _Saved(
            self,
            number,
            self._time,
            self.status is Status.DIVERGED,
            tuple(self._pending),
            self._pushes,
            self._sensors.memory,
            tuple(spring.before for spring, _ in self._springs),
        )
        weakref.finalize(saved, self._remove, number)
        return saved

    def restore(self, saved: _Saved) -> None:
        """Go back to where `save` was called.

        Raises:
            KinetariumError: If it was called on another simulation.
        """
        if saved.simulation is not self:
            raise KinetariumError("a state can be restored only where it was saved")
        self._p.restoreState(saved.number, physicsClientId=self._client)
        self._time, self._diverged = saved.time, saved.diverged
        self._pending, self._pushes = list(saved.pending), saved.pushes
        self._sensors.memory = saved.sensors
        for (spring, _), before in zip(self._springs, saved.springs, strict=True):
            spring.before = before
        self._known = False

    def audit(self) -> Audit:
        """Read back the model as Bullet loaded it."""
        return audit(
            self._p, self._client, self._scene, layout=self._layout, world=self._world,
            options=self._options,
        )  # fmt: skip

    def mass_matrix(self, robot: str) -> Array:
        """Give the mass matrix of a robot in Kinetarium's coordinates, as Bullet sees it."""
        return self._space(robot).mass_matrix()

    def inverse_dynamics(self, robot: str, acceleration: Array) -> Array:
        """Give the generalised forces for an acceleration at the present state.

        Joint damping and friction are left out, as in `RobotDynamics`.
        """
        return self._space(robot).inverse_dynamics(acceleration)

    def close(self) -> None:
        """Release what Bullet holds."""
        self._end()

    def _wire(self, robot: Multibody) -> None:
        """Set up the equation of motion and the drives of a robot."""
        p, client = self._p, self._client
        wiring = Wiring.of(self._layout, self._scene.robot(robot.name), robot)
        space = JointSpace(p, client, wiring)
        servos = len(wiring.position.joints) + len(wiring.velocity.joints) > 0
        motors = servos and self._options.servo is Servo.MOTOR
        losses = any(joint.damping or joint.armature for joint in wiring.joints)
        self._spaces[robot.name] = space
        if motors:
            self._drives.append(MotorDrive(p, client, wiring, options=self._options))
        if losses or servos and not motors:
            spring = SpringDrive(
                p, client, wiring, space=space, timestep=self._timestep, servos=not motors
            )
            self._springs.append((spring, self._layout.robot_joints[robot.name]))
        elif len(wiring.torque.joints):
            self._drives.append(TorqueDrive(p, client, wiring))

    def _observe(self) -> None:
        """Read the state, unless it is known, and judge it.

        In plain numbers, which right after a step are faster than arrays.
        """
        if self._known:
            return
        q: list[float] = []
        v: list[float] = []
        for body, joints in self._jointed:
            positions, velocities, _, _ = zip(
                *self._read_joints(body, joints, self._client), strict=True
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
        for numbers in (*self._poses, *self._twists):
            if not hypot(*numbers) < _ABSURD:
                self._diverged = True

    def _mark_diverged(self) -> None:
        self._observe()
        self._diverged = True

    def _push(self) -> None:
        """Hand over the pending wrenches for the next step."""
        p, client = self._p, self._client
        self._pushes = tuple(self._pending)
        self._pending.clear()
        for push in self._pushes:
            body, link = self._places[self._layout.solids[push.solid]]
            f, m = push.F_W[:3].tolist(), push.F_W[3:].tolist()
            p.applyExternalForce(body, link, f, push.point.tolist(), p.WORLD_FRAME, client)
            p.applyExternalTorque(body, link, m, p.WORLD_FRAME, client)

    def _forget_contacts(self) -> None:
        """Take everything apart and let Bullet look, so that it drops its contact points."""
        p, client = self._p, self._client
        for i, (body, _, quaternion) in enumerate(self._homes, 1):
            p.resetBasePositionAndOrientation(
                body, [0.0, 0.0, i * _FAR], quaternion, physicsClientId=client
            )
        p.performCollisionDetection(physicsClientId=client)
        for body, place, quaternion in self._homes:
            p.resetBasePositionAndOrientation(body, place, quaternion, physicsClientId=client)

    def _space(self, robot: str) -> JointSpace:
        if robot not in self._spaces:
            raise UnknownNameError("robot", robot, known=self._spaces)
        return self._spaces[robot]

    def _remove(self, number: int) -> None:
        if self._end.alive:
            self._p.removeState(number, physicsClientId=self._client)
