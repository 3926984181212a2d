"""LiveSimulation: a room in an engine, moved by inputs, and its state as a frame of bytes.

It depends on the inputs and numbers of steps alone, not on the clock: two engines that are given
the same are under the same input at the same simulated times.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from math import inf, pi
from struct import Struct
from typing import Annotated

import numpy as np

from kinetarium.dynamics import RobotDynamics
from kinetarium.engines.protocol import Capability, Simulation, State, Status
from kinetarium.engines.registry import matched_options, open_engine
from kinetarium.interactive.setup import ROBOT, RoomError, RoomSetup, Vector
from kinetarium.ranges import Range
from kinetarium.roles.studied_robot import StudiedRobot
from kinetarium.scene import Motion, Plane, Scene
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import quaternion_from_rotation, rotation_from_quaternion

MOST_CONTACTS = 64
"""Maximum number of contacts in a frame, those of the greatest forces."""
_FARTHEST = 0.5
"""Length at which the spring of a pull is limited [m]."""
_KINEMATIC_RATE = 3.0
"""Speed of joints without a limit of their own when they are moved, not driven [rad/s or m/s]."""


HEAD = Struct("<IIdHHI")
"""Head of a frame: its number, that of the last input it depends on, the time [s], the number of
contacts, the number of those in the frame, and whether the simulation has diverged.

