"""A scene as Newton holds it: links, joints, shapes, and the pairs of shapes that may touch."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import warp
from numpy.typing import NDArray

from kinetarium.engines.base.simulation import Setup
from kinetarium.engines.newton.library import newton, transform
from kinetarium.engines.newton.options import NewtonCone, NewtonOptions, NewtonSolver
from kinetarium.model.mesh.mesh import mesh_of
from kinetarium.model.robot import (
    IDENTITY,
    Box,
    Capsule,
    Cylinder,
    Inertia,
    JointType,
    LoopKind,
    MeshData,
    MeshFile,
    Shape,
    Sphere,
)
from kinetarium.scene import (
    Actuation,
    Base,
    Body,
    DriveMode,
    Motion,
    PlacedRobot,
    Plane,
    SceneError,
)
from kinetarium.scene.robot import RigidBody, rigid_tree
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import quaternion_from_rotation

UNBOUNDED = 1e10
"""Stands for no limit of a joint or an effort in SolverMuJoCo [rad, m, N m or N]."""
_RIGID = (0.9999, 0.9999, 0.001, 0.5, 2.0)
"""As much of a constraint as is enforced, at any depth."""
_RECOVERY = 1e-3
"""Share of its depth that a bouncing contact gives back per step."""
_GENTLE = (0.02, 1.0)
"""Time constant [s] and damping ratio of friction that does not make a rigid contact hop."""
_SMALLEST = 1e-30
"""Stands for an effort of zero, for a range must not be empty [N m or N]."""
_POINTS_OF_PAIR = 8
"""Most points of contact between two shapes."""
FIRST_POINTS = 16
"""Points of contact that there is room for at first. A step takes longer for all that there is
room for, whether they are needed or not: with room for a thousand, twenty times as long."""
CONNECT, WELD, JOINT = 0, 1, 2
"""Kinds of MuJoCo's equality constraints."""
_RAW_SOLREF = 1
"""Has SolverMuJoCo take `solref` as it is, not stiffness and damping."""
_WORLD = -1

Indices = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A body of Newton; its frame is that of the topmost of its solids.

    Attributes:
        index: Newton's number of it; -1 is the world.
        inertia: Mass properties in that frame; None if it is fixed to the world.
        members: All the solids it consists of, and the pose of each in that frame.
    """

    index: int
    inertia: Inertia | None
    members: tuple[tuple[str, Array], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A scene in Newton.

    Attributes:
        model: Newton's model.
        solver: Its solver, with room for `FIRST_POINTS`; None if nothing can move.
        solver_for: Returns a solver with room for a number of contact points.
        parts: All bodies that move.
        q: Index into the solver's positions of each joint of the layout, shape (n,).
        v: Index into the solver's velocities of each, shape (n,).
        poses: Into positions, of position and quaternion of what floats, shape (f, 7).
        twists: Into velocities, of its twist, the angular velocity in body axes, shape (f, 6).
        dofs: Index into Newton's own velocities of each joint of the layout, shape (n,).
        joints: Newton's number of each joint that it has, by the names of robot and joint.
        sensors: The body below each sensor.
        shape_solids: The solid of each shape, shape (shapes,).
    """

    model: Any
    solver: Any
    solver_for: Callable[[int], Any]
    parts: tuple[Part, ...]
    q: Indices
    v: Indices
    poses: Indices
    twists: Indices
    dofs: Indices
    joints: dict[tuple[str, str], int]
    sensors: dict[str, int]
    shape_solids: NDArray[np.int32]


def build(setup: Setup[NewtonOptions]) -> Model:
    """Build everything in a scene.

    Raises:
        SceneError: If Newton refuses it.
    """
    assembly = Assembly(setup)
    assembly.add_scene()
    try:
        with _unwarned():
            model = assembly.builder.finalize(device="cpu")
            solver = assembly.solver(model, FIRST_POINTS) if model.joint_count else None
    except (ValueError, RuntimeError) as error:
        reason = " ".join(str(error).removeprefix("Error: ").split())
        raise SceneError(f"Newton refuses the scene: {reason}") from None
    return assembly.result(model, solver)


