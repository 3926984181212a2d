"""DartSimulation: a scene inside DART."""

from dataclasses import dataclass
from math import hypot, inf
from typing import Any

import numpy as np

from kinetarium.engines.dart.audit import audit
from kinetarium.engines.dart.build import World
from kinetarium.engines.dart.contacts import NO_CONTACTS, read_contacts
from kinetarium.engines.dart.drives import ServoDrive, StepBefore, TorqueDrive, Wiring
from kinetarium.engines.dart.joint_space import Floating, JointSpace, coupling_rows
from kinetarium.engines.dart.options import DartOptions
from kinetarium.engines.dart.skeletons import Articulation
from kinetarium.engines.protocol import Audit, Contacts, Layout, State, Status
from kinetarium.errors import KinetariumError, UnknownNameError
from kinetarium.model.robot import RobotModel
from kinetarium.scene import Scene
from kinetarium.spatial.arrays import Array

_ABSURD = 1e6
"""Norm of positions and velocities beyond which a run has diverged."""
_ABSURD_WRENCH = 1e30
"""Force that no motion survives [N or N m]; DART would take it for none."""
_NO_POSES, _NO_TWISTS = np.zeros((0, 7)), np.zeros((0, 6))


@dataclass(frozen=True, slots=True, eq=False)
class _Push:
    """A wrench from outside: on which of DART's bodies, and what at which point, world axes."""

    node: Any
    F_W: Array
    point: Array


@dataclass(frozen=True, slots=True, eq=False)
class _Saved:
    """The state of all skeletons, and what the adapter adds to it."""

    simulation: "DartSimulation"
    motion: tuple[tuple[Array, Array], ...]
    time: float
    diverged: bool
    pending: tuple[_Push, ...]
    touch: Contacts
    readings: dict[str, Array]
    servos: tuple[StepBefore | None, ...]


