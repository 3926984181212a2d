"""SimulationBase: the edge of a simulation, the same for all engines."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, isfinite
from typing import Generic, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.engines.protocol import (
    NO_CONTACTS,
    Audit,
    Capability,
    CapabilityError,
    Contacts,
    Layout,
    NotFiniteError,
    Options,
    SavedState,
    SolverReport,
    State,
    Status,
)
from kinetarium.errors import KinetariumError, UnknownNameError
from kinetarium.scene import Base, Scene
from kinetarium.spatial.arrays import Array

LIMIT = 1e6
"""A run has diverged when a number of its `State` is not finite, or when the Euclidean norm of
all its positions (joints, and poses of what floats) [m, rad] or of all its velocities [m/s, rad/s]
reaches this. No robot is there: a body at that speed crosses a kilometre in a step of 1 ms, and at
that distance single precision resolves 6 cm. It is far above what diverges and comes back, such as
a stiff contact, and far below where the engines' own answers to overflow begin, which differ."""
_VIOLENT = 1e20
"""Wrench [N, N m] and arm [m] that take any solid of a robot beyond `LIMIT` within a step. They
are not handed on: some engines answer overflow with rest, as if nothing had happened."""
_LOOK = 32
"""Most time steps between two judgements of the state."""
_DOUBLE = np.dtype(np.float64)
_UNIT = 1e-9
"""How far a quaternion may be off unit length without being scaled [-]."""

_NO_POSES, _NO_TWISTS = np.zeros((0, 7)), np.zeros((0, 6))

OptionsT = TypeVar("OptionsT", bound=Options)
MemoryT = TypeVar("MemoryT")


@dataclass(frozen=True, slots=True, eq=False)
class Setup(Generic[OptionsT]):
    """What a simulation is built from, checked.

    Attributes:
        engine: The engine's name.
        capabilities: What the engine can do.
        scene: The scene, which needs no more than that.
        layout: The order of all arrays.
        start: The state the scene starts in.
        timestep: Time step [s].
        options: The engine's own options.
        seed: Seed of everything random in the engine.
    """

    engine: str
    capabilities: frozenset[Capability]
    scene: Scene
    layout: Layout
    start: State
    timestep: float
    options: OptionsT
    seed: int


class AppliedWrench(NamedTuple):
    """A wrench from outside that acts during one time step.

    Attributes:
        solid: The solid it acts on.
        F_W: The wrench [f; m] in world axes at the point [N, N m], shape (6,).
        point: Where it acts [m], world frame, shape (3,).
    """

    solid: str
    F_W: Array
    point: Array


@dataclass(slots=True, eq=False)
class _Readings:
    """What was measured in the last step, as far as it has been asked for.

    Attributes:
        steps: Time steps at its end.
        contacts: The contacts, or None.
        wrenches: The readings of sensors.
    """

    steps: int
    contacts: Contacts | None
    wrenches: dict[str, Array]


class _Saved(NamedTuple):
    """A simulation between two steps; `memory` is what the engine needs, if it has not diverged."""

    start: float
    steps: int
    last: State | None
    pending: tuple[AppliedWrench, ...]
    readings: _Readings
    memory: object


