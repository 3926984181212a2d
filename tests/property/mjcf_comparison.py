"""Where a robot model and MuJoCo's own model of the same file differ as mechanisms."""

from dataclasses import dataclass, field
from functools import cached_property
from math import inf

import mujoco
import numpy as np

from kinetarium import RobotModel
from kinetarium.dynamics.robot_dynamics import RobotDynamics
from kinetarium.model.mesh.mesh import mesh_of
from kinetarium.model.robot import Geometry, JointType, MeshData, MeshFile

ROUNDING = 1e-7
MESH_ROUNDING = 3e-5
"""MuJoCo keeps the vertices of meshes in single precision."""
UNLIMITED = 1e10
POSES = 3

_OBJECT = mujoco.mjtObj
# As plain numbers, for MuJoCo's are not equal to those of NumPy that its models hold.
_FREE, _HINGE = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_HINGE)
_MESH = int(mujoco.mjtGeom.mjGEOM_MESH)
_GROUNDS = (int(mujoco.mjtGeom.mjGEOM_PLANE), int(mujoco.mjtGeom.mjGEOM_HFIELD))
_COUPLING, _CONNECT = int(mujoco.mjtEq.mjEQ_JOINT), int(mujoco.mjtEq.mjEQ_CONNECT)


def differences(theirs: mujoco.MjModel, ours: RobotModel, *, seed: int) -> list[str]:
    """Return a sentence for each way in which two models of one file differ."""
    comparison = _Comparison(theirs, ours)
    comparison.compare(np.random.default_rng(seed))
    return comparison.found


def _pose(R: np.ndarray, p: np.ndarray) -> np.ndarray:
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = R.reshape(3, 3), p
    return X


