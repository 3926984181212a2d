"""Newton's other solvers, judged by the kit: why the adapter does not offer them.

`.venv-newton/bin/python -m benchmarks.newton_solvers [SOLVER ...]` prints what each passes and
fails; all three take some minutes. The scenes are those of the adapter. Shapes touch by Newton's
own collision pipeline, and what these solvers do not know (friction, armature and effort limits
of joints) is left out, as Newton leaves it out. The audit is not part of it.
"""

import sys
from collections.abc import Sequence
from enum import StrEnum
from itertools import combinations

import numpy as np
import warp

from kinetarium import check_engine
from kinetarium.engines.base.simulation import AppliedWrench, Setup, SimulationBase
from kinetarium.engines.conformance import CHECKS
from kinetarium.engines.newton import EngineNewton, NewtonOptions
from kinetarium.engines.newton.build import Assembly
from kinetarium.engines.newton.library import newton
from kinetarium.engines.protocol import (
    NO_CONTACTS,
    Audit,
    Capability,
    Contacts,
    FrictionRule,
    State,
)
from kinetarium.scene import DriveMode
from kinetarium.spatial.rotation import rotation_from_quaternion

ITERATIONS = 20
"""Of XPBD; its own default is 2."""
STIFFNESS, DAMPING, FRICTION_GAIN = 2e4, 100.0, 1000.0
"""Of the springs by which semi-implicit and Featherstone keep shapes apart [N/m, N s/m, N s/m]."""
MOST_CONTACTS = 2000
COORDINATES = ("joint_q", "joint_qd", "body_q", "body_qd")


class Solver(StrEnum):
    XPBD = "xpbd"
    SEMI_IMPLICIT = "semi-implicit"
    FEATHERSTONE = "featherstone"


class _TouchingAssembly(Assembly):
    """Shapes that touch by Newton's collision pipeline."""

    def surface(self, solid: int):
        material = self._scene.materials[solid]
        return newton.ModelBuilder.ShapeConfig(
            density=0.0,
            gap=0.005,
            ke=STIFFNESS,
            kd=DAMPING,
            kf=FRICTION_GAIN,
            mu=material.friction,
            restitution=material.restitution,
            mu_torsional=0.0,
            mu_rolling=0.0,
            collision_filter_parent=False,
        )

    def touch(self) -> None:
        solids = self._shape_solids
        for a, b in combinations(range(len(solids)), 2):
            if not self._may_touch[solids[a], solids[b]]:
                self.builder.add_shape_collision_filter_pair(a, b)


