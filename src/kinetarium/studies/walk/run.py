"""One run: a walk is planned, and simulated if an engine is named; and its measures."""

from dataclasses import replace
from math import radians
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetarium.control.interface import Measurement
from kinetarium.dynamics.kinematics import link_poses
from kinetarium.legs import LegKind, PlannedWalk, Terrain, WarningKind, plan_walk
from kinetarium.legs.mechanism.machine import LINK_NAMES
from kinetarium.legs.quadruped import (
    FOOT_RADIUS,
    drive_gains,
    drive_names,
    joint_positions,
    quadruped_model,
)
from kinetarium.legs.walk.walk import walk_figures
from kinetarium.model.robot import Box, RobotModel
from kinetarium.recording.recording import Channel, Recording, Row
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
from kinetarium.spatial.rotation import (
    pose,
    quaternion_from_rotation,
    rotation_about,
    rotation_from_quaternion,
)
from kinetarium.studies.walk.config import NO_ENGINE, Case, walk_plan


def run(case: Case) -> Recording:
    """Plan a walk, and simulate it in an engine."""
    walk = plan_walk(walk_plan(case))
    if case.engine == NO_ENGINE:
        recording = Recording(planned_channels(walk, unit_m=case.unit_m), "running")
    else:
        recording = walk_in_engine(case, walk)
    return replace(recording, facts={**recording.facts, "plan": _plan_facts(walk)})


def _plan_facts(walk: PlannedWalk) -> dict[str, Any]:
    """Return the facts of a walk for its rows and figures, in the machine's unit."""
    limits = (WarningKind.REACH, WarningKind.DRIVE)
    return {
        **walk_figures(walk),
        "goal": walk.body[-1, :2].tolist(),
        "path": walk.path.tolist(),
        "limit_violations": sum(warning.kind in limits for warning in walk.warnings),
        "warnings": [warning.text for warning in walk.warnings[:_MOST_WARNINGS]],
    }


_MOST_WARNINGS = 10
TIMESTEP = 1e-3
"""Physics time step [s]."""
SETTLE = 0.5
"""Time to come to rest before the walk begins [s]."""
HOLD = 0.5
"""Time to stand still after its end [s]."""
_CONTROL_RATE = 200.0
_SAMPLE_RATE = 50.0
_ROBOT = "robot"
_BLOCK = 2.0
"""Depth of a block below the ground [m]; feet would penetrate thin ones."""


class WalkDriver:
    """Interpolates the planned joint values linearly between frames."""

    rate = _CONTROL_RATE

    def __init__(self, time: Array, joints: Array) -> None:
        """Set the plan.

        Args:
            time: Times of the frames [s], shape (n,).
            joints: Commands at the frames [m or rad], shape (n, c).
        """
        self._time, self._joints = time, joints

    def reset(self) -> None:
        """Do nothing: it has no state."""

    def update(self, t: float, measurement: Measurement) -> Array:
        """Return the commands at a time [s], shape (c,)."""
        time, joints = self._time, self._joints
        i = int(np.clip(np.searchsorted(time, t, side="right") - 1, 0, len(time) - 2))
        part = np.clip((t - time[i]) / (time[i + 1] - time[i]), 0.0, 1.0)
        command: Array = (1 - part) * joints[i] + part * joints[i + 1]
        return command


def walk_in_engine(case: Case, walk: PlannedWalk) -> Recording:
    """Simulate a planned walk in an engine."""
    machine = walk.plan.machine
    model = quadruped_model(machine, unit_m=case.unit_m, mass=case.mass)
    names = drive_names(machine)
    driven = [joint.name for joint in model.moving_joints if joint.name in names]
    columns = [names.index(name) for name in driven]
    joints = (walk.joints * joint_scale(machine.kind, case.unit_m)).reshape(-1, len(names))
    recorded = simulate(
        walking_scene(case, walk),
        engine=case.engine,
        duration=SETTLE + float(walk.time[-1]) + HOLD,
        controller=WalkDriver(walk.time + SETTLE, joints[:, columns]),
        timestep=TIMESTEP,
        sample_rate=_SAMPLE_RATE,
    )
    return Recording(_channels(case, walk, model, recorded), recorded.status, recorded.facts)


def walking_scene(case: Case, walk: PlannedWalk) -> Scene:
    """Return the scene at the start of the walk, the feet just in contact with the ground."""
    machine = walk.plan.machine
    model = quadruped_model(machine, unit_m=case.unit_m, mass=case.mass)
    start = walk.body[0]
    position = (start[:3] + np.array([0.0, 0.0, FOOT_RADIUS])) * case.unit_m
    servos = {
        name: Actuation(DriveMode.POSITION, stiffness=stiffness, damping=damping)
        for name, (stiffness, damping) in drive_gains(machine, unit_m=case.unit_m).items()
    }
    robot = PlacedRobot(
        _ROBOT,
        model,
        Base.FREE,
        frozen(pose(position, rotation_from_quaternion(start[3:]))),
        positions=joint_positions(machine, walk.joints[0], unit_m=case.unit_m),
        actuation=servos,
    )
    return Scene((robot,), _terrain_bodies(case.terrain, unit_m=case.unit_m))


def _terrain_bodies(terrain: Terrain, *, unit_m: float) -> tuple[Body, ...]:
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
    return channels | {
        "loop_gap": Channel(gap, "m"),
        "drive_force": Channel(_forces(case, walk, recorded), "N or N m", drive_names(machine)),
        "drive_rate": Channel(recorded["v"][:, driven], "m/s or rad/s", drive_names(machine)),
    }