class DartSimulation:
    """A scene inside DART.

    Contacts and sensors are those of the last step: taken at its start, with
    the forces that acted through it, normal and friction. Position and
    velocity drives, joint damping, armature and couplings are forces from
    outside DART's solver (`ServoDrive`); loops are closed by constraints of it.
    """

    def __init__(
        self, scene: Scene, *, world: World, timestep: float, options: DartOptions, start: State
    ) -> None:
        """Start a scene that has been built.

        Args:
            world: The scene in DART.
            timestep: Time step [s].
            options: The settings.
            start: The state it starts in.
        """
        self._scene, self._world, self._options = scene, world, options
        self._diverged = self._stale = False
        self._layout = layout = Layout.of(scene)
        self._timestep, self._advance = timestep, world.bare.step
        self._torques: list[TorqueDrive] = []
        self._servos: list[ServoDrive] = []
        self._wirings: dict[str, Wiring] = {}
        self._spaces: dict[str, JointSpace] = {}
        for robot, placed in zip(world.robots, scene.robots, strict=True):
            self._wire(robot, placed.model)
        # What moves, the root it flies by if it does, and which joints are its own.
        moving = [part for part in (*world.robots, *world.free) if part.joints or part.free]
        self._movers = [
            (
                part.skeleton,
                None if part.p_BC is None else Floating(part.p_BC),
                layout.robot_joints.get(part.name, slice(0, 0)),
            )
            for part in moving
        ]
        self._sensors = {
            sensor.name: world.nodes[
                f"{sensor.robot}/{scene.robot(sensor.robot).model.joint(sensor.joint).child}"
            ][0]
            for sensor in scene.sensors
        }
        self.reset(start)

    @property
    def layout(self) -> Layout:
        """The order of joints, commands, floating solids and all solids."""
        return self._layout

    @property
    def status(self) -> Status:
        """Whether the numbers still mean anything."""
        self._diverged = self._diverged or self._gone_wrong()
        return Status.DIVERGED if self._diverged else Status.RUNNING

    def state(self) -> State:
        """Read the state."""
        q, v, poses, twists = [], [], [], []
        for skeleton, floating, _ in self._movers:
            positions, velocities = skeleton.getPositions(), skeleton.getVelocities()
            if floating:
                placed, twist = floating.read(positions, velocities)
                poses.append(placed)
                twists.append(twist)
                positions, velocities = positions[6:], velocities[6:]
            q.append(positions)
            v.append(velocities)
        return State(
            self._time,
            q[0] if len(q) == 1 else np.concatenate(q) if q else np.zeros(0),
            v[0] if len(v) == 1 else np.concatenate(v) if v else np.zeros(0),
            np.array(poses or _NO_POSES),
            np.array(twists or _NO_TWISTS),
        )

    def reset(self, state: State) -> None:
        """Set the state and forget contacts and pending wrenches."""
        self._time = state.time
        self._pending: list[_Push] = []
        self._touch: Contacts | None = NO_CONTACTS
        self._readings = {sensor: np.zeros(6) for sensor in self._sensors}
        self._forget_contacts()
        for servo in self._servos:
            servo.before = None
        self._diverged = False
        root = 0
        for skeleton, floating, own in self._movers:
            q, v = state.q[own], state.v[own]
            if floating:
                placed, twist = floating.write(state.poses[root], state.twists[root])
                q, v = np.concatenate([placed, q]), np.concatenate([twist, v])
                root += 1
            size = hypot(*q.tolist(), *v.tolist())
            if size < inf:  # or there is nothing to hand over
                skeleton.setPositions(q)
                skeleton.setVelocities(v)
            if not size < _ABSURD:
                self._diverged = True

    def step(self, command: Array, n: int = 1) -> None:
        """Advance n time steps under one command, in the order of `layout.commands`."""
        if self._diverged:
            return
        for drive in self._torques:
            if not drive(command):
                self._diverged = True
        for _ in range(n):
            pushed = bool(self._pending)
            if pushed:
                self._push()
            for servo in self._servos:
                if not servo(command, pushed=pushed):
                    self._diverged = True
            if self._diverged:
                return
            self._advance(False)
            self._time += self._timestep
            if pushed:
                self._relieve()
            for skeleton, _, _ in self._movers:
                if not hypot(*skeleton.getVelocities().tolist()) < _ABSURD:
                    self._diverged = True
            self._touch, self._stale = None, True
        if self._sensors and n > 0:
            self._sense()

    def contacts(self) -> Contacts:
        """Return the contacts of the last step; the arrays are read-only."""
        if self._touch is None:
            self._touch = read_contacts(self._world.bare, self._world.surfaces)
        return self._touch

    def wrench(self, sensor: str) -> Array:
        """Read a force-torque sensor [N, N m], shape (6,), as of the last step."""
        if sensor not in self._readings:
            raise UnknownNameError("sensor", sensor, known=self._readings)
        return self._readings[sensor].copy()

    def apply_wrench(self, solid: str, F_W: Array, point: Array) -> None:
        """Apply a wrench [f; m] in world axes at a world point during the next time step."""
        if solid not in self._world.nodes:
            raise UnknownNameError("solid", solid, known=self._world.nodes)
        push = _Push(self._world.nodes[solid][0], np.array(F_W, float), np.array(point, float))
        if not hypot(*push.F_W.tolist(), *push.point.tolist()) < _ABSURD_WRENCH:
            self._diverged = True
        self._pending.append(push)

    def save(self) -> _Saved:
        """Return everything needed to go on from here."""
        touch = self.contacts()
        self._forget_contacts()
        return _Saved(
            self,
            tuple((s.getPositions(), s.getVelocities()) for s, _, _ in self._movers),
            self._time,
            self._diverged,
            tuple(self._pending),
            touch,
            self._readings,
            tuple(servo.before for servo in self._servos),
        )

    def restore(self, saved: _Saved) -> None:
        """Go back to where `save` was called.

        Raises:
            KinetariumError: If it was called on another simulation.
        """
        if saved.simulation is not self:
            raise KinetariumError("a state can be restored only where it was saved")
        self._forget_contacts()
        for (skeleton, _, _), (q, v) in zip(self._movers, saved.motion, strict=True):
            skeleton.setPositions(q)
            skeleton.setVelocities(v)
        for servo, before in zip(self._servos, saved.servos, strict=True):
            servo.before = before
        self._time, self._diverged = saved.time, saved.diverged
        self._pending, self._touch = list(saved.pending), saved.touch
        self._readings = saved.readings

    def audit(self) -> Audit:
        """Read back the model as DART loaded it."""
        return audit(self._scene, world=self._world, wirings=self._wirings)

    def mass_matrix(self, robot: str) -> Array:
        """Return the mass matrix of a robot in Kinetarium's coordinates, as DART sees it."""
        return self._space(robot).mass_matrix()

    def inverse_dynamics(self, robot: str, acceleration: Array) -> Array:
        """Return the generalised forces for an acceleration at the present state.

        Joint damping and friction are left out, as in `RobotDynamics`.
        """
        return self._space(robot).inverse_dynamics(acceleration)

    def close(self) -> None:
        """Do nothing: what DART holds goes with this object."""

    def _wire(self, robot: Articulation, model: RobotModel) -> None:
        """Set up the equation of motion and the drives of a robot."""
        wiring = Wiring.of(self._layout, model, robot=robot.name, free=robot.free)
        couplings = coupling_rows(model, free=robot.free)
        self._wirings[robot.name] = wiring
        self._spaces[robot.name] = JointSpace(robot, armature=wiring.armature)
        if not robot.joints:
            return
        if wiring.plain and not len(couplings[0]):
            self._torques.append(TorqueDrive(robot.skeleton, wiring))
        else:
            self._servos.append(
                ServoDrive(
                    robot.skeleton,
                    wiring,
                    couplings=couplings,
                    timestep=self._timestep,
                    coupling_erp=self._options.coupling_erp,
                )
            )

    def _push(self) -> None:
        """Hand over the pending wrenches for the next step."""
        for push in self._pending:
            push.node.addExtForce(push.F_W[:3], push.point, False, False)
            push.node.addExtTorque(push.F_W[3:], False)

    def _relieve(self) -> None:
        """Take the wrenches of the last step away."""
        for push in self._pending:
            push.node.clearExternalForces()
        self._pending.clear()

    def _sense(self) -> None:
        """Read the sensors; DART has what the parent exerts on the child, as [m; f]."""
        self._readings = {}
        for name, node in self._sensors.items():
            F = node.getBodyForce()
            self._readings[name] = -np.concatenate([F[3:], F[:3]])

    def _forget_contacts(self) -> None:
        """Leave no contact of earlier steps to DART, so that what follows is the same again."""
        if self._stale and self._world.surfaces.solids:
            self._world.forget_contacts()
        self._stale = False

    def _space(self, robot: str) -> JointSpace:
        if robot not in self._spaces:
            raise UnknownNameError("robot", robot, known=self._spaces)
        return self._spaces[robot]

    def _gone_wrong(self) -> bool:
        """Return whether the state is not finite or absurd."""
        for skeleton, _, _ in self._movers:
            q, v = skeleton.getPositions(), skeleton.getVelocities()
            if not hypot(*q.tolist(), *v.tolist()) < _ABSURD:
                return True
        return False
