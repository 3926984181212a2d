"""NewtonSimulation: a scene inside Newton, and what is read of it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import warp
from numpy.typing import NDArray

from kinetarium.engines.base.simulation import AppliedWrench, Setup, SimulationBase
from kinetarium.engines.newton.audit import audit
from kinetarium.engines.newton.build import FIRST_POINTS, Model
from kinetarium.engines.newton.library import (
    Backend,
    announced_compilation,
    mujoco,
    open_backend,
)
from kinetarium.engines.newton.options import NewtonOptions
from kinetarium.engines.protocol import (
    NO_CONTACTS,
    Audit,
    Contacts,
    Layout,
    SolverReport,
    State,
)
from kinetarium.scene import DriveMode
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import rotation_from_quaternion

_LARGEST = 1e30
"""Stands for greater numbers, which single precision might not hold."""
_VIOLENT = 1e15
"""Torque [N m or N] whose square the solver may not hold, so that it answers with rest."""
_BOUNDLESS = 2.0**80
"""Lifts the limit of a servo; a power of two, which takes nothing from its digits."""
_Commands = tuple[Any, Any, Any]
"""An array of Newton's, the places in it of some drives, and the commands of these."""
Memory = tuple[Any, Any, Any] | None
"""Positions, velocities, and the acceleration from which the constraint solver starts."""


class LimitedServos:
    """The servos of a solver that have effort limits, which are to hold at the end of a step.

    SolverMuJoCo cuts a servo off by its force at the start of the step, and what is cut off is no
    longer implicit: a servo that is stiff for its inertia would jump across its target for ever.
    A step at whose end a servo would no longer be at its limit is to be taken again without it.
    """

    def __init__(self, layout: Layout, model: Model, *, solver: Any, backend: Backend) -> None:
        """Look up the servos.

        Args:
            solver: The solver of the model.
            backend: Its memory.
        """
        theirs, numbers = solver.mjw_model, solver.mjc_actuator_to_newton_idx
        dofs = dict(zip(model.dofs.tolist(), range(len(model.dofs)), strict=True))
        limited = theirs.actuator_forcelimited.numpy()
        # SolverMuJoCo numbers the targets of positions from 0 up, of velocities from -2 down.
        numbers = [] if numbers is None else numbers.numpy().tolist()
        own = [i for i in range(len(numbers)) if limited[i]]
        joints = [dofs[dof if dof >= 0 else -dof - 2] for dof in (numbers[i] for i in own)]
        damping = {
            joint: drive.damping
            for joint, drive in zip(layout.command_joints.tolist(), layout.actuations, strict=True)
        }
        self._own, self._q, self._v = np.array(own, np.intp), model.q[joints], model.v[joints]
        self._ranges = backend.ranges
        self._effort = self._ranges[own, 1] * (1 - 1e-6)  # as rounding may have it
        self._scale = theirs.actuator_gainprm.numpy()[0, own, 0]
        self._stiffness = -theirs.actuator_biasprm.numpy()[0, own, 1]
        self._damping = np.array([damping[joint] for joint in joints])
        self._targets, self._forces = backend.targets, backend.efforts

    def __bool__(self) -> bool:
        """Whether there are any."""
        return len(self._own) > 0

    def released(self, q: Any, v: Any) -> NDArray[np.bool_]:
        """Return which servos were at their limit in a step, but would not be at its end."""
        force = self._forces[self._own]
        full: NDArray[np.bool_] = np.abs(force) >= self._effort
        if not full.any():
            return full
        free: NDArray[np.bool_] = full & (self._force(q, v) * np.sign(force) < self._effort)
        return free

    def overloaded(self, q: Any, v: Any, free: NDArray[np.bool_]) -> bool:
        """Return whether one of some servos would be above its limit."""
        return bool((np.abs(self._force(q, v)[free]) > self._effort[free] * (1 + 2e-6)).any())

    def scale_limits(self, which: NDArray[np.bool_], factor: float) -> None:
        """Multiply the limits of some servos."""
        self._ranges[self._own[which]] *= factor

    def _force(self, q: Any, v: Any) -> Any:
        """Return the forces of the servos at a state, if they had no limit."""
        targets = self._scale * self._targets[self._own]
        return targets - self._stiffness * q[self._q] - self._damping * v[self._v]


