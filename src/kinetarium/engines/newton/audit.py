"""What Newton and its solver have loaded, read back."""

from collections.abc import Iterator
from math import inf
from typing import Any

import numpy as np

from kinetarium.engines.base.audit import LoadedFrames, limit_of, lumped_solids, merged
from kinetarium.engines.newton.build import CONNECT, JOINT, UNBOUNDED, Model
from kinetarium.engines.newton.options import NewtonOptions
from kinetarium.engines.protocol import (
    Audit,
    Layout,
    LoadedCoupling,
    LoadedDrive,
    LoadedJoint,
    LoadedLoop,
    LoadedSurface,
)
from kinetarium.model.robot import Inertia, MeshData, MeshFile
from kinetarium.scene import DriveMode, PlacedRobot, Scene
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import inverse_pose, pose, rotation_from_quaternion


def audit(
    scene: Scene, layout: Layout, *, model: Model, options: NewtonOptions, timestep: float
) -> Audit:
    """Read back a scene; forces of joints and contacts from the solver, the rest from Newton.

    Args:
        model: The scene as it was built.
        options: Its settings.
        timestep: Time step [s].
    """
    inertias = {part.members[0][0]: _inertia(model.model, part.index) for part in model.parts}
    facts: dict[str, Any] = {"drives": (), "couplings": (), "loops": (), "surfaces": ()}
    joints: tuple[LoadedJoint, ...] = ()
    if model.solver:
        frames = [_frames(scene, robot, model) for robot in scene.robots]
        joints = tuple(_joints(layout, model, frames, timestep))
        facts = {
            "drives": tuple(_drives(layout, model, timestep)),
            "couplings": tuple(_couplings(layout, model)),
            "loops": tuple(_loops(scene, model, frames)),
            "surfaces": merged(_surfaces(layout, model, timestep)),
        }
    return Audit(
        tuple(lumped_solids(scene, {name: own for name, own in inertias.items() if own.mass})),
        joints,
        frozen(_double(model.model.gravity)[0]),
        tuple(_remarks(scene, options, timestep)),
        **facts,
    )


def _double(array: Any) -> Array:
    numbers: Array = array.numpy().astype(np.float64)
    return numbers


def _inertia(model: Any, body: int) -> Inertia:
    mass, center, moment = (
        _double(values)[body] for values in (model.body_mass, model.body_com, model.body_inertia)
    )
    return Inertia(float(mass), frozen(center), frozen(moment))


def _frames(scene: Scene, robot: PlacedRobot, model: Model) -> LoadedFrames:
    placed, parents = _double(model.model.joint_X_p), model.model.joint_parent.numpy()
    loaded = {}
    for (owner, joint), number in model.joints.items():
        if owner == robot.name:
            x, y, z, w = placed[number, 3:]
            X_PJ = pose(placed[number, :3], rotation_from_quaternion((w, x, y, z)))
            fixed = parents[number] < 0
            loaded[joint] = inverse_pose(robot.X_WB) @ X_PJ if fixed else X_PJ
    sensed = {sensor.joint for sensor in scene.sensors if sensor.robot == robot.name}
    return LoadedFrames.of(robot, loaded, keep=sensed)


def _joints(
    layout: Layout, model: Model, frames: list[LoadedFrames], timestep: float
) -> Iterator[LoadedJoint]:
    X = {f"{own.robot}/{joint}": X_PJ for own in frames for joint, X_PJ in own.joints.items()}
    theirs, own = model.solver.mjw_model, model.model
    lower, upper = _double(own.joint_limit_lower), _double(own.joint_limit_upper)
    axes, springs = _double(own.joint_axis), _double(own.mujoco.dof_passive_stiffness)
    damping = _double(theirs.dof_damping)[0]
    friction, armature = _double(theirs.dof_frictionloss)[0], _double(theirs.dof_armature)[0]
    for name, dof, v in zip(layout.joints, model.dofs.tolist(), model.v.tolist(), strict=True):
        yield LoadedJoint(
            name=name,
            axis=frozen(axes[dof]),
            damping=float(damping[v] - timestep * springs[dof]),  # as `build` has it
            friction=float(friction[v]),
            armature=float(armature[v]),
            lower=limit_of(float(lower[dof]), UNBOUNDED),
            upper=limit_of(float(upper[dof]), UNBOUNDED),
            X_PJ=frozen(X[name]),
        )


