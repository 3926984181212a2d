"""One run: a walk is planned, and simulated if an engine is named."""

from collections.abc import Iterable
from dataclasses import replace
from math import atan2, cos, inf, radians, sin, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import convolve1d

from kinetarium.control.interface import Controller, ExternalWrench, Measurement
from kinetarium.dynamics.kinematics import link_poses
from kinetarium.legs import LegKind, PlannedWalk, Terrain, WalkWarning, WarningKind, plan_walk
from kinetarium.legs.mechanism.machine import LINK_NAMES, Machine
from kinetarium.legs.quadruped import (
    ARMATURE,
    FOOT_RADIUS,
    STIFFNESS,
    MotorDrive,
    drive_gains,
    drive_names,
    joint_positions,
    quadruped_model,
)
from kinetarium.legs.walk.balance import (
    Physics,
    balance_warnings,
    mass_points,
    stable_plan,
    walk_margins,
)
from kinetarium.legs.walk.crawl import support_margins
from kinetarium.legs.walk.walk import walk_figures
from kinetarium.model.robot import Box, MeshData, RobotModel, TriangleMesh
from kinetarium.recording.recording import Channel, Recording
from kinetarium.rollout.loop import run as simulate
from kinetarium.scene import (
    Actuation,
    Base,
    Body,
    DriveMode,
    PlacedRobot,
    Plane,
    Scene,
    ground,
)
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.gravity import GRAVITY
from kinetarium.spatial.rotation import (
    pose,
    quaternion_from_rotation,
    rotation_about,
    rotation_from_quaternion,
)
from kinetarium.studies.walk._drivers import BodyFeedback, WalkDriver
from kinetarium.studies.walk._linkage import run_linkage
from kinetarium.studies.walk.config import (
    HOLD,
    NO_ENGINE,
    SETTLE,
    Case,
    Drives,
    physical_plan,
    refuse_long,
    walk_plan,
)
from kinetarium.studies.walk.score import body_normals, headings


def run(case: Case) -> Recording:
    """Plan a walk, and simulate it in an engine."""
    if case.linkage is not None:
        return run_linkage(case)
    physics = Physics.of(case.machine, unit_m=case.unit_m, mass=case.mass)
    if case.stable:
        chosen = stable_plan(physical_plan(case), margin=case.margin, physics=physics)
        case = replace(case, sway=chosen.sway, step_time=chosen.step_time)
        refuse_long(case)
    walk = plan_walk(walk_plan(case))
    real = walk if case.engine != NO_ENGINE else plan_walk(physical_plan(case))
    if case.engine == NO_ENGINE:
        recording = Recording(planned_channels(walk, unit_m=case.unit_m), "running")
        time = walk.time
    else:
        recording = walk_in_engine(case, walk)
        time = recording["time"] - SETTLE
    facts = _plan_facts(walk)
    channels = dict(recording.channels)
    if case.gait is None:  # a periodic gait does not rest on its feet
        dynamic = walk_margins(real, physics)
        warned = balance_warnings(real, dynamic, wanted=case.margin if case.stable else 0.0)
        facts |= {
            "min_dynamic_margin": float(dynamic.min()),
            "warnings": [*_worst_balance(warned), *facts["warnings"]][:_MOST_WARNINGS],
        }
        planned = np.interp(time, real.time, dynamic) * case.unit_m
        channels["dynamic_margin"] = Channel(planned, "m")
    return replace(recording, channels=channels, facts={**recording.facts, "plan": facts})


def _worst_balance(warned: Iterable[WalkWarning]) -> list[str]:
    """Return one warning for all steps: of up to one for each step and kind few are kept."""
    found = sorted(warned, key=lambda warning: -warning.amount)
    return [f"{each.text} (so in {len(found)} steps)" for each in found[:1]]


def _plan_facts(walk: PlannedWalk) -> dict[str, Any]:
    """Return the facts of a walk for its rows and figures, in the machine's unit."""
    limits = (WarningKind.REACH, WarningKind.DRIVE)
    first, *_, last = headings(walk.body)
    return {
        **walk_figures(walk),
        "min_dynamic_margin": None,
        "sway": walk.plan.sway,
        "step_time": walk.plan.step_time,
        "goal": walk.body[-1, :2].tolist(),
        "turn": float(last - first),
        "path": walk.path.tolist(),
        "limit_violations": sum(warning.kind in limits for warning in walk.warnings),
        "interference": float(walk.interference.depth.max()),
        "warnings": [warning.text for warning in walk.warnings[:_MOST_WARNINGS]],
    }