class _Simulation(SimulationBase[dict | None]):
    def __init__(self, setup: Setup[NewtonOptions], solver: Solver) -> None:
        super().__init__(setup)
        assembly = _TouchingAssembly(setup)
        assembly.add_scene()
        self._sensors, self._assembly = setup.scene.sensors, assembly
        self._reduced = solver is Solver.FEATHERSTONE
        self._model = model = assembly.builder.finalize(device="cpu")
        self._now, self._next, self._control = model.state(), model.state(), model.control()
        self._homes = {name: part.index for part in assembly._parts for name, _ in part.members}
        self._solver = None
        if not model.joint_count:
            return
        starts, dofs = model.joint_q_start.numpy(), model.joint_qd_start.numpy()
        joints = [assembly._joints[name] for name in setup.layout.joints]
        self._q, self._v = starts[joints], dofs[joints]
        self._floating = model.joint_child.numpy()[assembly._free]
        self._places = [(starts[j], dofs[j]) for j in assembly._free]
        self._com = model.body_com.numpy()
        self._drives = setup.layout.actuations
        self._driven = [joints[i] for i in setup.layout.command_joints]
        self._open(solver)

    def _open(self, solver: Solver) -> None:
        model, kinds = self._model, newton.solvers.SolverBase.ObservableKind
        match solver:
            case Solver.XPBD:
                self._solver = newton.solvers.SolverXPBD(
                    model, iterations=ITERATIONS, enable_restitution=True
                )
            case Solver.SEMI_IMPLICIT:
                self._solver = newton.solvers.SolverSemiImplicit(model, angular_damping=0.0)
            case Solver.FEATHERSTONE:
                self._solver = newton.solvers.SolverFeatherstone(model, angular_damping=0.0)
        self._pipeline = self._found = self._observed = self._graph = None
        if model.shape_count:
            self._pipeline = newton.CollisionPipeline(
                model, broad_phase="nxn", deterministic=True, rigid_contact_max=MOST_CONTACTS
            )
            self._found = self._pipeline.contacts()
        wanted = set()
        if self._found is not None and solver is Solver.XPBD:
            wanted.add(kinds.CONTACT_F)
        if self._sensors:
            wanted.add(kinds.BODY_PARENT_F)
        if wanted:
            found = self._found if kinds.CONTACT_F in wanted else None
            self._observed = self._solver.observables(wanted, contacts=found)

    def audit(self) -> Audit:
        raise NotImplementedError

    def _write(self, state: State) -> None:
        if self._solver is None:
            return
        q, v = self._now.joint_q.numpy(), self._now.joint_qd.numpy()
        q[self._q], v[self._v] = state.q, state.v
        for (i, j), body, pose, twist in zip(
            self._places, self._floating, state.poses, state.twists, strict=True
        ):
            # Newton has quaternions xyzw and the velocity of the centre of mass.
            q[i : i + 7] = pose[[0, 1, 2, 4, 5, 6, 3]]
            arm = rotation_from_quaternion(pose[3:]) @ self._com[body]
            v[j : j + 3], v[j + 3 : j + 6] = twist[:3] + np.cross(twist[3:], arm), twist[3:]
        newton.eval_fk(self._model, self._now.joint_q, self._now.joint_qd, self._now)

    def _read(self) -> tuple:
        if self._solver is None:
            return np.zeros(0), np.zeros(0), np.zeros((0, 7)), np.zeros((0, 6))
        q, v = self._now.joint_q.numpy(), self._now.joint_qd.numpy()
        if not self._reduced:
            before = q[self._q].copy()
            newton.eval_ik(self._model, self._now, self._now.joint_q, self._now.joint_qd)
            turns = np.round((before - q[self._q]) / (2 * np.pi))
            q[self._q] += 2 * np.pi * turns  # angles come back within one turn
        poses, twists = np.zeros((len(self._floating), 7)), np.zeros((len(self._floating), 6))
        for k, body in enumerate(self._floating):
            R, poses[k] = self._pose(body)
            v_com, w = np.split(self._now.body_qd.numpy()[body].astype(float), 2)
            twists[k] = *(v_com - np.cross(w, R @ self._com[body])), *w
        return q[self._q].astype(float), v[self._v].astype(float), poses, twists

    def _pose(self, body: int) -> tuple[np.ndarray, np.ndarray]:
        pose = self._now.body_q.numpy()[body][[0, 1, 2, 6, 3, 4, 5]].astype(float)
        return rotation_from_quaternion(pose[3:]), pose

    def _advance(self, command: np.ndarray, n: int, wrenches: Sequence[AppliedWrench]) -> int:
        if self._solver is None:
            return n
        model, control = self._model, self._control
        for joint, drive, value in zip(self._driven, self._drives, command.tolist(), strict=True):
            dof = model.joint_qd_start.numpy()[joint]
            match drive.drive:
                case DriveMode.TORQUE:
                    control.joint_f.numpy()[dof] = np.clip(value, -drive.effort, drive.effort)
                case DriveMode.POSITION:
                    place = model.joint_target_q_start.numpy()[joint]
                    control.joint_target_q.numpy()[place] = value
                case DriveMode.VELOCITY:
                    control.joint_target_qd.numpy()[dof] = value
        push = self._now.body_f.numpy()
        for solid, F_W, point in wrenches:
            if (body := self._homes.get(solid, -1)) >= 0:
                R, pose = self._pose(body)
                push[body] += F_W
                push[body][3:] += np.cross(point - pose[:3] - R @ self._com[body], F_W[:3])
        if self._graph is None:
            self._record()
        for _ in range(n):
            warp.capture_launch(self._graph)
        push[:] = 0.0
        return n

    def _record(self) -> None:
        """Compile the kernels of a step, and record them."""
        before = self._save()
        self._launch()
        self._restore(before)
        with warp.ScopedCapture(device="cpu") as capture:
            self._launch()
        self._graph = capture.graph
        self._restore(before)

    def _launch(self) -> None:
        if self._pipeline:
            self._pipeline.collide(self._now, self._found)
        self._solver.step(
            self._now, self._next, self._control, self._found, self._timestep,
            observables=self._observed,
        )  # fmt: skip
        for name in COORDINATES:
            warp.copy(getattr(self._now, name), getattr(self._next, name))

    def _contacts(self) -> Contacts:
        if self._found is None:
            return NO_CONTACTS
        found, n = self._found, int(self._found.rigid_contact_count.numpy()[0])
        shapes = [found.rigid_contact_shape0.numpy()[:n], found.rigid_contact_shape1.numpy()[:n]]
        points = found.rigid_contact_point0.numpy()[:n].astype(float)
        for k, body in enumerate(self._model.shape_body.numpy()[shapes[0]]):
            if body >= 0:
                R, pose = self._pose(body)
                points[k] = pose[:3] + R @ points[k]
        solids = np.array(self._assembly._shape_solids, np.int32)
        return Contacts(
            solids=np.column_stack([solids[one] for one in shapes]),
            points=points,
            normals=-found.rigid_contact_normal.numpy()[:n].astype(float),
            depths=np.zeros(n),
            forces=self._observed.contact_f.numpy()[:n, :3].astype(float),
        )

    def _wrench(self, sensor: str) -> np.ndarray:
        joint = next((one.robot, one.joint) for one in self._sensors if one.name == sensor)
        body = self._assembly._below[joint]
        R, _ = self._pose(body)
        f, m = np.split(self._observed.body_parent_f.numpy()[body].astype(float), 2)
        return -np.concatenate([f @ R, (m + np.cross(R @ self._com[body], f)) @ R])

    def _save(self) -> dict | None:
        if self._solver is None:
            return None
        return {name: getattr(self._now, name).numpy().copy() for name in COORDINATES}

    def _restore(self, memory: dict | None) -> None:
        for name, values in (memory or {}).items():
            getattr(self._now, name).numpy()[:] = values


