"""DrakeSimulation: a scene inside Drake."""

from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from kinetarium.engines.drake.audit import audit
from kinetarium.engines.drake.build import DrakeWorld
from kinetarium.engines.drake.contacts import Instant, Push, no_contacts
from kinetarium.engines.drake.joint_space import Addresses, JointSpace
from kinetarium.engines.protocol import Audit, Contacts, Layout, State, Status
from kinetarium.errors import KinetariumError, UnknownNameError
from kinetarium.scene import Scene, SceneError
from kinetarium.spatial.arrays import Array

_ABSURD = 1e6**2
"""Square of the norm of the state beyond which a run has diverged."""


@dataclass(frozen=True, slots=True, eq=False)
class _Saved:
    """The state, and the step that led to it, from which its readings follow again."""

    world: DrakeWorld
    time: float
    x: Array
    diverged: bool
    pending: tuple[Push, ...]
    stepped: bool
    x_before: Array
    command: Array
    pushes: tuple[Push, ...]


class DrakeSimulation:
    """A scene inside Drake.

    Contacts and sensors are those of the last step: taken at its start, with
    the forces that acted through it, normal and friction. A surface of contact
    counts as one contact at its centre of pressure. Mimic joints are coupled
    and loops closed by constraints of the solver, in which servos and joint
    damping are implicit as well. The solver starts every step from the state
    alone, so that a restored run goes on bit by bit.
    """

    def __init__(self, scene: Scene, world: DrakeWorld, *, timestep: float, start: State) -> None:
        """Start a scene that has been built.

        Args:
            world: The scene in Drake.
            timestep: Time step [s].
            start: The state it starts in.

        Raises:
            SceneError: If a joint moves no inertia.
        """
        self._scene, self._world, self._timestep = scene, world, timestep
        self._at = Addresses.of(world)
        self._quaternions = [slice(i, i + 4) for i in self._at.quaternions]
        joints, floating = len(world.joints), len(world.floating)
        self._ends = (joints, 2 * joints, 2 * joints + 7 * floating)
        self._now, self._before = Instant(world), Instant(world)
        self._command = np.zeros(len(world.layout.commands))
        self._spaces = {
            robot.name: JointSpace(world, robot, addresses=self._at) for robot in scene.robots
        }
        self.reset(start)
        self._refuse_massless()

    @property
    def layout(self) -> Layout:
        """The order of joints, commands, floating solids and all solids."""
        return self._world.layout

    @property
    def status(self) -> Status:
        """Whether the numbers still mean anything."""
        return Status.DIVERGED if self._diverged else Status.RUNNING

    def state(self) -> State:
        """Read the state."""
        y = self._x.take(self._at.gather)
        q, v, poses = self._ends
        return State(
            self._time,
            y[:q],
            y[q:v],
            y[v:poses].reshape(-1, 7),
            y[poses:].reshape(-1, 6),
        )

    def reset(self, state: State) -> None:
        """Set the state and forget contacts and pending wrenches."""
        parts = (state.q, state.v, state.poses.ravel(), state.twists.ravel())
        x = np.concatenate(parts).take(self._at.scatter)
        self._time, self._x = state.time, x
        self._pending: list[Push] = []
        self._stepped = False
        self._diverged = False
        self._judge(x)
        if not self._diverged:
            self._now.place(x)
            if self._now.pushes:
                self._now.push(())

    def step(self, command: Array, n: int = 1) -> None:
        """Advance n time steps under one command, in the order of `layout.commands`."""
        command = np.array(command, dtype=np.float64)
        if not np.isfinite(command.sum()):
            self._diverged = True
        for _ in range(n):
            if self._diverged:
                return
            now, later = self._now, self._before
            now.command(command)
            if self._pending or now.pushes:
                now.push(tuple(self._pending))
                self._pending = []
            try:
                x = now.following()
            except (RuntimeError, SystemExit):  # no solution, or an assertion of Drake's own
                self._diverged = True
                return
            self._judge(x)
            self._command, self._x_before, self._stepped = command, self._x, True
            self._x, self._time = x, self._time + self._timestep
            if not self._diverged:
                later.place(x)
            self._now, self._before = later, now

    def contacts(self) -> Contacts:
        """Return the contacts of the last step."""
        return self._before.contacts() if self._stepped else no_contacts()

    def wrench(self, sensor: str) -> Array:
        """Read a force-torque sensor [N, N m], shape (6,), as of the last step."""
        try:
            joint = self._world.sensed[sensor]
        except KeyError:
            raise UnknownNameError("sensor", sensor, known=self._world.sensed) from None
        if not self._stepped:
            return np.zeros(6)
        # Drake gives what the joint exerts on the child.
        return -self._before.reaction(joint)

    def apply_wrench(self, solid: str, F_W: Array, point: Array) -> None:
        """Apply a wrench [f; m] in world axes at a world point during the next time step."""
        try:
            body = self._world.bodies[solid]
        except KeyError:
            raise UnknownNameError("solid", solid, known=self._world.bodies) from None
        if not np.isfinite(np.sum(F_W) + np.sum(point)):
            self._diverged = True
        if self._diverged:
            return
        arm = point - body.EvalPoseInWorld(self._now.context).translation()
        F = np.array(F_W, dtype=np.float64)
        F[3:] += np.cross(arm, F[:3])
        self._pending.append((solid, F))

    def save(self) -> _Saved:
        """Return everything needed to go on from here."""
        return _Saved(
            self._world,
            self._time,
            self._x,
            self._diverged,
            tuple(self._pending),
            self._stepped,
            self._x_before if self._stepped else self._x,
            self._command,
            self._before.pushes,
        )

    def restore(self, saved: _Saved) -> None:
        """Go back to where `save` was called.

        Raises:
            KinetariumError: If it was called on another simulation.
        """
        if saved.world is not self._world:
            raise KinetariumError("a state can be restored only where it was saved")
        self._time, self._x, self._diverged = saved.time, saved.x, saved.diverged
        self._pending, self._stepped = list(saved.pending), saved.stepped
        self._x_before, self._command = saved.x_before, saved.command
        if self._stepped:
            self._before.place(self._x_before)
            self._before.command(self._command)
            self._before.push(saved.pushes)
        if not self._diverged:
            self._now.place(self._x)
            self._now.push(())

    def audit(self) -> Audit:
        """Read back the model as Drake loaded it."""
        return audit(self._world, self._scene, context=self._now.context)

    def mass_matrix(self, robot: str) -> Array:
        """Return the mass matrix of a robot in Kinetarium's coordinates, as Drake sees it."""
        return self._space(robot).mass_matrix(self._now.context)

    def inverse_dynamics(self, robot: str, acceleration: Array) -> Array:
        """Return the generalised forces for an acceleration at the present state.

        Joint damping and friction are left out, as in `RobotDynamics`.
        """
        return self._space(robot).inverse_dynamics(self._now.context, acceleration)

    def close(self) -> None:
        """Do nothing: what Drake holds goes with this object."""

    def _space(self, robot: str) -> JointSpace:
        try:
            return self._spaces[robot]
        except KeyError:
            raise UnknownNameError("robot", robot, known=self._spaces) from None

    def _refuse_massless(self) -> None:
        for robot, space in self._spaces.items():
            try:
                np.linalg.cholesky(space.mass_matrix(self._now.context))
            except np.linalg.LinAlgError:
                raise SceneError(
                    f"a joint of robot '{robot}' moves no inertia; "
                    "give its links mass or the joint armature"
                ) from None

    def _judge(self, x: Array) -> None:
        """Mark the run diverged if a number is absurd.

        Quaternions are brought back to unit length, from which Drake lets them stray.
        """
        for part in self._quaternions:
            quaternion = x[part]
            length = sqrt(quaternion.dot(quaternion))
            if 0 < length < inf:
                quaternion /= length
            else:
                self._diverged = True
        if not x.dot(x) < _ABSURD:
            self._diverged = True