class SimulationBase(ABC, Generic[MemoryT]):
    """A scene inside an engine: the public methods check their input, then call a hook.

    What is wrong is refused in one line and changes nothing: names (UnknownNameError, with the
    valid ones), numbers that are not finite (NotFiniteError), what the engine does not declare
    (CapabilityError), shapes, foreign saved states and closed simulations (KinetariumError).

    Hooks are given names that exist and finite arrays of the right shape, which they must not
    change. After divergence only `_close` is called, until a state is set again.
    """

    def __init__(self, setup: Setup[OptionsT]) -> None:
        """Take over what the simulation is built from."""
        layout, scene = setup.layout, setup.scene
        self._layout, self._timestep = layout, setup.timestep
        self._engine, self._capabilities = setup.engine, setup.capabilities
        self._solid_names = frozenset(layout.solids)
        self._sensor_names = frozenset(sensor.name for sensor in scene.sensors)
        self._command_shape = (len(layout.commands),)
        # Of each robot, the six of a free base included.
        self._coordinates = {
            robot.name: 6 * (robot.base is Base.FREE) + len(robot.model.moving_joints)
            for robot in scene.robots
        }
        self._pending: list[AppliedWrench] = []
        self._failed = self._closed = False
        self._last: State | None = None  # of a run that has diverged
        # What is known is good for one number of steps, which is all that `step` has to change.
        self._start, self._steps, self._judge_at = 0.0, 0, _LOOK
        self._state, self._state_at = setup.start, -1
        self._readings = _Readings(0, NO_CONTACTS, {})

    @property
    def layout(self) -> Layout:
        """The order of joints, commands, floating solids and all solids."""
        return self._layout

    @property
    def status(self) -> Status:
        """Whether the numbers still mean anything, see `LIMIT`."""
        if self._judge_at != self._steps + _LOOK:
            self._judge()
        if self._last is None:
            return Status.RUNNING
        self._refuse_closed()
        return Status.DIVERGED

    def state(self) -> State:
        """Return the state, every array a copy; of a run that has diverged, the last one seen."""
        if self._last is not None:
            self._refuse_closed()
            return _copy(self._last)
        if self._state_at == self._steps:  # read already, and not handed out yet
            self._state_at = -1
            return self._state
        return State(self._start + self._steps * self._timestep, *self._read())

    def reset(self, state: State) -> None:
        """Set the state and forget contacts, readings and pending wrenches.

        A state beyond `LIMIT` is not handed to the engine: the run counts as diverged.
        """
        self._refuse_closed()
        state = self._checked_state(state)
        nothing = {sensor: np.zeros(6) for sensor in self._sensor_names}
        last = None if _is_sound(state) else state
        self._begin(state.time, 0, last=last, readings=_Readings(0, NO_CONTACTS, nothing))
        self._pending = []
        if last is None:
            self._write(state)

    def step(self, command: Array, n: int = 1) -> None:
        """Advance n time steps under one command, in the order of `layout.commands`.

        A run that has diverged goes no further. It is judged whenever `status` is read, and at
        least every 32 steps.
        """
        # Called at every step, hence the shortest way: plain numbers are faster than short arrays.
        if not (
            isinstance(command, np.ndarray)
            and command.dtype is _DOUBLE
            and command.shape == self._command_shape
            and isfinite(sum(command.tolist()))
        ):
            command = _checked(command, self._command_shape, what="a command")
        if self._last is not None:
            self._refuse_closed()
            return
        while n > 0:
            if self._pending:
                wrenches, self._pending = self._pending, []
                made = self._advance(command, 1, wrenches)
            else:
                made = self._advance(command, n if n < _LOOK else _LOOK, ())
            n -= made
            self._steps += made
            if self._steps >= self._judge_at:
                self._judge()
                if self._last is not None:
                    return

    def contacts(self) -> Contacts:
        """Return the contacts of the last step; the arrays are read-only."""
        self._require(Capability.CONTACT_FORCES)
        readings = self._present_readings()
        if readings.contacts is None:
            contacts = readings.contacts = self._contacts()
            for name in Contacts.__slots__:
                getattr(contacts, name).setflags(write=False)
        return readings.contacts

    def wrench(self, sensor: str) -> Array:
        """Read a force-torque sensor [N, N m], shape (6,), as of the last step; zeros before it."""
        self._refuse_closed()
        if sensor not in self._sensor_names:
            raise UnknownNameError("sensor", sensor, known=self._sensor_names)
        wrenches = self._present_readings().wrenches
        if sensor not in wrenches:
            wrenches[sensor] = self._wrench(sensor)
        return wrenches[sensor].copy()

    def solver(self) -> SolverReport:
        """Return how hard the last step was for the solver."""
        self._require(Capability.SOLVER_REPORT)
        return self._solver_report()

    def apply_wrench(self, solid: str, F_W: ArrayLike, point: ArrayLike) -> None:
        """Apply a wrench [f; m] in world axes at a world point during the next time step.

        Wrenches on one solid add up; those on a solid that is fixed to the world do nothing. One
        beyond all measure ends the run as diverged.
        """
        self._require(Capability.EXTERNAL_WRENCH)
        if solid not in self._solid_names:
            raise UnknownNameError("solid", solid, known=self._solid_names)
        wrench = AppliedWrench(
            solid,
            _checked(F_W, (6,), what="a wrench"),
            _checked(point, (3,), what="the point of a wrench"),
        )
        if self._last is None:
            self._pending.append(wrench)
            if not hypot(*wrench.F_W.tolist(), *wrench.point.tolist()) < _VIOLENT:
                self._diverge()
                self._judge()

    def save(self) -> SavedState:
        """Return everything needed to continue, pending wrenches and readings included."""
        self._require(Capability.SAVE_RESTORE)
        memory = None
        if self.status is Status.RUNNING:
            if Capability.CONTACT_FORCES in self._capabilities:
                self.contacts()
            for sensor in self._sensor_names:
                self.wrench(sensor)
            memory = self._save()
        pending, readings = tuple(self._pending), self._present_readings()
        return SavedState(
            self, _Saved(self._start, self._steps, self._last, pending, readings, memory)
        )

    def restore(self, saved: SavedState) -> None:
        """Go back to where `save` was called on this simulation."""
        self._refuse_closed()
        if not isinstance(saved, SavedState) or saved.owner is not self:
            raise KinetariumError("a saved state can be restored only by the simulation it is of")
        content = cast(_Saved, saved.content)
        self._begin(content.start, content.steps, last=content.last, readings=content.readings)
        self._pending = list(content.pending)
        if content.last is None:
            self._restore(cast(MemoryT, content.memory))

    def mass_matrix(self, robot: str) -> Array:
        """Return the mass matrix of a robot in Kinetarium's coordinates, as the engine sees it."""
        self._refuse_joint_space(Capability.MASS_MATRIX, robot)
        return self._mass_matrix(robot) if self._coordinates[robot] else np.zeros((0, 0))

    def inverse_dynamics(self, robot: str, acceleration: ArrayLike) -> Array:
        """Return the generalised forces for an acceleration at the present state.

        Joint damping and friction are left out, as in `RobotDynamics`.

        Args:
            acceleration: That of a free base first [m/s^2, rad/s^2], then of the joints.
        """
        self._refuse_joint_space(Capability.INVERSE_DYNAMICS, robot)
        n = self._coordinates[robot]
        checked = _checked(acceleration, (n,), what="an acceleration")
        return self._inverse_dynamics(robot, checked) if n else checked

    def equation_of_motion(
        self, robot: str, *, q: Array, v: Array, a: Array
    ) -> tuple[Array, Array, Array, Array]:
        """Return M, g, C v + g and tau = M a + C v + g at many states, one in each row.

        The same as `reset`, `mass_matrix` and `inverse_dynamics` at each of them, but checked at
        once; the simulation is left in the last one.

        Args:
            robot: A robot on a fixed base, the only part of the scene that moves.
            q: Joint positions [rad or m], shape (k, n).
            v: Joint velocities [rad/s or m/s], shape (k, n).
            a: Joint accelerations [rad/s^2 or m/s^2], shape (k, n).
        """
        self._require_robot(Capability.MASS_MATRIX, robot)
        self._require_robot(Capability.INVERSE_DYNAMICS, robot)
        k, n = len(q), self._coordinates[robot]
        if self._layout.floating or n != len(self._layout.joints):
            raise KinetariumError(f"more than the joints of robot '{robot}' moves in the scene")
        q, v, a = (_checked(rows, (k, n), what="states") for rows in (q, v, a))
        if max(np.linalg.norm(rows, axis=1).max(initial=0.0) for rows in (q, v)) >= LIMIT:
            raise KinetariumError(f"a state is beyond {LIMIT:g}")
        M, (g, bias, tau) = np.empty((k, n, n)), np.empty((3, k, n))
        if not M.size:
            return M, g, bias, tau
        for i, state in enumerate(zip(q, v, a, strict=True)):
            M[i], g[i], bias[i], tau[i] = self._equation_of_motion(robot, *state)
        self.reset(State(0.0, q[-1], v[-1], _NO_POSES, _NO_TWISTS))
        return M, g, bias, tau

    @abstractmethod
    def audit(self) -> Audit:
        """Read back the model as the engine loaded it."""

    def close(self) -> None:
        """Release what the engine holds; a closed simulation refuses everything else."""
        if not self._closed:
            self._closed, self._last = True, self._state
            self._close()

    @abstractmethod
    def _write(self, state: State) -> None:
        """Set the state of the engine and let it forget contacts; quaternions have unit length."""

    @abstractmethod
    def _read(self) -> tuple[Array, Array, Array, Array]:
        """Return q, v, poses and twists as in `State`, in arrays that no other code holds."""

    @abstractmethod
    def _advance(self, command: Array, n: int, wrenches: Sequence[AppliedWrench]) -> int:
        """Make n time steps, only one if there are wrenches, which act during that step alone.

        An engine that cannot continue calls `_diverge`, one with suspicious numbers `_suspect`.

        Returns:
            The number of steps that were made: less than n only after such a call.
        """

    def _contacts(self) -> Contacts:
        """Return the contacts of the last step; there was one."""
        raise CapabilityError(self._engine, Capability.CONTACT_FORCES)

    def _wrench(self, sensor: str) -> Array:
        """Return the wrench of a sensor in the last step, shape (6,); there was one."""
        raise CapabilityError(self._engine, Capability.JOINT_WRENCH)

    def _solver_report(self) -> SolverReport:
        """Return how hard the last step was for the solver."""
        raise CapabilityError(self._engine, Capability.SOLVER_REPORT)

    def _save(self) -> MemoryT:
        """Return what the engine needs to continue; readings are kept by the caller."""
        raise CapabilityError(self._engine, Capability.SAVE_RESTORE)

    def _restore(self, memory: MemoryT) -> None:
        """Go back to where `_save` was called."""
        raise CapabilityError(self._engine, Capability.SAVE_RESTORE)

    def _mass_matrix(self, robot: str) -> Array:
        """Return the mass matrix of a robot at the present state, shape (n, n)."""
        raise CapabilityError(self._engine, Capability.MASS_MATRIX)

    def _inverse_dynamics(self, robot: str, acceleration: Array) -> Array:
        """Return the generalised forces of a robot for an acceleration, shape (n,)."""
        raise CapabilityError(self._engine, Capability.INVERSE_DYNAMICS)

    def _equation_of_motion(
        self, robot: str, q: Array, v: Array, a: Array
    ) -> tuple[Array, Array, Array, Array]:
        """Return M, g, C v + g and tau at one state; for engines that can do better than this."""
        rest = np.zeros_like(v)
        self._write(State(0.0, q, rest, _NO_POSES, _NO_TWISTS))
        g = self._inverse_dynamics(robot, rest)
        self._write(State(0.0, q, v, _NO_POSES, _NO_TWISTS))
        M, bias = self._mass_matrix(robot), self._inverse_dynamics(robot, rest)
        return M, g, bias, self._inverse_dynamics(robot, a)

    def _close(self) -> None:
        """Release what does not go with this object."""

    def _diverge(self) -> None:
        """Mark the run diverged when `_advance` returns."""
        self._failed, self._judge_at = True, 0

    def _suspect(self) -> None:
        """Have the state judged when `_advance` returns, because it may look sound again later."""
        self._judge_at = 0

    def _judge(self) -> None:
        now = self.state()
        self._state, self._state_at, self._judge_at = now, self._steps, self._steps + _LOOK
        if self._failed or not _is_sound(now):
            self._failed, self._last = False, now

    def _begin(self, start: float, steps: int, *, last: State | None, readings: _Readings) -> None:
        self._start, self._steps, self._judge_at, self._state_at = start, steps, steps + _LOOK, -1
        self._last, self._readings = last, readings

    def _present_readings(self) -> _Readings:
        if self._readings.steps != self._steps:
            self._readings = _Readings(self._steps, None, {})
        if self._last is not None:
            nothing = {sensor: np.zeros(6) for sensor in self._sensor_names}
            self._readings = _Readings(self._steps, NO_CONTACTS, nothing)
        return self._readings

    def _require(self, capability: Capability) -> None:
        self._refuse_closed()
        if capability not in self._capabilities:
            raise CapabilityError(self._engine, capability)

    def _refuse_closed(self) -> None:
        if self._closed:
            raise KinetariumError("the simulation is closed")

    def _require_robot(self, capability: Capability, robot: str) -> None:
        self._require(capability)
        if robot not in self._coordinates:
            raise UnknownNameError("robot", robot, known=self._coordinates)

    def _refuse_joint_space(self, capability: Capability, robot: str) -> None:
        self._require_robot(capability, robot)
        if self.status is Status.DIVERGED:
            raise KinetariumError("the run has diverged; reset it first")

    def _checked_state(self, state: State) -> State:
        """Return a copy of a state with quaternions of unit length."""
        n, f = len(self._layout.joints), len(self._layout.floating)
        time = _checked(state.time, (), what="the time of a state")
        poses = _checked(state.poses, (f, 7), what="the poses of a state")
        for pose, name in zip(poses, self._layout.floating, strict=True):
            length = hypot(*pose[3:].tolist())
            if length == 0:
                raise KinetariumError(f"the quaternion of '{name}' is zero and no rotation")
            if abs(length - 1) > _UNIT:
                pose[3:] /= length
        return State(
            float(time),
            _checked(state.q, (n,), what="the joint positions of a state"),
            _checked(state.v, (n,), what="the joint velocities of a state"),
            poses,
            _checked(state.twists, (f, 6), what="the twists of a state"),
        )


def _checked(values: ArrayLike, shape: tuple[int, ...], *, what: str) -> Array:
    """Return a copy of numbers that are finite and as many as they should be."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise KinetariumError(f"{what} must be an array of numbers") from None
    if array.shape != shape:
        raise KinetariumError(f"{what} must have the shape {shape}, not {array.shape}")
    # The sum of plain numbers is the fastest test, but may overflow.
    if not isfinite(sum(array.ravel().tolist())) and not np.isfinite(array).all():
        i = int(np.flatnonzero(~np.isfinite(array))[0])
        raise NotFiniteError(f"{what} must be finite, but number {i} is {array.flat[i]}")
    return array


def _is_sound(state: State) -> bool:
    """Return whether a state is within `LIMIT`; plain numbers are faster than short arrays."""
    return (
        hypot(*state.q.tolist(), *state.poses.ravel().tolist()) < LIMIT
        and hypot(*state.v.tolist(), *state.twists.ravel().tolist()) < LIMIT
    )


def _copy(state: State) -> State:
    return State(
        state.time, state.q.copy(), state.v.copy(), state.poses.copy(), state.twists.copy()
    )