def _forces(case: Case, walk: PlannedWalk, recorded: Recording) -> Array:
    """Return the efforts of the servos, in the order of joint values, shape (n, 12)."""
    machine = walk.plan.machine
    commands = [name.split("/", 1)[1] for name in recorded.channels["command"].columns]
    joints = [name.split("/", 1)[1] for name in recorded.channels["q"].columns]
    forces = []
    for name, (stiffness, damping) in drive_gains(machine, unit_m=case.unit_m).items():
        q, v = recorded["q"][:, joints.index(name)], recorded["v"][:, joints.index(name)]
        wanted = recorded["command"][:, commands.index(name)]
        forces.append(stiffness * (wanted - q) - damping * v)
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


GRAVITY = 9.81
TIPPED = 10.0
"""Tilt above which a robot has tipped over [deg]."""
OFF_COURSE = 0.1
"""Allowed final position error over the length of the path [-]."""


def score(case: Case, recording: Recording) -> Row:
    """Measure a walk.

    Returns:
        min_margin_units, mean_margin_units: The planned static margin.
        max_slip_units: Maximum motion of a foot in stance.
        joint_travel: Travel of the drives h_x, lateral and v_z of all legs [unit, rad].
        drive_work: Work of all drives [J], per metre in drive_work_j_per_m; without an engine
            that of a slow walk with friction in the slides.
        walking_volume_units3: Reachable volume of a foot.
        order, table1_row: The order of the legs, and its row in Table 1, 0 if none.
        limit_violations: Number of leg steps that exceed the joint limits.
        foot_gap_min_units: Minimum distance between two feet.
        warnings: Up to ten warnings, as sentences.
        verdict: planned, walked, tipped over, off course or diverged.
        tilt_max_deg, end_error_m, loop_gap_m: In physics, maximum tilt of the body, final
            position error, and maximum gap of the closed loops.
    """
    plan = recording.facts["plan"]
    way = plan["way"] * case.unit_m
    work = _work(case, recording)
    return {
        "min_margin_units": _clean(plan["min_margin"]),
        "mean_margin_units": _clean(plan["mean_margin"]),
        "max_slip_units": slip(recording["feet"], recording["support"] > 0) / case.unit_m,
        "joint_travel": dict(zip(("h_x", "lateral", "v_z"), plan["joint_travel"], strict=True)),
        "drive_work": work,
        "drive_work_j_per_m": work / way if way else None,
        "walking_volume_units3": plan["walking_volume"],
        "order": plan["order"],
        "table1_row": plan["table1_row"],
        "stride_units": plan["stride"],
        "limit_violations": plan["limit_violations"],
        "foot_gap_min_units": plan["foot_gap"],
        "warnings": plan["warnings"],
        **_physics(case, recording),
    }


def slip(feet: Array, support: NDArray[np.bool_]) -> float:
    """Return the maximum motion of a foot since the start of its stance [m].

    Args:
        feet: The feet [m], shape (n, 4, 3).
        support: Which of them are in stance, shape (n, 4).
    """
    farthest = 0.0
    for leg in range(feet.shape[1]):
        stands = support[:, leg]
        begins = stands & ~np.concatenate([[False], stands[:-1]])
        origin = np.maximum.accumulate(np.where(begins, np.arange(len(stands)), 0))
        moved = np.linalg.norm(feet[:, leg] - feet[origin, leg], axis=1)
        farthest = max(farthest, float(moved[stands].max(initial=0.0)))
    return farthest


def tilt(recording: Recording) -> Array:
    """Return the angle between the body's z axis and the vertical [deg], shape (n,)."""
    _, x, y, _ = np.asarray(recording["body"][:, 3:]).T
    return np.asarray(np.degrees(np.arccos(np.clip(1 - 2 * (x * x + y * y), -1.0, 1.0))))


def _physics(case: Case, recording: Recording) -> dict[str, Any]:
    if case.engine == NO_ENGINE:
        return {
            "verdict": "planned",
            "tilt_max_deg": None,
            "end_error_m": None,
            "loop_gap_m": None,
        }
    leaning = float(tilt(recording).max())
    plan = recording.facts["plan"]
    goal = np.array(plan["goal"]) * case.unit_m
    end_error = float(np.hypot(*(recording["body"][-1, :2] - goal)))
    if recording.status == "diverged":
        verdict = "diverged"
    elif leaning > TIPPED:
        verdict = "tipped over"
    elif end_error > OFF_COURSE * max(plan["way"], plan["stride"]) * case.unit_m:
        verdict = "off course"
    else:
        verdict = "walked"
    return {
        "verdict": verdict,
        "tilt_max_deg": leaning,
        "end_error_m": end_error,
        "loop_gap_m": float(recording["loop_gap"].max()),
    }


def _work(case: Case, recording: Recording) -> float:
    if case.engine == NO_ENGINE:
        return float(recording.facts["plan"]["drive_work"] * case.mass * GRAVITY * case.unit_m)
    power = np.abs(recording["drive_force"] * recording["drive_rate"]).sum(axis=1)
    return float(np.trapezoid(power, recording["time"]))


def _clean(value: float) -> float:
    """Remove rounding: a margin of -1e-14 is zero."""
    return round(float(value), 9) + 0.0