_MOST_WARNINGS = 10
TIMESTEP = 1e-3
"""Physics time step [s]."""
_SAMPLE_RATE = 50.0
_AVERAGED = 9
"""Samples over which positions are averaged, for accelerations."""
PUSH_TIME = 0.1
"""Duration of a push [s]."""
_ROBOT = "robot"
_PRISM = 0.1
"""Depth of the ground of a height map below zero [m]."""
_PRISM_FACES = np.array(
    [[0, 1, 2], [3, 5, 4], [0, 3, 4], [0, 4, 1], [1, 4, 5], [1, 5, 2], [2, 5, 3], [2, 3, 0]],
    dtype=np.int32,
)
_PRISM_FACES.flags.writeable = False
_BLOCK = 2.0
"""Depth of a block below the ground [m]; feet would penetrate thin ones."""


def walk_in_engine(case: Case, walk: PlannedWalk) -> Recording:
    """Simulate a planned walk in an engine."""
    machine = walk.plan.machine
    model = walking_model(case, machine)
    names = drive_names(machine)
    driven = [joint.name for joint in model.moving_joints if joint.name in names]
    columns = [names.index(name) for name in driven]
    joints = (walk.joints * joint_scale(machine.kind, case.unit_m)).reshape(-1, len(names))
    time = walk.time + SETTLE
    driver: Controller = WalkDriver(time, joints[:, columns])
    if walk.plan.gait is not None:
        driver = BodyFeedback(walk, time, joints, columns=columns, unit_m=case.unit_m)
    recorded = simulate(
        walking_scene(case, walk),
        engine=case.engine,
        duration=SETTLE + float(walk.time[-1]) + HOLD,
        controller=driver,
        interactions=_pushes(case, walk),
        timestep=TIMESTEP,
        sample_rate=_SAMPLE_RATE,
    )
    return Recording(_channels(case, walk, model, recorded), recorded.status, recorded.facts)


def walking_model(case: Case, machine: Machine) -> RobotModel:
    """Return the robot of a case, with the inertia of its drives."""
    armature = MotorDrive().armature if case.drives is Drives.MOTOR else ARMATURE
    return quadruped_model(machine, unit_m=case.unit_m, mass=case.mass, armature=armature)


def drive_limit(case: Case, stiffness: float) -> float:
    """Return the greatest force or torque of a drive [N or N m]; servos of unlimited force: inf.

    Args:
        case: The case.
        stiffness: Of the drive: that of a turning one is reduced as its torque is [N m/rad].
    """
    if case.drives is Drives.IDEAL:
        return inf
    return MotorDrive().greatest_force * sqrt(stiffness / STIFFNESS)


class Push:
    """A force on the body for a tenth of a second."""

    def __init__(self, impulse: Array, start: float) -> None:
        """Set it.

        Args:
            impulse: Impulse in world axes [N s], shape (3,).
            start: When it begins [s].
        """
        self._force = np.concatenate([impulse / PUSH_TIME, np.zeros(3)])
        self._start = start

    def update(self, t: float, measurement: Measurement) -> tuple[ExternalWrench, ...]:
        """Return the force at the body's centre, while it acts."""
        if not self._start <= t < self._start + PUSH_TIME:
            return ()
        return (ExternalWrench(f"{_ROBOT}/body", self._force, measurement.poses[0, :3]),)