class _OtherSolver(EngineNewton):
    """Newton with another solver; subclasses name it, for fresh processes make them by name."""

    solver: Solver
    friction_rule = FrictionRule.AVERAGE
    capabilities = frozenset(
        {
            Capability.JOINTS,
            Capability.CONTACT,
            Capability.EXTERNAL_WRENCH,
            Capability.FREE_BASE,
            Capability.SAVE_RESTORE,
            Capability.DETERMINISM,
        }
    )

    def _build(self, setup: Setup[NewtonOptions]) -> _Simulation:
        with warp.ScopedDevice("cpu"):
            return _Simulation(setup, self.solver)


class Xpbd(_OtherSolver):
    solver = Solver.XPBD
    capabilities = _OtherSolver.capabilities | {
        Capability.CONTACT_FORCES,
        Capability.FRICTION_FORCES,
        Capability.RESTITUTION,
        Capability.JOINT_WRENCH,
    }


class SemiImplicit(_OtherSolver):
    solver = Solver.SEMI_IMPLICIT


class Featherstone(_OtherSolver):
    solver = Solver.FEATHERSTONE
    capabilities = _OtherSolver.capabilities | {Capability.JOINT_WRENCH}


def main(names: Sequence[str]) -> None:
    engines = {kind.solver: kind for kind in (Xpbd, SemiImplicit, Featherstone)}
    checks = [check for check in CHECKS if check.name != "audit"]
    if unknown := [name for name in names if name not in list(Solver)]:
        print(f"no solver '{unknown[0]}'; there are: {', '.join(Solver)}", file=sys.stderr)
        sys.exit(2)
    for name in map(Solver, names or Solver):
        outcomes = check_engine(engines[name](), checks=checks)
        passed = sum(outcome.passed for outcome in outcomes)
        print(f"{name}: {passed} of {len(outcomes)} checks pass")
        for outcome in outcomes:
            if not outcome.passed:
                m = outcome.measurement
                figure = (
                    f"{m.value:.2g} instead of {m.expected:.4g} {m.unit}" if m else outcome.error
                )
                print(f"  {outcome.check}: {figure}")


if __name__ == "__main__":
    from benchmarks import newton_solvers  # by its own name, which fresh processes can import

    newton_solvers.main(sys.argv[1:])