class Assembly:
    """A model in the making."""

    def __init__(self, setup: Setup[NewtonOptions]) -> None:
        """Begin with nothing of it."""
        self._setup, self._scene, self._options = setup, setup.scene, setup.options
        self._drives = dict(zip(setup.layout.commands, setup.layout.actuations, strict=True))
        self._index = {name: i for i, name in enumerate(setup.scene.solids)}
        may_touch = setup.scene.may_collide & ~np.outer(setup.scene.fixed, setup.scene.fixed)
        self._may_touch = may_touch
        self.builder = newton.ModelBuilder(gravity=warp.vec3(*setup.scene.gravity.tolist()))
        newton.solvers.SolverMuJoCo.register_custom_attributes(self.builder)
        self._parts: list[Part] = []
        self._joints: dict[str, int] = {}
        self._free: list[int] = []
        self._ties: list[list[float]] = []
        self._below: dict[tuple[str, str], int] = {}
        self._numbers: dict[tuple[str, str], int] = {}
        self._shape_solids: list[int] = []
        self._points = 0
        self._meshes: dict[MeshFile | MeshData, Any] = {}

    def add_scene(self) -> None:
        """Add everything."""
        for robot in self._scene.robots:
            self.add_robot(robot)
        for body in self._scene.bodies:
            if body.motion is Motion.FREE:
                self.add_body(body)
            else:
                self.put(_WORLD, [(body.name, body.X_WB)])
        self.touch()

    def add_part(
        self,
        name: str,
        inertia: Inertia | None,
        *,
        X_WB: Array,
        members: Sequence[tuple[str, Array]] = (),
    ) -> Part:
        """Add a body that moves, with the shapes of its solids."""
        given: dict[str, Any] = {"xform": transform(X_WB)}
        if inertia:
            given |= {
                "mass": inertia.mass,
                "com": warp.vec3(*inertia.center.tolist()),
                "inertia": warp.mat33(inertia.moment),
            }
        # Its own label, for MuJoCo has a body called world.
        label = f"part {len(self._parts)}"
        index = self.builder.add_link(label=label, lock_inertia=True, **given)
        part = Part(index, inertia, tuple(members) or ((name, IDENTITY),))
        self._parts.append(part)
        self.put(index, part.members)
        return part

    def let_float(self, part: Part) -> int:
        """Let a body move freely, and return Newton's number of its joint."""
        self._free.append(self.builder.add_joint_free(part.index))
        return self._free[-1]

    def add_body(self, body: Body) -> None:
        """Add a free body."""
        part = self.add_part(body.name, body.inertia, X_WB=body.X_WB)
        self.builder.add_articulation([self.let_float(part)])

    def add_robot(self, robot: PlacedRobot) -> None:
        """Add a robot; what is fixed to the world is part of it."""
        sensed = {s.joint for s in self._scene.sensors if s.robot == robot.name}
        tree = rigid_tree(robot.model, keep=sensed)
        homes: list[tuple[int, Array]] = []  # the body of each, and its pose there
        joints: list[int] = []
        for body in tree:
            members = [(f"{robot.name}/{name}", X_BL) for name, X_BL in body.members]
            if body.joint is None and robot.base is Base.FIXED:
                homes.append((_WORLD, robot.X_WB))
                self.put(_WORLD, [(name, robot.X_WB @ X_BL) for name, X_BL in members])
                continue
            name = f"{robot.name}/{body.name}"
            part = self.add_part(name, body.inertia, X_WB=robot.X_WB, members=members)
            homes.append((part.index, IDENTITY))
            if body.joint is None:
                joint = self.let_float(part)
            else:
                joint = self._join(robot.name, body, parent=homes[body.parent], child=part.index)
                self._below[robot.name, body.joint.name] = part.index
                self._numbers[robot.name, body.joint.name] = joint
            joints.append(joint)
        if joints:
            self.builder.add_articulation(joints)
        self._couple(robot)
        places = {
            name: (homes[i][0], homes[i][1] @ X_BL)
            for i, body in enumerate(tree)
            for name, X_BL in body.members
        }
        self._close_loops(robot, places)

    def put(self, body: int, solids: Sequence[tuple[str, Array]]) -> None:
        """Put the shapes of solids on a body, unless they may touch nothing."""
        for name, X_BS in solids:
            i = self._index[name]
            for shape, X_SG in self._scene.geometry[i] if self._may_touch[i].any() else ():
                self._add_shape(body, shape, X_BG=X_BS @ X_SG, settings=self.surface(i))
                self._shape_solids.append(i)

    def surface(self, solid: int) -> Any:
        """Return Newton's settings of the shapes of a solid.

        Nothing touches but the pairs of `touch`; masses are the model's, not the shapes'.
        """
        return newton.ModelBuilder.ShapeConfig(density=0.0, gap=0.0, collision_group=0)

    def touch(self) -> None:
        """Let those shapes touch that may, with the greater friction and restitution of the two."""
        for a, b in combinations(range(len(self._shape_solids)), 2):
            i, j = self._shape_solids[a], self._shape_solids[b]
            if self._may_touch[i, j]:
                self._points += _POINTS_OF_PAIR
                self._add_pair(a, b, materials=(self._scene.materials[i], self._scene.materials[j]))

    def solver(self, model: Any, points: int) -> Any:
        """Return a solver of a model with room for some contact points, at most for all."""
        options, points = self._options, min(self._points, points)
        per_point = 6 if options.cone is NewtonCone.ELLIPTIC else 10
        rows = 3 * model.joint_dof_count + 6 * len(self._joints) + per_point * points + 16
        solver = newton.solvers.SolverMuJoCo(
            model,
            njmax=rows,
            nconmax=max(points, 1),
            iterations=options.iterations,
            ls_iterations=options.line_search_iterations,
            solver="newton",
            integrator=str(options.integrator),
            cone=str(options.cone),
            impratio=options.impratio,
            tolerance=options.tolerance,
            use_mujoco_cpu=options.solver is NewtonSolver.MUJOCO_C,
            enable_multiccd=bool(self._meshes),
            update_data_interval=0,  # the state is the solver's, for every conversion rounds it
        )
        solver.mjw_model.opt.tolerance.fill_(options.tolerance)  # as asked, not raised to 1e-6
        solver.mjw_model.opt.warn_overflow = 0  # the simulation looks itself
        # Newton takes the second end of a loop to be where the first is at joint positions zero.
        data, given = solver.mjw_model.eq_data.numpy()[0], solver.mj_model
        for i, tie in zip(np.flatnonzero(given.eq_type != JOINT), self._ties, strict=True):
            data[i, : len(tie)] = given.eq_data[i, : len(tie)] = tie
        return solver

    def result(self, model: Any, solver: Any) -> Model:
        """Look up everything in the finished model."""
        joints = [self._joints[name] for name in self._setup.layout.joints]
        return Model(
            model=model,
            solver=solver,
            solver_for=lambda points: _unwarned()(self.solver)(model, points),
            parts=tuple(self._parts),
            q=_starts(solver and solver.mj_q_start, joints),
            v=_starts(solver and solver.mj_qd_start, joints),
            poses=_starts(solver and solver.mj_q_start, self._free)[:, np.newaxis] + np.arange(7),
            twists=_starts(solver and solver.mj_qd_start, self._free)[:, np.newaxis] + np.arange(6),
            dofs=_starts(model.joint_qd_start, joints),
            joints=self._numbers,
            sensors={s.name: self._below[s.robot, s.joint] for s in self._scene.sensors},
            shape_solids=np.array(self._shape_solids, np.int32),
        )

    def _join(self, robot: str, body: RigidBody, *, parent: tuple[int, Array], child: int) -> int:
        joint = body.joint
        assert joint
        place = {"parent_xform": transform(parent[1] @ body.X_PJ)}
        if joint.type is JointType.FIXED:
            return int(self.builder.add_joint_fixed(parent[0], child, **place))
        name, options = f"{robot}/{joint.name}", self._options
        add = self.builder.add_joint_revolute
        if joint.type is JointType.PRISMATIC:
            add = self.builder.add_joint_prismatic
        added: int = add(
            parent[0],
            child,
            axis=warp.vec3(*joint.axis.tolist()),
            # With h k the joint's spring is that of the end of the step, as with servos.
            damping=joint.damping + self._setup.timestep * joint.stiffness,
            friction=joint.friction,
            armature=joint.armature,
            limit_lower=max(joint.limits.lower, -UNBOUNDED),
            limit_upper=min(joint.limits.upper, UNBOUNDED),
            label=f"joint {len(self._joints)}",
            custom_attributes={
                "mujoco:dof_passive_stiffness": joint.stiffness,
                "mujoco:dof_springref": joint.springref,
                "mujoco:solreflimit": warp.vec2(*options.contact_solref),
                "mujoco:solreflimit_mode": _RAW_SOLREF,
                "mujoco:solimplimit": _five(options.joint_solimp),
                "mujoco:solreffriction": warp.vec2(*options.joint_solref),
                "mujoco:solimpfriction": _five(options.joint_solimp),
            },
            **place,
            **self._servo(self._drives.get(name)),
        )
        self._joints[name] = added
        self._limit(self._drives.get(name), dof=self.builder.joint_qd_start[added])
        return added

    def _servo(self, drive: Actuation | None) -> dict[str, Any]:
        """Return the servo of a joint; torques are applied by the simulation."""
        modes = newton.JointTargetMode
        if drive is None or drive.drive is DriveMode.TORQUE:
            return {"actuator_mode": modes.NONE, "target_ke": 0.0, "target_kd": 0.0}
        position = drive.drive is DriveMode.POSITION
        stiffness = drive.stiffness if position else 0.0
        return {
            "actuator_mode": modes.POSITION if position else modes.VELOCITY,
            "target_ke": stiffness,
            # The solver is implicit in damping only: K (c - q - h v) = K (c - q) - h K v.
            "target_kd": drive.damping + self._setup.timestep * stiffness,
            "effort_limit": UNBOUNDED,
        }

    def _limit(self, drive: Actuation | None, *, dof: int) -> None:
        """Limit a servo's force itself: at Newton's own limit of a joint it would keep damping."""
        if drive is None or drive.drive is DriveMode.TORQUE or not np.isfinite(drive.effort):
            return
        kinds, effort = newton.solvers.SolverMuJoCo, max(drive.effort, _SMALLEST)
        position = drive.drive is DriveMode.POSITION
        values = {
            "ctrl_source": int(kinds.CtrlSource.JOINT_TARGET),
            "ctrl_type": int(kinds.CtrlType.POSITION if position else kinds.CtrlType.VELOCITY),
            "actuator_trntype": int(kinds.TrnType.JOINT),
            "actuator_trnid": warp.vec2i(dof, -1),
            "actuator_world": self.builder.current_world,
            "actuator_forcelimited": 1,
            "actuator_has_forcerange": 1,
            "actuator_forcerange": warp.vec2(-effort, effort),
        }
        self.builder.add_custom_values(
            **{f"mujoco:{name}": value for name, value in values.items()}
        )

    def _couple(self, robot: PlacedRobot) -> None:
        for joint in robot.model.moving_joints:
            if joint.mimic:
                self._constrain(
                    JOINT,
                    joint1=self._joints[f"{robot.name}/{joint.name}"],
                    joint2=self._joints[f"{robot.name}/{joint.mimic.joint}"],
                    polycoef=[joint.mimic.offset, joint.mimic.multiplier, 0.0, 0.0, 0.0],
                )

    def _close_loops(self, robot: PlacedRobot, places: dict[str, tuple[int, Array]]) -> None:
        for loop in robot.model.loops:
            (a, X_A), (b, X_B) = places[loop.link_a], places[loop.link_b]
            X_AC, X_BC = X_A @ loop.X_AC, X_B @ loop.X_BC
            points = [X_AC[:3, 3], X_BC[:3, 3]]
            if loop.kind is LoopKind.POSE:
                # MuJoCo has the point in the second body first.
                R_AB = X_AC[:3, :3] @ X_BC[:3, :3].T
                self._constrain(WELD, body1=a, body2=b, torquescale=1.0)
                self._ties.append([*points[1], *points[0], *quaternion_from_rotation(R_AB)])
            else:
                self._constrain(CONNECT, body1=a, body2=b)
                self._ties.append([*points[0], *points[1]])

    def _constrain(self, kind: int, **values: Any) -> None:
        options, named = self._options, {f"equality_constraint_{k}": v for k, v in values.items()}
        named |= {
            "equality_constraint_type": kind,
            "equality_constraint_objtype": 3 if kind == JOINT else 1,
            "equality_constraint_world": self.builder.current_world,
            "eq_solref": warp.vec2(*options.joint_solref),
            "eq_solimp": _five(options.joint_solimp),
        }
        self.builder.add_custom_values(**{f"mujoco:{name}": value for name, value in named.items()})

    def _add_pair(self, a: int, b: int, *, materials: Sequence[Any]) -> None:
        options, h = self._options, self._setup.timestep
        slide, spin, roll = (
            max(getattr(material, kind) for material in materials)
            for kind in ("friction", "spinning_friction", "rolling_friction")
        )
        e = max(material.restitution for material in materials)
        laws: dict[str, Any] = {
            "solref": warp.vec2(*options.contact_solref),
            "solimp": _five(options.contact_solimp),
        }
        if e > 0:
            # The damping (1 + e) / h turns an approach v into -e v within the step h. MuJoCo
            # divides stiffness and damping by the impedance, by one power of it each.
            stiffness, damping = _RECOVERY / h**2, (1 + e) / h
            laws = {
                "solref": warp.vec2(-stiffness * _RIGID[0], -damping * _RIGID[0]),
                "solreffriction": warp.vec2(*_GENTLE),
                "solimp": _five(_RIGID),
            }
        laws |= {
            "world": self.builder.current_world,
            "geom1": a,
            "geom2": b,
            # The dimensions in which a contact pushes: the normal, sliding, spinning, rolling.
            "condim": 6 if roll > 0 else 4 if spin > 0 else 3 if slide > 0 else 1,
            "friction": _five((slide, slide, spin, roll, roll)),
        }
        self.builder.add_custom_values(**{f"mujoco:pair_{k}": v for k, v in laws.items()})

    def _add_shape(self, body: int, shape: Shape | Plane, *, X_BG: Array, settings: Any) -> None:
        add, given = self.builder, {"xform": transform(X_BG), "cfg": settings}
        match shape:
            case Plane():
                add.add_shape_plane(plane=None, body=body, width=0.0, length=0.0, **given)
            case Box():
                hx, hy, hz = (edge / 2 for edge in shape.size)
                add.add_shape_box(body, hx=hx, hy=hy, hz=hz, **given)
            case Sphere():
                add.add_shape_sphere(body, radius=shape.radius, **given)
            case Capsule():
                add.add_shape_capsule(
                    body, radius=shape.radius, half_height=shape.length / 2, **given
                )
            case Cylinder():
                add.add_shape_cylinder(
                    body, radius=shape.radius, half_height=shape.length / 2, **given
                )
            case MeshFile() | MeshData():
                add.add_shape_convex_hull(body, mesh=self._mesh(shape), **given)

    def _mesh(self, shape: MeshFile | MeshData) -> Any:
        if shape not in self._meshes:
            mesh = mesh_of(shape)
            self._meshes[shape] = newton.Mesh(
                mesh.vertices, mesh.faces.ravel(), compute_inertia=False
            )
        return self._meshes[shape]


@contextmanager
def _unwarned() -> Iterator[None]:
    """Suppress the warnings of Newton, of versions and of numbers that are not used."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _starts(starts: Any, joints: Sequence[int]) -> Indices:
    """Return where the coordinates of some joints start in an array of all."""
    return starts.numpy()[list(joints)].astype(np.intp) if joints else np.zeros(0, np.intp)


def _five(values: tuple[float, ...]) -> Any:
    return warp.types.vector(5, warp.float32)(*values)