Then follow numbers of four bytes: the poses of the shown solids (7 each), positions, velocities and
targets of the joints, force [N] and point [m] of the pull (not a number if there is none), and for
each contact two indices into the solids of the scene, the point [m] and the force on the first [N].
"""


class JointMode(StrEnum):
    """How joints follow their targets."""

    SERVO = "servo"
    """By the servos of the room, within the limits of the drives."""
    KINEMATIC = "kinematic"
    """Exactly, at the speed limits of the joints, whatever is in the way."""


@dataclass(frozen=True, kw_only=True)
class Pull:
    """A spring between a point of a solid and a point of the world.

    It is as stiff as swings the inertia at that point at some frequency, and critically damped.

    Attributes:
        solid: Name of the solid.
        point: The point in the solid's frame [m].
        target: Where it is pulled [m].
        frequency: The frequency [Hz].
    """

    solid: str
    point: Annotated[Vector, Range(-100.0, 100.0, unit="m")]
    target: Annotated[Vector, Range(-1000.0, 1000.0, unit="m")]
    frequency: Annotated[float, Range(0.1, 10.0, unit="Hz")] = 4.0


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """What acts on a room, from now on.

    Attributes:
        number: The number of this input; frames have that of the last one they depend on.
        mode: How joints follow their targets.
        targets: Positions of joints by name [rad or m]; others keep theirs.
        pull: The pull, if there is one.
    """

    number: int = 0
    mode: JointMode = JointMode.SERVO
    targets: dict[str, float] = field(default_factory=dict)
    pull: Pull | None = None


class LiveSimulation:
    """A room in an engine.

    Attributes:
        setup: What is in it.
        robot: The robot, if there is one.
        scene: The scene.
        title: The engine's own name.
        can_pull: Whether the engine applies forces from outside.
        layout: The order of joints and solids.
        shown: The solids whose poses are in frames: all but planes.
        start: The state at the start.
        heard: The number of the last inputs.
    """

    def __init__(self, setup: RoomSetup, robot: StudiedRobot | None) -> None:
        """Build it.

        Raises:
            KinetariumError: If the engine is not available, or cannot simulate the room.
        """
        self.setup, self.robot = setup, robot
        self.scene: Scene = setup.scene(robot)
        engine = open_engine(setup.engine)
        self.title = engine.info.title
        self.can_pull = Capability.EXTERNAL_WRENCH in engine.info.capabilities
        self._simulation: Simulation = engine.compile(
            self.scene, timestep=setup.timestep, options=matched_options(engine).options
        )
        self.layout = self._simulation.layout
        self._dynamics = RobotDynamics(robot.model) if robot and robot.model.moving_joints else None
        self._joints = [name.partition("/")[2] for name in self.layout.joints]
        self.start: State = self._simulation.state()
        # Some engines load or compile a part of theirs in the first step, which takes seconds.
        self._simulation.step(self.start.q[self.layout.command_joints])
        self._simulation.reset(self.start)
        self._command = self.start.q[self.layout.command_joints]
        self._targets = self.start.q.copy()
        self._rates = self._rate_limits()
        self._moved: Array | None = None
        self._steps = 0
        self._grip: tuple[Pull, float] | None = None
        self._force = self._at = np.full(3, np.nan)
        self.heard = 0
        planes = {body.name for body in self.scene.bodies if isinstance(body.shape, Plane)}
        self.shown = tuple(name for name in self.layout.solids if name not in planes)
        self._still = {
            body.name: body.X_WB for body in self.scene.bodies if body.motion is Motion.STATIC
        }

    @property
    def time(self) -> float:
        """Simulated time since the last reset [s]."""
        return self._steps * self.setup.timestep

    def reset(self) -> None:
        """Return everything to its start; targets too."""
        self._simulation.reset(self.start)
        self._command = self.start.q[self.layout.command_joints]
        self._targets = self.start.q.copy()
        self._steps = 0
        self._moved = None
        self._release()

    def resume_from(self, other: "LiveSimulation") -> None:
        """Take over joints, bodies and targets of the same names from another room."""
        theirs, state = other._simulation.state(), self._simulation.state()
        for name in set(self.layout.joints) & set(other.layout.joints):
            i, j = self.layout.joints.index(name), other.layout.joints.index(name)
            state.q[i], state.v[i] = theirs.q[j], theirs.v[j]
            self._targets[i] = other._targets[j]
        for name in set(self.layout.floating) & set(other.layout.floating):
            i, j = self.layout.floating.index(name), other.layout.floating.index(name)
            state.poses[i], state.twists[i] = theirs.poses[j], theirs.twists[j]
        state.time = self.start.time
        if all(np.isfinite(part).all() for part in (state.q, state.v, state.poses, state.twists)):
            self._simulation.reset(state)
            self._command = self._targets[self.layout.command_joints]

    def advance(self, steps: int, inputs: Inputs) -> None:
        """Take time steps under some inputs; without steps only move what is kinematic.

        Raises:
            RoomError: If the inputs name what is not in the room.
        """
        self._hear(inputs)
        if self.status is Status.DIVERGED:
            return
        kinematic = inputs.mode is JointMode.KINEMATIC
        if not kinematic:
            self._moved = None
        for _ in range(steps):
            if kinematic:
                self._move(self.setup.timestep)
            if self._grip is not None:
                self._pull()
            self._simulation.step(self._command)
            self._steps += 1
        if kinematic and not steps:
            self._move(inf)

    @property
    def status(self) -> Status:
        """Whether it has diverged."""
        return self._simulation.status

    def close(self) -> None:
        """Release the engine."""
        self._simulation.close()

    def _hear(self, inputs: Inputs) -> None:
        for name, value in inputs.targets.items():
            if name not in self._joints:
                raise RoomError(f"there is no joint '{name}' in this room")
            joint = self._joints.index(name)
            limits = self.robot.model.joint(name).limits if self.robot else None
            low, high = (limits.lower, limits.upper) if limits else (-inf, inf)
            self._targets[joint] = min(max(value, low), high)
        self._follow_leaders()
        self._command = self._targets[self.layout.command_joints]
        self.heard = inputs.number
        pull = inputs.pull
        if pull is None or not self.can_pull:
            self._release()
        elif self._grip is None or (self._grip[0].solid, self._grip[0].point) != (
            pull.solid, pull.point,
        ):  # fmt: skip
            if pull.solid not in self.shown:
                raise RoomError(f"there is no solid '{pull.solid}' in this room")
            self._grip = (pull, self._inertia_at(pull))
        else:
            self._grip = (pull, self._grip[1])

    def _release(self) -> None:
        self._grip = None
        self._force = self._at = np.full(3, np.nan)

    def _follow_leaders(self) -> None:
        """Set the targets of mimic joints by those that they follow."""
        for joint in self.robot.model.moving_joints if self.robot else ():
            if joint.mimic:
                leader = self._targets[self._joints.index(joint.mimic.joint)]
                value = joint.mimic.multiplier * leader + joint.mimic.offset
                self._targets[self._joints.index(joint.name)] = value

    def _rate_limits(self) -> Array:
        limits = [
            self.robot.model.joint(name).limits.velocity if self.robot else inf
            for name in self._joints
        ]
        return np.array([each if 0 < each < inf else _KINEMATIC_RATE for each in limits])

    def _move(self, dt: float) -> None:
        """Move the joints towards their targets, for a time [s] at their greatest speeds."""
        state = self._simulation.state()
        here = state.q if self._moved is None else self._moved
        way = np.clip(self._targets - here, -self._rates * dt, self._rates * dt)
        self._moved = here + way
        self._command = self._moved[self.layout.command_joints]
        # The step that follows takes the joints there, and pushes what is in the way.
        state.q[:] = here if dt < inf else self._moved
        state.v[:] = way / dt
        self._simulation.reset(state)

    def _pull(self) -> None:
        assert self._grip is not None
        pull, inertia = self._grip
        if inertia == inf:
            return
        X_WB, V_WB = self._solid(pull.solid, pull.point)
        point = X_WB[:3, :3] @ np.array(pull.point) + X_WB[:3, 3]
        stretch = np.array(pull.target) - point
        length = float(np.linalg.norm(stretch))
        w = 2 * pi * pull.frequency
        spring = stretch * min(1.0, _FARTHEST / length) if length > 0 else stretch
        force = inertia * (w * w * spring - 2 * w * V_WB)
        self._simulation.apply_wrench(pull.solid, np.concatenate([force, np.zeros(3)]), point)
        self._force, self._at = force, point

    def _solid(self, name: str, point: Vector) -> tuple[Array, Array]:
        """Return the pose of a solid, and the velocity of one of its points [m/s]."""
        state = self._simulation.state()
        robot, _, link = name.partition("/")
        if robot == ROBOT and link and self._dynamics is not None:
            q, v = self._configuration(state)
            velocity = self._dynamics.jacobian(q, link, point=point)[:3] @ v
            return self._dynamics.link_pose(q, link), velocity
        if name in self.layout.floating:
            row = self.layout.floating.index(name)
            X_WB = _transform(state.poses[row])
            arm = X_WB[:3, :3] @ np.array(point)
            twist = state.twists[row]
            return X_WB, twist[:3] + np.cross(twist[3:], arm)
        return self._still.get(name, np.eye(4)), np.zeros(3)

    def _inertia_at(self, pull: Pull) -> float:
        """Return the inertia that a force at a point of a solid feels, the mean of all directions.

        That is 3 / trace(J M^-1 J^T), J of the point (Khatib 1987, the operational space inertia);
        infinite for a solid that cannot move [kg].
        """
        robot, _, link = pull.solid.partition("/")
        if robot == ROBOT and link and self._dynamics is not None:
            q, _ = self._configuration(self._simulation.state())
            J = self._dynamics.jacobian(q, link, point=pull.point)[:3]
            yields = float(np.trace(J @ np.linalg.solve(self._dynamics.mass_matrix(q), J.T)))
            return 3 / yields if yields > 1e-9 else inf
        for body in self.scene.bodies:
            if body.name == pull.solid and body.inertia is not None:
                arm = np.array(pull.point) - body.inertia.center
                cross = np.cross(np.eye(3), arm)
                turning = np.trace(cross @ np.linalg.solve(body.inertia.moment, cross.T))
                return 3 / (3 / body.inertia.mass + float(turning))
        return inf

    def _configuration(self, state: State) -> tuple[Array, Array]:
        """Return position and velocity of the robot in the coordinates of its dynamics."""
        own = self.layout.robot_joints[ROBOT]
        q, v = state.q[own], state.v[own]
        if self._dynamics is not None and self._dynamics.free_base:
            row = self.layout.floating.index(f"{ROBOT}/{self._dynamics.model.root}")
            q = np.concatenate([state.poses[row], q])
            v = np.concatenate([state.twists[row], v])
        return q, v

    def poses(self) -> Array:
        """Return the pose [x y z, wxyz] of every shown solid, shape (n, 7)."""
        state = self._simulation.state()
        X = np.empty((len(self.shown), 4, 4))
        X[:] = np.eye(4)
        links = 0
        if self.robot is not None:
            links = len(self.robot.model.links)
            if self._dynamics is not None:
                X[:links] = self._dynamics.link_poses(self._configuration(state)[0])
            else:
                X[:links] = self._rigid_links(state)
        for row, name in enumerate(self.shown[links:], links):
            X[row] = self._still.get(name, X[row])
        rows = np.concatenate([X[:, :3, 3], quaternion_from_rotation(X[:, :3, :3])], axis=1)
        for row, name in enumerate(self.shown[links:], links):
            if name in self.layout.floating:
                rows[row] = state.poses[self.layout.floating.index(name)]
        return rows

    def _rigid_links(self, state: State) -> Array:
        """Return the poses of a robot without joints that move, shape (links, 4, 4)."""
        from kinetarium.dynamics.kinematics import link_poses

        assert self.robot is not None
        root = f"{ROBOT}/{self.robot.model.root}"
        X_WB = np.eye(4)
        if root in self.layout.floating:
            X_WB = _transform(state.poses[self.layout.floating.index(root)])
        return link_poses(self.robot.model, np.zeros(0), X_WB=X_WB)

    def frame(self, number: int) -> bytes:
        """Return the state as a frame; see `HEAD`."""
        state, contacts = self._simulation.state(), self._simulation.contacts()
        forces = np.linalg.norm(contacts.forces, axis=1)
        order = np.argsort(-forces, kind="stable")[:MOST_CONTACTS]
        rows = np.column_stack(
            [contacts.solids[order], contacts.points[order], contacts.forces[order]]
        )
        head = HEAD.pack(
            number, self.heard, self.time, len(contacts.depths), len(order),
            self.status is Status.DIVERGED,
        )  # fmt: skip
        numbers = (self.poses(), state.q, state.v, self._targets, self._force, self._at, rows)
        return head + b"".join(np.asarray(part, "<f4").tobytes() for part in numbers)


def _transform(row: Array) -> Array:
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = rotation_from_quaternion(row[3:]), row[:3]
    return X
