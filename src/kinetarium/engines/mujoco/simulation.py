"""MujocoSimulation: a scene inside MuJoCo, and the equation of motion of its robots."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import hypot, inf, isfinite
from operator import mul

import mujoco
import numpy as np
from numpy.typing import NDArray

from kinetarium.engines.base.audit import LoadedFrames, limit_of, lumped_solids, merged
from kinetarium.engines.base.simulation import AppliedWrench, Setup, SimulationBase
from kinetarium.engines.mujoco.batch import exceeds_effort, open_loop_states, physics_state
from kinetarium.engines.mujoco.build import IMPLICIT_IN_VELOCITY, INTEGRATORS, UNBOUNDED, body_name
from kinetarium.engines.mujoco.options import Integrator, MujocoOptions
from kinetarium.engines.protocol import (
    Audit,
    Contacts,
    Layout,
    LoadedCoupling,
    LoadedDrive,
    LoadedJoint,
    LoadedLoop,
    LoadedSurface,
    SolverReport,
    State,
)
from kinetarium.model.robot import Inertia
from kinetarium.scene import Base, DriveMode, PlacedRobot, Scene
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose, rotation_from_quaternion

_rotate, _step = mujoco.mju_rotVecQuat, mujoco.mj_step
Indices = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Addresses:
    """Indices into MuJoCo's arrays.

    Attributes:
        q: Into qpos, of each joint, shape (n,).
        v: Into qvel, of each joint, shape (n,).
        poses: Into qpos, of position and quaternion of each floating solid, shape (f, 7).
        twists: Into qvel, of the twist of each floating solid, shape (f, 6).
        bodies: The body of each solid, by name.
        geom_solids: The solid of each geom, shape (geoms,).
        sensors: Into sensordata, of each sensor's force, which the torque follows, by name.
    """

    q: Indices
    v: Indices
    poses: Indices
    twists: Indices
    bodies: dict[str, int]
    geom_solids: NDArray[np.int32]
    sensors: dict[str, int]

    @classmethod
    def of(cls, scene: Scene, layout: Layout, *, model: mujoco.MjModel) -> "Addresses":
        """Look up a scene in the model built from it."""
        bodies = {name: model.body(body_name(name)).id for name in layout.solids}
        solids = np.full(model.nbody, -1, dtype=np.int32)
        solids[list(bodies.values())] = np.arange(len(bodies))
        joints = [model.joint(name).id for name in layout.joints]
        free = [model.body_jntadr[bodies[name]] for name in layout.floating]
        return cls(
            q=model.jnt_qposadr[joints].astype(np.intp),
            v=model.jnt_dofadr[joints].astype(np.intp),
            poses=model.jnt_qposadr[free].astype(np.intp)[:, np.newaxis] + np.arange(7),
            twists=model.jnt_dofadr[free].astype(np.intp)[:, np.newaxis] + np.arange(6),
            bodies=bodies,
            geom_solids=solids[model.geom_bodyid],
            sensors={s.name: int(model.sensor(f"{s.name}#force").adr[0]) for s in scene.sensors},
        )


class JointSpace:
    """The equation of motion of one robot at the state of some data.

    MuJoCo writes the angular velocity of a free base in body axes. With
    T = diag(1, R', 1), R = R_WB: v_mujoco = T v, a_mujoco = T a, tau = T' tau_mujoco,
    M = T' M_mujoco T; nothing else arises, for w x w = 0. Joint damping and friction,
    contacts and constraints are no part of it; the inertia of the drives is.
    """

    def __init__(
        self, model: mujoco.MjModel, *, positions: Indices, dofs: Indices, free_base: bool
    ) -> None:
        """Choose the robot.

        Args:
            model: The compiled scene.
            positions: Indices into qpos of its joints in Kinetarium's order, shape (joints,).
            dofs: Indices into qvel of its coordinates in Kinetarium's order, shape (n,).
            free_base: Whether the first six of them are those of a free base.
        """
        self._model = model
        self._positions, self._dofs, self._block = positions, dofs, np.ix_(dofs, dofs)
        self._armature = model.dof_armature
        self._full, self._tau = np.zeros((model.nv, model.nv)), np.zeros(model.nv)
        self._base = int(model.dof_bodyid[dofs[0]]) if free_base else None

    def mass_matrix(self, data: mujoco.MjData) -> Array:
        """Return M, shape (n, n)."""
        self._place(data)
        M = self._own_matrix(data)
        if self._base is None:
            return M
        T = self._transform(data)
        return T.T @ M @ T

    def inverse_dynamics(self, data: mujoco.MjData, acceleration: Array) -> Array:
        """Return tau = M a + C v + g for an acceleration (recursive Newton-Euler), shape (n,)."""
        self._place(data)
        mujoco.mj_comVel(self._model, data)
        T = None if self._base is None else self._transform(data)
        qacc = data.qacc
        qacc[:] = 0.0
        qacc[self._dofs] = acceleration if T is None else T @ acceleration
        tau = np.zeros(self._model.nv)
        mujoco.mj_rne(self._model, data, 1, tau)
        # MuJoCo counts the drives in its mass matrix only.
        tau += self._armature * qacc
        own: Array = tau[self._dofs]
        return own if T is None else T.T @ own

    def of_fixed_base(
        self, data: mujoco.MjData, q: Array, v: Array, *, a: Array
    ) -> tuple[Array, Array, Array, Array]:
        """Return M, g, C v + g and tau at a state, which the data takes on."""
        model, dofs, tau, qvel = self._model, self._dofs, self._tau, data.qvel
        data.qpos[self._positions] = q
        qvel[:] = 0.0
        self._place(data)
        mujoco.mj_comVel(model, data)
        mujoco.mj_rne(model, data, 0, tau)
        g = tau[dofs]
        qvel[dofs] = v
        mujoco.mj_comVel(model, data)
        mujoco.mj_rne(model, data, 0, tau)
        bias = tau[dofs]
        data.qacc[dofs] = a
        mujoco.mj_rne(model, data, 1, tau)
        return self._own_matrix(data), g, bias, tau[dofs] + self._armature[dofs] * a

    def _own_matrix(self, data: mujoco.MjData) -> Array:
        mujoco.mj_crb(self._model, data)
        mujoco.mj_fullM(self._model, data, self._full)
        M: Array = self._full[self._block]
        return M

    def _place(self, data: mujoco.MjData) -> None:
        mujoco.mj_kinematics(self._model, data)
        mujoco.mj_comPos(self._model, data)

    def _transform(self, data: mujoco.MjData) -> Array:
        T = np.eye(len(self._dofs))
        T[3:6, 3:6] = data.xmat[self._base].reshape(3, 3).T
        return T


class LimitedServos:
    """Steps a model whose servos have effort limits, which are to hold at the end of a step.

    MuJoCo cuts a servo off by its force at the start of the step, and what is cut off is no longer
    implicit. A servo that is stiff for its inertia then jumps to and fro across its target with its
    full effort, for ever: wheels that skid run 45 % too fast. So a step at whose end a servo would
    no longer be at its limit is taken again, with that servo implicit.
    """

    def __init__(
        self,
        setup: Setup[MujocoOptions],
        *,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        at: Addresses,
    ) -> None:
        """Look up the servos."""
        self._model, self._data, self._at = model, data, at
        # Views, since every access to an attribute of MuJoCo's makes another.
        self._now = data.qpos, data.qvel
        self._before = [array.copy() for array in self._now]
        self._forces, self._command = data.actuator_force, data.ctrl
        servos = [
            (i, joint, drive.effort)
            for i, (joint, drive) in enumerate(
                zip(setup.layout.command_joints.tolist(), setup.layout.actuations, strict=True)
            )
            if drive.drive is not DriveMode.TORQUE and isfinite(drive.effort)
        ]
        implicit = setup.options.integrator in (*IMPLICIT_IN_VELOCITY, Integrator.DISCRETE)
        places, joints, efforts = zip(*servos, strict=True) if servos and implicit else ((),) * 3
        self._places, self._joints = np.array(places, np.intp), np.array(joints, np.intp)
        self._effort = np.array(efforts) * (1 - 1e-12)  # as MuJoCo's own rounding may have it
        self._scale = model.actuator_gainprm[self._places, 0]
        self._stiffness = -model.actuator_biasprm[self._places, 1]
        drives = [setup.layout.actuations[i] for i in places]
        self._damping = np.array([drive.damping for drive in drives])
        # Plain numbers are faster than short arrays, and most steps end with the first question.
        shares = np.zeros(model.nu)
        shares[self._places] = 1 / np.maximum(self._effort, np.finfo(np.float64).tiny)
        self._shares = shares.tolist()

    def __bool__(self) -> bool:
        """Whether there are any."""
        return len(self._places) > 0

    def step(self) -> None:
        """Take one step."""
        (q, v), (q_0, v_0) = self._now, self._before
        q_0[:], v_0[:] = q, v
        _step(self._model, self._data)
        if hypot(*map(mul, self._forces.tolist(), self._shares)) < 1:
            return
        force = self._forces[self._places]
        full = np.abs(force) >= self._effort
        free = full & (self._unlimited() * np.sign(force) < self._effort)
        if not free.any():
            return
        self._again(free=self._places[free])
        # A contact of IMPLICITFAST does not know of the servo, which it may overload again.
        if (np.abs(self._unlimited()[free]) > self._effort[free]).any():
            self._again(free=self._places[:0])

    def limit_in(self, states: Array, commands: Array, *, hold: int) -> bool:
        """Return whether a servo is at its limit in some step of a run, see `exceeds_effort`."""
        return exceeds_effort(
            states,
            commands[:, self._places],
            hold=hold,
            positions=self._at.q[self._joints],
            dofs=self._model.nq + self._at.v[self._joints],
            gains=(self._scale, self._stiffness, self._damping),
            effort=self._effort,
        )

    def _unlimited(self) -> Array:
        """Return the forces of the servos at the present state, if they had no limit."""
        q, v = self._now[0][self._at.q[self._joints]], self._now[1][self._at.v[self._joints]]
        force: Array = (
            self._scale * self._command[self._places] - self._stiffness * q - self._damping * v
        )
        return force

    def _again(self, *, free: Indices) -> None:
        """Take a step again, some servos without limit; the solver starts from what it found."""
        for array, before in zip(self._now, self._before, strict=True):
            array[:] = before
        self._data.time -= self._model.opt.timestep
        self._model.actuator_forcelimited[free] = 0
        _step(self._model, self._data)
        self._model.actuator_forcelimited[free] = 1


class MujocoSimulation(SimulationBase[mujoco.MjData]):
    """A scene inside MuJoCo.

    Contacts and sensors are those of the last step: taken at its start, with
    the forces that acted through it, normal and friction. Mimic joints are
    coupled by a constraint. Servos are implicit in position and velocity under
    the integrators IMPLICIT, IMPLICITFAST and DISCRETE; a contact knows of them
    only under the last.
    """

    def __init__(self, setup: Setup[MujocoOptions], *, model: mujoco.MjModel) -> None:
        """Start a scene that MuJoCo has compiled."""
        super().__init__(setup)
        self._scene, self._model = setup.scene, model
        self._data = mujoco.MjData(model)
        self._at = at = Addresses.of(setup.scene, setup.layout, model=model)
        # Views of MuJoCo's own memory, which stay where they are.
        self._qpos, self._qvel = self._data.qpos, self._data.qvel
        self._ctrl, self._warnings = self._data.ctrl, memoryview(self._data.warning.number)
        self._gather = (at.q, at.v, at.poses, at.twists)
        # Angular velocity, which MuJoCo has in body axes, and orientation of what floats.
        self._spins = [
            (i, self._qvel[v + 3 : v + 6], self._qpos[q + 3 : q + 7])
            for i, (q, v) in enumerate(zip(at.poses[:, 0], at.twists[:, 0], strict=True))
        ]
        servos = LimitedServos(setup, model=model, data=self._data, at=at)
        self._servos = servos if servos else None  # which is faster to ask at every step
        self._unwarned = self._warnings.tobytes()
        self._scratch = mujoco.MjData(model)
        self._spaces = {robot.name: self._space_of(robot) for robot in setup.scene.robots}

    def audit(self) -> Audit:
        """Read back the model as MuJoCo loaded it."""
        return audit(self._model, self._scene, layout=self._layout)

    def open_loop_batch(
        self,
        starts: Sequence[State],
        commands: Array,
        *,
        hold: int,
        steps: int,
        samples: Sequence[int],
        threads: int,
    ) -> Iterator[tuple[State, ...]]:
        """Yield the states of many runs at some steps, computed in threads of MuJoCo's own.

        Each is the same as that of single steps, to the bit. A run in which a servo reaches its
        limit, or which may diverge, has no states: it is to be stepped, for its steps are judged.

        Args:
            starts: The state at the start of each run.
            commands: The commands of each run, shape (runs, ticks, commands).
            hold: Steps that a command lasts.
            steps: Steps of each run.
            samples: The steps after which a state is asked for.
            threads: Number of threads.
        """
        begin = []
        for start in starts:
            self.reset(start)
            begin.append(physics_state(self._model, self._data))
        runs = open_loop_states(
            self._model, np.array(begin), commands, hold=hold, steps=steps, threads=threads
        )
        h, nq = self._timestep, self._model.nq
        for start, command, states in zip(starts, commands, runs, strict=True):
            if not len(states) or (
                self._servos is not None and self._servos.limit_in(states, command, hold=hold)
            ):
                yield ()
                continue
            found = []
            for k in samples:
                self._qpos[:], self._qvel[:] = states[k, :nq], states[k, nq:]
                found.append(State(start.time + k * h, *self._read()))
            yield tuple(found)

    def _write(self, state: State) -> None:
        mujoco.mj_resetData(self._model, self._data)
        self._qpos[self._at.q] = state.q
        self._qvel[self._at.v] = state.v
        self._qpos[self._at.poses] = state.poses
        self._qvel[self._at.twists] = state.twists
        inverse = np.zeros(4)
        for _, spin, quaternion in self._spins:
            mujoco.mju_normalize4(quaternion)
            mujoco.mju_negQuat(inverse, quaternion)
            _rotate(spin, spin.copy(), inverse)

    def _read(self) -> tuple[Array, Array, Array, Array]:
        qpos, qvel = self._qpos, self._qvel
        q, v, poses, twists = self._gather
        V_WB = qvel[twists]
        for i, spin, quaternion in self._spins:
            _rotate(V_WB[i, 3:], spin, quaternion)
        return qpos[q], qvel[v], qpos[poses], V_WB

    def _advance(self, command: Array, n: int, wrenches: Sequence[AppliedWrench]) -> int:
        self._ctrl[...] = command
        if wrenches:
            self._push(wrenches)
        if self._servos is not None:
            for _ in range(n):
                self._servos.step()
        elif n == 1:
            _step(self._model, self._data)
        else:
            _step(self._model, self._data, n)
        if wrenches:
            self._data.xfrc_applied[:] = 0.0
        if self._warnings.tobytes() != self._unwarned:
            self._diverge()
        return n

    def _push(self, wrenches: Sequence[AppliedWrench]) -> None:
        # MuJoCo takes wrenches at the centre of mass, and knows that of the last step only.
        mujoco.mj_kinematics(self._model, self._data)
        moment = np.zeros(3)
        for solid, F_W, point in wrenches:
            body = self._at.bodies[solid]
            mujoco.mju_cross(moment, point - self._data.xipos[body], F_W[:3])
            F = self._data.xfrc_applied[body]
            F += F_W
            F[3:] += moment

    def _contacts(self) -> Contacts:
        contact = self._data.contact
        frames = contact.frame.reshape(-1, 3, 3)
        local = np.zeros((len(frames), 6))
        for i, row in enumerate(local):
            mujoco.mj_contactForce(self._model, self._data, i, row)
        # MuJoCo's normal points from its first geom to its second, on which its force acts.
        return Contacts(
            solids=self._at.geom_solids[contact.geom[:, ::-1]],
            points=contact.pos.copy(),
            normals=frames[:, 0].copy(),
            depths=-contact.dist,
            forces=np.einsum("nji,nj->ni", frames, local[:, :3]),
        )

    def _wrench(self, sensor: str) -> Array:
        start = self._at.sensors[sensor]
        # MuJoCo gives what the parent exerts on the child.
        F: Array = -self._data.sensordata[start : start + 6]
        return F

    def _solver_report(self) -> SolverReport:
        islands = max(1, self._data.nisland)
        iterations = int(self._data.solver_niter[:islands].max())
        return SolverReport(iterations, int(self._model.opt.iterations))

    def _save(self) -> mujoco.MjData:
        copy = mujoco.MjData(self._model)
        mujoco.mj_copyData(copy, self._model, self._data)
        return copy

    def _restore(self, memory: mujoco.MjData) -> None:
        mujoco.mj_copyData(self._data, self._model, memory)

    def _mass_matrix(self, robot: str) -> Array:
        return self._spaces[robot].mass_matrix(self._present())

    def _inverse_dynamics(self, robot: str, acceleration: Array) -> Array:
        return self._spaces[robot].inverse_dynamics(self._present(), acceleration)

    def _equation_of_motion(
        self, robot: str, q: Array, v: Array, a: Array
    ) -> tuple[Array, Array, Array, Array]:
        return self._spaces[robot].of_fixed_base(self._scratch, q, v, a=a)

    def _present(self) -> mujoco.MjData:
        """Return other data with the present state, so that readings stay as they are."""
        self._scratch.qpos[:] = self._qpos
        self._scratch.qvel[:] = self._qvel
        return self._scratch

    def _space_of(self, robot: PlacedRobot) -> JointSpace:
        joints = self._layout.robot_joints[robot.name]
        positions, dofs = self._at.q[joints], self._at.v[joints]
        free = robot.base is Base.FREE
        if free:
            root = self._layout.floating.index(f"{robot.name}/{robot.model.root}")
            dofs = np.concatenate([self._at.twists[root], dofs])
        return JointSpace(self._model, positions=positions, dofs=dofs, free_base=free)


def audit(model: mujoco.MjModel, scene: Scene, *, layout: Layout) -> Audit:
    """Read back a scene that MuJoCo compiled."""
    joints: list[LoadedJoint] = []
    loops: list[LoadedLoop] = []
    ties = iter(np.flatnonzero(model.eq_type != mujoco.mjtEq.mjEQ_JOINT).tolist())
    for robot in scene.robots:
        frames = _frames(model, robot)
        joints += [_joint(model, robot.name, *frame) for frame in frames.joints.items()]
        for loop, tie in zip(robot.model.loops, ties, strict=False):
            sites = (int(model.eq_obj1id[tie]), int(model.eq_obj2id[tie]))
            loops.append(frames.loop(loop, [_end(model, site) for site in sites]))
    inertias = {solid: _inertia(model, solid) for solid in layout.solids}
    return Audit(
        tuple(lumped_solids(scene, {name: own for name, own in inertias.items() if own.mass})),
        tuple(joints),
        frozen(model.opt.gravity),
        _remarks(model),
        drives=tuple(
            _drive(model, name, asked=drive.drive)
            for name, drive in zip(layout.commands, layout.actuations, strict=True)
        ),
        couplings=tuple(_couplings(model)),
        loops=tuple(loops),
        surfaces=merged(_surfaces(model, layout)),
    )


def _frames(model: mujoco.MjModel, robot: PlacedRobot) -> LoadedFrames:
    loaded = {}
    for joint in robot.model.joints:
        body = model.body(f"{robot.name}/{joint.child}")
        X_PJ = pose(body.pos, rotation_from_quaternion(body.quat))
        if body.jntnum[0]:
            X_PJ = X_PJ @ pose(model.jnt_pos[body.jntadr[0]])
        loaded[joint.name] = X_PJ
    return LoadedFrames.of(robot, loaded, keep=loaded)


def _end(model: mujoco.MjModel, site: int) -> tuple[str, Array]:
    """Return the link that a site is on, and its frame there."""
    link = model.body(model.site_bodyid[site]).name.partition("/")[2]
    return link, pose(model.site_pos[site], rotation_from_quaternion(model.site_quat[site]))


def _drive(model: mujoco.MjModel, name: str, *, asked: DriveMode) -> LoadedDrive:
    drive = model.actuator(name)
    _, stiffness, damping = (0.0 - drive.biasprm[:3]).tolist()
    if _is_implicit_in_velocity(model):
        damping -= model.opt.timestep * stiffness  # which makes the spring implicit
    effort = float(np.abs(drive.forcerange).max()) if drive.forcelimited[0] else inf
    mode = asked
    if drive.biastype[0] == mujoco.mjtBias.mjBIAS_NONE:
        mode = DriveMode.TORQUE
    elif stiffness or asked is DriveMode.TORQUE:
        mode = DriveMode.POSITION
    return LoadedDrive(name, mode, stiffness, damping, effort)


def _couplings(model: mujoco.MjModel) -> Iterator[LoadedCoupling]:
    for i in np.flatnonzero(model.eq_type == mujoco.mjtEq.mjEQ_JOINT).tolist():
        follower, leader = (model.joint(ids[i]).name for ids in (model.eq_obj1id, model.eq_obj2id))
        offset, multiplier = model.eq_data[i, :2].tolist()
        yield LoadedCoupling(follower, leader, multiplier, offset)


def _surfaces(model: mujoco.MjModel, layout: Layout) -> Iterator[LoadedSurface]:
    """Yield the surfaces of geoms, which do not bounce, and of pairs, which do."""
    solids = {body_name(name): name for name in layout.solids}
    owners = [solids[model.body(body).name] for body in model.geom_bodyid]
    for i, owner in enumerate(owners):
        rubs = model.geom_condim[i] > 1
        yield LoadedSurface(owner, float(model.geom_friction[i, 0]) if rubs else 0.0, 0.0)
    for i in range(model.npair):
        a, b = owners[model.pair_geom1[i]], owners[model.pair_geom2[i]]
        friction = float(model.pair_friction[i, 0]) if model.pair_dim[i] > 1 else 0.0
        # As `SurfaceBuilder` has it: the damping (1 + e) / h within the impedance.
        returned = -model.pair_solref[i, 1] * model.opt.timestep / model.pair_solimp[i, 0]
        yield LoadedSurface(a, friction, round(float(returned) - 1, 12), against=(b,))


def _inertia(model: mujoco.MjModel, name: str) -> Inertia:
    body = model.body(body_name(name))
    R = rotation_from_quaternion(body.iquat)
    return Inertia(float(body.mass[0]), frozen(body.ipos), frozen(R * body.inertia @ R.T))


def _is_implicit_in_velocity(model: mujoco.MjModel) -> bool:
    return model.opt.integrator in (INTEGRATORS[one] for one in IMPLICIT_IN_VELOCITY)


def _joint(model: mujoco.MjModel, robot: str, own: str, X_PJ: Array) -> LoadedJoint:
    joint = model.joint(name := f"{robot}/{own}")
    dof = int(joint.dofadr[0])
    lower, upper = joint.range if joint.limited[0] else (-inf, inf)
    damping = float(model.dof_damping[dof])
    if _is_implicit_in_velocity(model):
        damping -= model.opt.timestep * float(np.ravel(joint.stiffness)[0])  # as with drives
    return LoadedJoint(
        name=name,
        axis=frozen(joint.axis),
        damping=damping,
        friction=float(model.dof_frictionloss[dof]),
        armature=float(model.dof_armature[dof]),
        lower=limit_of(float(lower), UNBOUNDED),
        upper=limit_of(float(upper), UNBOUNDED),
        X_PJ=X_PJ,
    )


def _remarks(model: mujoco.MjModel) -> tuple[str, ...]:
    remarks = []
    shortest = 2 * model.opt.timestep
    times = [*model.geom_solref[:, 0], *model.jnt_solref[:, 0], *model.eq_solref[:, 0]]
    if any(0 < time < shortest for time in times):
        remarks.append(f"constraints softened to a time constant of two time steps, {shortest:g} s")
    if model.npair:
        remarks.append("surfaces that bounce hardly rub during the impact itself")
    if model.nmesh:
        remarks.append("meshes touch as their convex hulls, in single precision")
    return tuple(remarks)