def _pushes(case: Case, walk: PlannedWalk) -> tuple[Push, ...]:
    """Return the push half way, in the first swing after it: the robot is on three feet."""
    if not case.push:
        return ()
    step = walk.steps[len(walk.steps) // 2]
    middle = (step.first + step.last) // 2
    w, z = walk.body[middle, 3], walk.body[middle, 6]
    angle = 2 * atan2(z, w) + radians(case.push_deg)
    impulse = case.push * np.array([cos(angle), sin(angle), 0.0])
    return (Push(impulse, SETTLE + float(walk.time[middle])),)


def walking_scene(case: Case, walk: PlannedWalk) -> Scene:
    """Return the scene at the start of the walk, the feet just in contact with the ground."""
    machine = walk.plan.machine
    start = walk.body[0]
    position = (start[:3] + np.array([0.0, 0.0, FOOT_RADIUS])) * case.unit_m
    servos = {
        name: Actuation(
            DriveMode.POSITION,
            stiffness=stiffness,
            damping=damping,
            effort=drive_limit(case, stiffness),
        )
        for name, (stiffness, damping) in drive_gains(machine, unit_m=case.unit_m).items()
    }
    robot = PlacedRobot(
        _ROBOT,
        walking_model(case, machine),
        Base.FREE,
        frozen(pose(position, rotation_from_quaternion(start[3:]))),
        positions=joint_positions(machine, walk.joints[0], unit_m=case.unit_m),
        actuation=servos,
    )
    return Scene((robot,), _terrain_bodies(case.terrain, walk, unit_m=case.unit_m))


def _terrain_bodies(terrain: Terrain, walk: PlannedWalk, *, unit_m: float) -> tuple[Body, ...]:
    bodies = [ground()]
    if terrain.slope_deg:
        tilt = rotation_about((0.0, 1.0, 0.0), -radians(terrain.slope_deg))
        X_WB = frozen(pose((terrain.slope_from * unit_m, 0.0, 0.0), tilt))
        bodies.append(Body("slope", Plane(), X_WB=X_WB))
    for i, step in enumerate(terrain.steps, 1):
        height = step.height * unit_m
        size = ((step.x1 - step.x0) * unit_m, (step.y1 - step.y0) * unit_m, height + _BLOCK)
        middle = (
            (step.x0 + step.x1) / 2 * unit_m,
            (step.y0 + step.y1) / 2 * unit_m,
            (height - _BLOCK) / 2,
        )
        bodies.append(Body(f"step{i}", Box(size), X_WB=frozen(pose(middle))))
    if terrain.map is not None:
        # A mesh collides as its convex hull, so that each triangle is a prism of its own.
        near = np.unique(walk.feet[:, :, :2].reshape(-1, 2).round(), axis=0)
        for i, top in enumerate(terrain.map.triangles(near) * unit_m, 1):
            center = top.mean(axis=0)
            bottom = np.column_stack([top[:, :2], np.full(3, -_PRISM)])
            mesh = TriangleMesh(frozen(np.concatenate([top, bottom]) - center), _PRISM_FACES)
            shape = MeshData(f"prism{i}", mesh)
            bodies.append(Body(f"ground{i}", shape, X_WB=frozen(pose(center))))
    return tuple(bodies)


def _channels(
    case: Case, walk: PlannedWalk, model: RobotModel, recorded: Recording
) -> dict[str, Channel]:
    machine, unit = walk.plan.machine, case.unit_m
    body, q = recorded["poses"][:, 0], recorded["q"]
    X_WB = np.array([pose(row[:3], rotation_from_quaternion(row[3:])) for row in body])
    X_WL = link_poses(model, q, X_WB=X_WB)
    index = {link.name: i for i, link in enumerate(model.links)}
    column = {joint.name: i for i, joint in enumerate(model.moving_joints)}
    n = len(q)
    links = np.empty((n, 4, 9, 7))
    for leg in range(4):
        links[:, leg] = _leg_links(case, walk, X_WL, X_WB, index=index, leg=leg)
    driven = [column[name] for name in drive_names(machine)]
    frame = np.searchsorted(walk.time, recorded["time"] - SETTLE, side="right") - 1
    frame = np.clip(frame, 0, len(walk.time) - 1)
    channels = walk_channels(
        kind=machine.kind,
        time=recorded["time"],
        body=body,
        joints=q[:, driven].reshape(n, 4, 3),
        links=links,
        feet=links[:, :, 8, :3],
        support=walk.support[frame],
        margin=walk.margin[frame] * unit,
        com=walk.com[frame] * unit,
    )
    gaps = [
        (X_WL[:, index[loop.link_a]] @ loop.X_AC - X_WL[:, index[loop.link_b]] @ loop.X_BC)[
            :, :3, 3
        ]
        for loop in model.loops
    ]
    gap = np.linalg.norm(gaps, axis=2).max(axis=0)
    if case.tilt:
        channels["planned_normal"] = Channel(body_normals(walk.body[frame]), "-", ("x", "y", "z"))
    return channels | {
        "loop_gap": Channel(gap, "m"),
        "drive_force": Channel(_forces(case, walk, recorded), "N or N m", drive_names(machine)),
        "drive_rate": Channel(recorded["v"][:, driven], "m/s or rad/s", drive_names(machine)),
        "measured_margin": Channel(measured_margins(case, channels), "m"),
    }


def measured_margins(case: Case, channels: dict[str, Channel]) -> Array:
    """Return the margin of the zero-moment point in physics [m], shape (n,).

    Positions are averaged over 0.18 s before they are differentiated: drives that follow
    commands frame by frame vibrate.
    """
    body, feet = channels["body"].values, channels["feet"].values
    support = channels["support"].values > 0
    links = channels["links"].values.reshape(-1, 4, 9, 7)
    points = mass_points(case.machine, body, links, unit=case.unit_m)
    window = np.hanning(_AVERAGED + 2)[1:-1]
    smooth = convolve1d(points.places, window / window.sum(), axis=0, mode="nearest")
    ground = (feet[:, :, 2] * support).sum(axis=1) / np.maximum(support.sum(axis=1), 1)
    zmp = replace(points, places=smooth).zero_moment_points(
        1 / _SAMPLE_RATE, gravity=GRAVITY, ground=ground
    )
    return support_margins(np.ascontiguousarray(feet), support, np.column_stack([zmp, ground]))


def _forces(case: Case, walk: PlannedWalk, recorded: Recording) -> Array:
    """Return the efforts of the servos, in the order of joint values, shape (n, 12)."""
    machine = walk.plan.machine
    commands = [name.split("/", 1)[1] for name in recorded.channels["command"].columns]
    joints = [name.split("/", 1)[1] for name in recorded.channels["q"].columns]
    forces = []
    for name, (stiffness, damping) in drive_gains(machine, unit_m=case.unit_m).items():
        q, v = recorded["q"][:, joints.index(name)], recorded["v"][:, joints.index(name)]
        wanted = recorded["command"][:, commands.index(name)]
        limit = drive_limit(case, stiffness)
        forces.append(np.clip(stiffness * (wanted - q) - damping * v, -limit, limit))
    return np.stack(forces, axis=1)


def _leg_links(
    case: Case, walk: PlannedWalk, X_WL: Array, X_WB: Array, *, index: dict[str, int], leg: int
) -> Array:
    """Return the nine links of a leg in the frames of the mechanism, shape (n, 9, 7)."""
    machine, unit = walk.plan.machine, case.unit_m
    K, l1, l2 = machine.gain, machine.l1 * unit, machine.l2 * unit

    def link(name: str, up: float = 0.0) -> Array:
        return X_WL[:, index[f"leg{leg + 1}_{name}"]] @ pose((0.0, 0.0, up))

    bracket = X_WB @ pose(machine.hips[leg] * unit)
    guide = bracket if f"leg{leg + 1}_hinge" in index else link("carriage")
    vertical, slider, shank = link("vertical"), link("slider"), link("shank", K * l2)
    foot = guide.copy()
    foot[:, :3, 3] = shank[:, :3, 3]
    frames = [
        bracket,
        guide,
        vertical,
        slider,
        link("thigh"),
        link("bar", (K - 1) * l1),
        link("crank", l2),
        shank,
        foot,
    ]
    X = np.stack(frames, axis=1)
    return np.concatenate([X[..., :3, 3], quaternion_from_rotation(X[..., :3, :3])], axis=-1)


LEGS = ("leg1", "leg2", "leg3", "leg4")
LINKS = tuple(f"{leg}/{link}" for leg in LEGS for link in LINK_NAMES)
_POSE = "m, wxyz"


def drives(kind: LegKind) -> tuple[str, ...]:
    """Return the names of the twelve driven joints."""
    lateral = "omega" if kind is LegKind.TTR else "h_y"
    return tuple(f"{leg}/{name}" for leg in LEGS for name in ("h_x", lateral, "v_z"))


def joint_scale(kind: LegKind, unit_m: float) -> Array:
    """Return the factors of joint values to SI units, shape (3,)."""
    return np.array([unit_m, 1.0 if kind is LegKind.TTR else unit_m, unit_m])


def walk_channels(
    *,
    kind: LegKind,
    time: Array,
    body: Array,
    joints: Array,
    links: Array,
    feet: Array,
    support: NDArray[np.bool_],
    margin: Array,
    com: Array,
) -> dict[str, Channel]:
    """Return the arrays of a walk as channels, all in SI units.

    Args:
        kind: Leg actuation.
        time: Times [s], shape (n,).
        body: Pose of the body, shape (n, 7).
        joints: Joint values, shape (n, 4, 3).
        links: Poses of the links, shape (n, 4, 9, 7).
        feet: The feet [m], shape (n, 4, 3).
        support: Which of them are in stance, shape (n, 4).
        margin: The planned static margin [m], shape (n,).
        com: The planned centre of mass [m], shape (n, 3).
    """
    n = len(time)
    return {
        "time": Channel(time, "s"),
        "body": Channel(body, _POSE, ("x", "y", "z", "qw", "qx", "qy", "qz")),
        "joints": Channel(joints.reshape(n, 12), "m or rad", drives(kind)),
        "links": Channel(links.reshape(n, 36, 7), _POSE, LINKS),
        "feet": Channel(feet, "m", LEGS),
        "support": Channel(support.astype(np.float64), "-", LEGS),
        "margin": Channel(margin, "m"),
        "com": Channel(com, "m", ("x", "y", "z")),
    }


def planned_channels(walk: PlannedWalk, *, unit_m: float) -> dict[str, Channel]:
    """Return a planned walk as channels."""
    kind = walk.plan.machine.kind
    metres = np.array([unit_m] * 3 + [1.0] * 4)
    return walk_channels(
        kind=kind,
        time=walk.time,
        body=walk.body * metres,
        joints=walk.joints * joint_scale(kind, unit_m),
        links=walk.links * metres,
        feet=walk.links[:, :, 8, :3] * unit_m,
        support=walk.support,
        margin=walk.margin * unit_m,
        com=walk.com * unit_m,
    )