@dataclass
class _Comparison:
    theirs: mujoco.MjModel
    ours: RobotModel
    found: list[str] = field(default_factory=list)

    def compare(self, rng: np.random.Generator) -> None:
        if [joint.name for joint in self.ours.moving_joints if joint.name not in self._joints] or (
            len(self.ours.moving_joints) != len(self._joints)
        ):
            self.found.append(f"joints {sorted(self._joints)}")
            return
        if self.ours.free_base != (self._free is not None):
            self.found.append(f"free base {self.ours.free_base}")
            return
        self._compare_mass()
        self._compare_joints()
        for number in range(POSES):
            self._compare_at_pose(rng, reference=number == 0)

    @cached_property
    def rounding(self) -> float:
        return MESH_ROUNDING if self.theirs.nmesh else ROUNDING

    @cached_property
    def dynamics(self) -> RobotDynamics:
        return RobotDynamics(self.ours)

    @cached_property
    def _free(self) -> int | None:
        free = [i for i in range(self.theirs.njnt) if self.theirs.jnt_type[i] == _FREE]
        return free[0] if free else None

    @cached_property
    def _joints(self) -> dict[str, int]:
        return {
            self.theirs.joint(i).name: i
            for i in range(self.theirs.njnt)
            if self.theirs.jnt_type[i] != _FREE
        }

    @cached_property
    def _links(self) -> dict[str, int]:
        return {link.name: i for i, link in enumerate(self.ours.links)}

    def _is_of_the_robot(self, body: int) -> bool:
        name = mujoco.mj_id2name(self.theirs, _OBJECT.mjOBJ_BODY, body)
        return not name or name in self._links

    def _number(self, what: str, ours: float, theirs: float) -> None:
        if not (ours == theirs or abs(ours - theirs) <= self.rounding * max(abs(theirs), 1e-6)):
            self.found.append(f"{what}: {ours:.9g}, in MuJoCo {theirs:.9g}")

    def _compare_mass(self) -> None:
        """Compare the mass of all bodies, or of those that move where MuJoCo fused the others."""
        moving = {joint.child for joint in self.ours.joints if joint.type is not JointType.FIXED}
        moving |= {self.ours.root} if self.ours.free_base else set()
        for joint in self.ours.joints:
            moving |= {joint.child} if joint.parent in moving else set()
        made = [link.name for link in self.ours.links if link.name == "world" or "/" in link.name]
        fused = self.theirs.nbody - 1 < len(self.ours.links) - len(made)
        links = [link for link in self.ours.links if link.name in moving or not fused]
        ours = sum(link.inertia.mass for link in links if link.inertia)
        theirs = sum(
            float(self.theirs.body_mass[body])
            for body in range(1, self.theirs.nbody)
            if self._is_of_the_robot(body) and (not fused or self.theirs.body_weldid[body])
        )
        self._number("mass", ours, theirs)

    def _compare_joints(self) -> None:
        model = self.theirs
        for joint in self.ours.moving_joints:
            index = self._joints[joint.name]
            dof = model.jnt_dofadr[index]
            lower, upper = model.jnt_range[index] if model.jnt_limited[index] else (-inf, inf)
            damping, armature = model.dof_damping[dof], model.dof_armature[dof]
            for i in range(model.nu):
                if model.actuator_trntype[i] <= 1 and model.actuator_trnid[i, 0] == index:
                    gear = model.actuator_gear[i, 0]
                    damping += gear**2 * model.actuator_damping[i]
                    armature += gear**2 * model.actuator_armature[i]
            name = joint.name
            self._number(f"{name} lower", joint.limits.lower, -inf if lower < -1e9 else lower)
            self._number(f"{name} upper", joint.limits.upper, inf if upper > 1e9 else upper)
            self._number(f"{name} damping", joint.damping, damping)
            self._number(f"{name} armature", joint.armature, armature)
            self._number(f"{name} friction", joint.friction, model.dof_frictionloss[dof])
            stiffness = model.jnt_stiffness[index]
            self._number(f"{name} stiffness", joint.stiffness, stiffness)
            if stiffness:
                relaxed = model.qpos_spring[model.jnt_qposadr[index]]
                self._number(f"{name} springref", joint.springref, relaxed)
            if model.dof_dampingpoly[dof].any():
                self.found.append(f"{name} has uneven damping in MuJoCo")
        self._compare_couplings()

    def _compare_couplings(self) -> None:
        model = self.theirs
        followers = {joint.name for joint in self.ours.joints if joint.mimic}
        for i in range(model.neq):
            if model.eq_type[i] != _COUPLING or not model.eq_active0[i]:
                continue
            first, second = model.joint(model.eq_obj1id[i]), model.joint(model.eq_obj2id[i])
            followers.discard(first.name)
            a0, a1 = model.eq_data[i, :2]
            follower = self.ours.joint(first.name)
            mimic = follower.mimic
            if mimic is None:
                self.found.append(f"{first.name} follows nothing")
            elif mimic.joint == second.name:
                x0, y0 = model.qpos0[second.qposadr[0]], model.qpos0[first.qposadr[0]]
                self._number(f"{first.name} ratio", mimic.multiplier, a1)
                self._number(f"{first.name} offset", mimic.offset, y0 + a0 - a1 * x0)
        if followers:
            self.found.append(f"followers {sorted(followers)}")

    def _compare_at_pose(self, rng: np.random.Generator, *, reference: bool) -> None:
        model, data, dynamics = self.theirs, mujoco.MjData(self.theirs), self.dynamics
        names = [joint.name for joint in self.ours.moving_joints]
        addresses = [model.jnt_qposadr[self._joints[name]] for name in names]
        dofs = [model.jnt_dofadr[self._joints[name]] for name in names]
        q = dynamics.neutral()
        positions = model.qpos0[addresses] if reference else rng.uniform(-1, 1, len(names))
        q[len(q) - len(names) :] = positions
        data.qpos[addresses] = positions
        if self._free is not None:
            turn = rng.normal(size=4)
            q[:7] = [*rng.uniform(-1, 1, 3), *(turn / np.linalg.norm(turn))]
            first = model.jnt_qposadr[self._free]
            data.qpos[first : first + 7] = q[:7]
            start = model.jnt_dofadr[self._free]
            dofs = [*range(start, start + 6), *dofs]
        _open_loops_in_still_air(model)
        mujoco.mj_forward(model, data)
        self._compare_forces(q, dofs, data)
        X_WL = dynamics.link_poses(q)
        self._compare_frames(X_WL, data)
        self._compare_loops(X_WL, data)
        if reference:
            self._compare_geometry(X_WL, data)

    def _compare_forces(self, q: np.ndarray, dofs: list[int], data: mujoco.MjData) -> None:
        whole = np.zeros((self.theirs.nv, self.theirs.nv))
        for row, unit in zip(whole, np.eye(self.theirs.nv), strict=True):
            mujoco.mj_mulM(self.theirs, data, row, unit)
        M, g = whole[np.ix_(dofs, dofs)], data.qfrc_bias[dofs]
        if self._free is not None:
            # MuJoCo has the rotation of a free body in the axes of the body, we in the world's.
            R = np.zeros(9)
            mujoco.mju_quat2Mat(R, q[3:7])
            T = np.eye(len(dofs))
            T[3:6, 3:6] = R.reshape(3, 3)
            M, g = T @ M @ T.T, T @ g
        if not len(dofs):
            return
        # Each coordinate on its own scale, so that small links count as much as large ones.
        scale = 1 / np.sqrt(np.diag(M))
        error = np.abs(scale[:, None] * (self.dynamics.mass_matrix(q) - M) * scale).max()
        if not error <= 10 * self.rounding:
            self.found.append(f"mass matrix, by {error:.2g} of itself")
        weight = 9.81 * np.sqrt(max(self.ours.mass, 1e-9))
        error = np.abs(scale * (self.dynamics.gravity_forces(q) - g)).max() / weight
        if not error <= 10 * self.rounding:
            self.found.append(f"gravity, by {error:.2g} of the weight")

    def _compare_frames(self, X_WL: np.ndarray, data: mujoco.MjData) -> None:
        for name, link in self._links.items():
            body = mujoco.mj_name2id(self.theirs, _OBJECT.mjOBJ_BODY, name)
            if body <= 0:
                continue
            X_WB = _pose(data.xmat[body], data.xpos[body])
            anchor = np.zeros(3)  # our frame is on the last hinge of the body
            for joint in range(self.theirs.njnt):
                if self.theirs.jnt_bodyid[joint] == body and self.theirs.jnt_type[joint] == _HINGE:
                    anchor = self.theirs.jnt_pos[joint]
            X_WB[:3, 3] += X_WB[:3, :3] @ anchor
            error = np.abs(X_WL[link] - X_WB).max()
            if not error <= 1e-6:
                self.found.append(f"frame of {name}, by {error:.2g}")

    def _compare_loops(self, X_WL: np.ndarray, data: mujoco.MjData) -> None:
        gaps = [
            np.linalg.norm(
                (X_WL[self._links[loop.link_a]] @ loop.X_AC)[:3, 3]
                - (X_WL[self._links[loop.link_b]] @ loop.X_BC)[:3, 3]
            )
            for loop in self.ours.loops
        ]
        rows, theirs = 0, []
        for i in range(self.theirs.neq):
            kind = self.theirs.eq_type[i]
            if not self.theirs.eq_active0[i]:
                continue
            if kind == _COUPLING:
                rows += 1
                continue
            theirs.append(np.linalg.norm(data.efc_pos[rows : rows + 3]))
            rows += 3 if kind == _CONNECT else 6
        if rows != data.nefc:  # MuJoCo leaves out what ties two things that cannot move
            return
        if len(gaps) != len(theirs) or not np.allclose(sorted(gaps), sorted(theirs), atol=1e-5):
            self.found.append(f"gaps of loops {gaps}, in MuJoCo {theirs}")

    def _compare_geometry(self, X_WL: np.ndarray, data: mujoco.MjData) -> None:
        placed: dict[str, tuple[np.ndarray, Geometry]] = {}
        for link, X in zip(self.ours.links, X_WL, strict=True):
            for geometry in (*link.visuals, *link.collisions):
                placed[geometry.name] = (X @ geometry.X_LG, geometry)
        for i in range(self.theirs.ngeom):
            name = mujoco.mj_id2name(self.theirs, _OBJECT.mjOBJ_GEOM, i)
            body, kind = self.theirs.geom_bodyid[i], self.theirs.geom_type[i]
            if not name or body == 0 or kind in _GROUNDS or not self._is_of_the_robot(body):
                continue
            if name not in placed:
                self.found.append(f"geom {name} is missing")
                continue
            X, geometry = placed[name]
            X_WG = _pose(data.geom_xmat[i], data.geom_xpos[i])
            error = self._mesh_error(i, X_WG, X, geometry) if kind == _MESH else (
                np.abs(X - X_WG).max()
            )  # fmt: skip
            if not error <= 2e-5:
                self.found.append(f"geom {name}, by {error:.2g}")

    def _mesh_error(self, geom: int, X_WG: np.ndarray, X: np.ndarray, geometry: Geometry) -> float:
        assert isinstance(geometry.shape, MeshFile | MeshData)
        mesh = self.theirs.geom_dataid[geom]
        first, count = self.theirs.mesh_vertadr[mesh], self.theirs.mesh_vertnum[mesh]
        theirs = self.theirs.mesh_vert[first : first + count].astype(float)
        theirs = theirs @ X_WG[:3, :3].T + X_WG[:3, 3]
        ours = mesh_of(geometry.shape).vertices @ X[:3, :3].T + X[:3, 3]
        gaps = np.linalg.norm(ours[:, None] - theirs, axis=2).min(axis=1)
        return float(gaps.max() / max(1.0, np.abs(theirs).max()))


def _open_loops_in_still_air(model: mujoco.MjModel) -> None:
    """Switch off everything but gravity and the residuals of constraints."""
    off = mujoco.mjtDisableBit
    model.opt.gravity[:] = [0, 0, -9.81]
    model.opt.density = model.opt.viscosity = 0
    model.opt.disableflags = int(
        off.mjDSBL_CONTACT | off.mjDSBL_LIMIT | off.mjDSBL_ACTUATION | off.mjDSBL_FRICTIONLOSS
    )