class NewtonSimulation(SimulationBase[Memory]):
    """A scene inside Newton.

    Contacts and sensors are those of the last step: taken at its start, with
    the forces that acted through it, normal and friction. Mimic joints are
    coupled by a constraint. Servos act through their damping implicitly.
    """

    def __init__(self, setup: Setup[NewtonOptions], *, model: Model) -> None:
        """Take over a scene.

        Args:
            model: The scene as Newton holds it.
        """
        super().__init__(setup)
        self._scene, self._options = setup.scene, setup.options
        self._model, self._solver = model, model.solver
        self._state_now, self._control = model.model.state(), model.model.control()
        self._homes = {name: part for part in model.parts for name, _ in part.members}
        self._points = FIRST_POINTS
        if self._solver is not None:
            self._torques, self._limits, self._targets = self._drives()
            self._may_be_violent = self._limits.max(initial=0.0) > _VIOLENT
            self._enter(self._solver)

    def audit(self) -> Audit:
        """Read back the model as Newton loaded it."""
        return audit(
            self._scene,
            self._layout,
            model=self._model,
            options=self._options,
            timestep=self._timestep,
        )

    def _enter(self, solver: Any) -> None:
        """Find everything in another solver, and have its kernels compiled."""
        state, control, h = self._state_now, self._control, self._timestep

        def launch(observables: Any) -> None:
            solver.step(state, state, control, None, h, observables=observables)

        with warp.ScopedDevice("cpu"), announced_compilation():
            self._backend = open_backend(
                solver, self._options, launch=launch, sensors=bool(self._sensor_names)
            )
        self._solver, at = solver, self._backend
        self._qpos, self._qvel, self._warm_start = at.qpos, at.qvel, at.warm_start
        self._overflow, self._body_f = at.overflow, state.body_f.numpy()
        numbers = solver.mjc_body_to_newton.numpy()[0]
        self._bodies = {int(own): i for i, own in enumerate(numbers) if own >= 0}
        self._servos = LimitedServos(self._layout, self._model, solver=solver, backend=at)

    def _drives(self) -> tuple[_Commands, Array, list[_Commands]]:
        """Return where Newton takes torques, their limits, and where it takes targets."""
        control, model = self._control, self._model
        dofs, starts = model.dofs[self._layout.command_joints], model.model.joint_target_q_start
        numbers = model.model.joint_qd_start.numpy().searchsorted(dofs)
        drives = self._layout.actuations
        torque, position, velocity = (
            np.array([i for i, one in enumerate(drives) if one.drive is mode], dtype=np.intp)
            for mode in (DriveMode.TORQUE, DriveMode.POSITION, DriveMode.VELOCITY)
        )
        targets = [
            (control.joint_target_q.numpy(), starts.numpy()[numbers[position]], position),
            (control.joint_target_qd.numpy(), dofs[velocity], velocity),
        ]
        return (
            (control.joint_f.numpy(), dofs[torque], torque),
            np.array([min(drives[i].effort, _LARGEST) for i in torque]),
            [each for each in targets if len(each[2])],
        )

    def _write(self, state: State) -> None:
        if self._solver is None:
            return
        at = self._model
        self._qpos[at.q], self._qpos[at.poses] = state.q, state.poses
        self._qvel[at.v] = state.v
        twists = state.twists.copy()
        for pose, twist in zip(state.poses, twists, strict=True):
            twist[3:] = twist[3:] @ rotation_from_quaternion(pose[3:])
        self._qvel[at.twists] = twists
        self._warm_start[:] = 0.0

    def _read(self) -> tuple[Array, Array, Array, Array]:
        if self._solver is None:
            return np.zeros(0), np.zeros(0), np.zeros((0, 7)), np.zeros((0, 6))
        at, qpos, qvel = self._model, self._qpos.astype(np.float64), self._qvel.astype(np.float64)
        poses, twists = qpos[at.poses], qvel[at.twists]
        for pose, twist in zip(poses, twists, strict=True):
            unit = pose[3:].copy()  # as far as single precision goes
            mujoco.mju_normalize4(unit)
            mujoco.mju_rotVecQuat(twist[3:], twist[3:].copy(), unit)
        return qpos[at.q], qvel[at.v], poses, twists

    def _advance(self, command: Array, n: int, wrenches: Sequence[AppliedWrench]) -> int:
        if self._solver is None:
            return n
        for values, places, own in self._targets:
            values[places] = command[own].clip(-_LARGEST, _LARGEST)
        values, places, own = self._torques
        if len(own):
            values[places] = torques = command[own].clip(-self._limits, self._limits)
            if self._may_be_violent and np.abs(torques).max() > _VIOLENT:
                self._diverge()
        before = self._save()
        if wrenches:
            self._push(wrenches)
        self._launch(n)
        while self._overflow[0]:  # contacts were left out: the same again, with more room
            self._points *= 4
            self._enter(self._model.solver_for(self._points))
            self._restore(before)
            self._launch(n)
        if wrenches:
            self._body_f[:] = 0.0
        return n

    def _launch(self, n: int) -> None:
        """Make n steps; at the end of each, servos obey their limits."""
        step = self._backend.step
        if not self._servos:
            for _ in range(n):
                step()
            return
        for _ in range(n):
            before = self._save()
            step()
            free = self._servos.released(self._qpos, self._qvel)
            if free.any():
                self._again(before, free)
                # A contact does not know of the servo, which it may overload again.
                if self._servos.overloaded(self._qpos, self._qvel, free):
                    self._again(before, np.zeros_like(free))

    def _again(self, before: Memory, free: NDArray[np.bool_]) -> None:
        """Take a step again, some servos without limit."""
        self._restore(before)
        self._servos.scale_limits(free, _BOUNDLESS)
        self._backend.step()
        self._servos.scale_limits(free, 1 / _BOUNDLESS)

    def _push(self, wrenches: Sequence[AppliedWrench]) -> None:
        # Newton takes wrenches at the centre of mass, and knows that of the last step only.
        self._backend.place()
        for solid, F_W, point in wrenches:
            if solid in self._homes:
                body = self._homes[solid].index
                F = self._body_f[body]
                F += F_W
                F[3:] += np.cross(point - self._backend.xipos[self._bodies[body]], F_W[:3])

    def _contacts(self) -> Contacts:
        if self._solver is None:
            return NO_CONTACTS
        found = self._backend.contacts()
        shapes = self._solver.mjc_geom_to_newton_shape.numpy()[0]
        solids = self._model.shape_solids[shapes[found.geoms]]
        # The normal points from the first shape to the second, on which the force acts.
        return Contacts(
            solids=solids[:, ::-1].astype(np.int32),
            points=found.points,
            normals=found.frames[:, 0].copy(),
            depths=found.depths,
            forces=np.einsum("nji,nj->ni", found.frames, found.forces),
        )

    def _wrench(self, sensor: str) -> Array:
        body = self._model.sensors[sensor]
        here = self._bodies[body]
        R = self._backend.xmat[here].astype(np.float64)
        # What the parent exerts on the child.
        f, m = self._backend.parent_wrench(here, newton_body=body)
        return -np.concatenate([f @ R, m @ R])

    def _solver_report(self) -> SolverReport:
        taken = 0 if self._solver is None else self._backend.iterations
        return SolverReport(taken, self._options.iterations)

    def _save(self) -> Memory:
        if self._solver is None:
            return None
        return self._qpos.copy(), self._qvel.copy(), self._warm_start.copy()

    def _restore(self, memory: Memory) -> None:
        if memory is not None:
            self._qpos[:], self._qvel[:], self._warm_start[:] = memory