def _drives(layout: Layout, model: Model, timestep: float) -> Iterator[LoadedDrive]:
    solver = model.solver
    theirs, numbers = solver.mjw_model, solver.mjc_actuator_to_newton_idx
    places = [] if numbers is None else numbers.numpy().tolist()
    biases, ranges = _double(theirs.actuator_biasprm)[0], _double(theirs.actuator_forcerange)[0]
    limited = theirs.actuator_forcelimited.numpy()
    for name, dof, asked in zip(
        layout.commands,
        model.dofs[layout.command_joints].tolist(),
        layout.actuations,
        strict=True,
    ):
        # SolverMuJoCo numbers the targets of positions from 0 up, of velocities from -2 down.
        for i in (i for i, place in enumerate(places) if place in (dof, -dof - 2)):
            stiffness, damping = (0.0 - biases[i, 1:3]).tolist()
            effort = float(ranges[i, 1]) if limited[i] else inf
            mode = DriveMode.POSITION if places[i] >= 0 else DriveMode.VELOCITY
            # As `build` has it: the damping includes the stiffness at the end of the step.
            yield LoadedDrive(name, mode, stiffness, damping - timestep * stiffness, effort)
            break
        else:
            yield LoadedDrive(name, asked.drive, 0.0, 0.0, asked.effort, read_back=False)


def _couplings(layout: Layout, model: Model) -> Iterator[LoadedCoupling]:
    solver, data = model.solver, _double(model.solver.mjw_model.eq_data)
    names = dict(zip(model.dofs.tolist(), layout.joints, strict=True))
    dofs = solver.mjc_jnt_to_newton_dof.numpy()[0]
    ends = solver.mj_model.eq_obj1id, solver.mj_model.eq_obj2id
    for i in np.flatnonzero(solver.mj_model.eq_type == JOINT).tolist():
        follower, leader = (names[int(dofs[ids[i]])] for ids in ends)
        offset, multiplier = data[0, i, :2].tolist()
        yield LoadedCoupling(follower, leader, multiplier, offset)


def _loops(scene: Scene, model: Model, frames: list[LoadedFrames]) -> Iterator[LoadedLoop]:
    solver, data = model.solver, _double(model.solver.mjw_model.eq_data)
    ties = iter(np.flatnonzero(solver.mj_model.eq_type != JOINT).tolist())
    own = solver.mjc_body_to_newton.numpy()[0]
    links = {part.index: part.members[0][0].partition("/")[2] for part in model.parts}
    for robot, frame in zip(scene.robots, frames, strict=True):
        for loop, i in zip(robot.model.loops, ties, strict=False):
            ids = solver.mj_model.eq_obj1id[i], solver.mj_model.eq_obj2id[i]
            a, b = (data[0, i, :3], data[0, i, 3:6])
            R = np.eye(3)
            if solver.mj_model.eq_type[i] != CONNECT:
                a, b, R = b, a, rotation_from_quaternion(data[0, i, 6:10])
            ends = []
            for body, X in zip(ids, (pose(a, R), pose(b)), strict=True):
                fixed = own[body] < 0
                link = robot.model.root if fixed else links[int(own[body])]
                ends.append((link, inverse_pose(robot.X_WB) @ X if fixed else X))
            yield frame.loop(loop, ends)


def _surfaces(layout: Layout, model: Model, timestep: float) -> Iterator[LoadedSurface]:
    solver = model.solver
    shapes = solver.mjc_geom_to_newton_shape.numpy()[0]
    theirs, given = solver.mjw_model, solver.mj_model
    friction, solref = _double(theirs.pair_friction)[0], _double(theirs.pair_solref)[0]
    for i in range(given.npair):
        a, b = (
            layout.solids[model.shape_solids[shapes[geoms[i]]]]
            for geoms in (given.pair_geom1, given.pair_geom2)
        )
        # As `build` has it: the damping (1 + e) / h within the impedance.
        impedance = float(theirs.pair_solimp.numpy()[0, i, 0])
        returned = -solref[i, 1] * timestep / impedance - 1 if solref[i, 1] < 0 else 0.0
        rubs = given.pair_dim[i] > 1
        yield LoadedSurface(
            a, float(friction[i, 0]) if rubs else 0.0, round(float(returned), 6), against=(b,)
        )


def _remarks(scene: Scene, options: NewtonOptions, timestep: float) -> Iterator[str]:
    shortest = 2 * timestep
    if min(options.contact_solref[0], options.joint_solref[0]) < shortest:
        yield f"constraints softened to a time constant of two time steps, {shortest:g} s"
    if scene.bounces:
        yield "surfaces that bounce hardly rub during the impact itself"
    shapes = (shape for shapes in scene.geometry for shape, _ in shapes)
    if any(isinstance(shape, MeshFile | MeshData) for shape in shapes):
        yield "meshes touch as their convex hulls"
