"""One run: the line over time, the planned drive, the controller of wheels and arm; the row."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from math import cos, inf, sin, sqrt
from time import process_time
from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation, RotationSpline

from kinetarium.control.arm.moving_base import MovingBaseArm, ToolReference
from kinetarium.control.interface import Measurement
from kinetarium.control.vehicle.laws import LegTracking, PlanarPose, Speeds
from kinetarium.control.vehicle.robot_base import (
    SLICK,
    ground_surfaces,
    tyre_links,
    vehicle,
    wheel_drives,
)
from kinetarium.control.vehicle.wheel_driver import planar_pose
from kinetarium.control.vehicle.wheeled_base import Chassis, SpeedRamp, WheeledBase, placed
from kinetarium.dynamics import RobotDynamics
from kinetarium.dynamics.chain import SerialChain
from kinetarium.dynamics.kinematics import link_poses
from kinetarium.engines.protocol import FrictionRule
from kinetarium.engines.registry import matched_options, open_engine
from kinetarium.errors import KinetariumError
from kinetarium.metrics import LOOP_TIME
from kinetarium.reach.arm import prepare_arm
from kinetarium.reach.collision.arm_in_scene import put_arm_in_scene
from kinetarium.reach.placement.files import read_poses
from kinetarium.reach.placement.follow import Following, LinePlanner
from kinetarium.reach.placement.whole_body import BaseMotionLimits
from kinetarium.recording.recording import Channel, Recording, Row
from kinetarium.roles.options import RoleOptions
from kinetarium.roles.studied_robot import StudiedRobot
from kinetarium.rollout.loop import run as simulate
from kinetarium.scene import Actuation, DriveMode, Scene, ground, placed_robot
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import (
    inverse_pose,
    pose,
    pose_from_rpy,
    quaternion_from_rotation,
    rotation_about,
    rotation_from_quaternion,
)
from kinetarium.storage.serialization import from_builtins, to_builtins
from kinetarium.studies.follow._sensing import base_sensor
from kinetarium.studies.follow.config import CONTROL_RATE, Case

PLAN_RATE = 50.0
"""Ticks of the planned motion [Hz]."""
SAMPLE_RATE = 100.0
"""How often samples are taken [Hz]."""
SETTLE = 1.0
"""Time at rest before the tool sets off [s]."""
HOLD = 0.5
"""Time at rest after the line [s]."""
SET_OFF = 0.3
"""Acceleration of the tool along the line, on average [m/s^2]."""
WHEEL_EVERY = 5
"""Ticks of the arm's law between two commands of the wheels: 100 Hz."""
WHEEL_SCALE = 150.0
"""Gain of the wheels' servos over mass times squared radius [1/s]."""
LOST = 0.05
"""Error of the tool from which a line counts as lost [m]."""
ROUNDING = 1e-6
"""Excess over a limit that is rounding [-]."""
TIPPED = 0.2
"""Tilt of the base from which it counts as tipped over [rad]."""


class Line(NamedTuple):
    """The tool's motion over time.

    Attributes:
        times: Times from its start [s], shape (n,).
        X_WT: Poses of the tool, shape (n, 4, 4).
    """

    times: Array
    X_WT: Array


def line_over_time(case: Case, *, rate: float) -> Line:
    """Return the line from rest to rest.

    Straight between two poses, a cubic spline through more; the speed rises and falls with the
    square of a sine, so that the acceleration does not jump. A line too short to reach the speed
    and stop again is passed more slowly.

    Args:
        rate: Samples per second [Hz].

    Raises:
        KinetariumError: If the file has changed.
    """
    if case.line is None:
        left = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
        poses = np.array([pose((x, 0.0, case.height), left) for x in (0.0, case.length)])
    else:
        poses = read_poses(case.line)
        if sha256(poses.tobytes()).hexdigest() != case.line_sha256:
            raise KinetariumError(f"'{case.line}' has changed since the case was made")
    steps = np.linalg.norm(np.diff(poses[:, :3, 3], axis=0), axis=1)
    s = np.append(0.0, np.cumsum(steps))
    speed = min(case.speed, sqrt(SET_OFF * s[-1]))
    ramp = speed / SET_OFF
    duration = s[-1] / speed + ramp
    t = np.arange(np.ceil(duration * rate) + 1) / rate
    gone = _distance(t, speed=speed, ramp=ramp, duration=duration)
    if len(poses) == 2:
        p = poses[0, :3, 3] + gone[:, None] / s[-1] * (poses[1, :3, 3] - poses[0, :3, 3])
        turn = so3.log(poses[1, :3, :3] @ poses[0, :3, :3].T)
        R = so3.exp(gone[:, None] / s[-1] * turn) @ poses[0, :3, :3]
    else:
        p = CubicSpline(s, poses[:, :3, 3])(gone)
        R = RotationSpline(s, Rotation.from_matrix(poses[:, :3, :3]))(gone).as_matrix()
    X = np.tile(np.eye(4), (len(t), 1, 1))
    X[:, :3, :3], X[:, :3, 3] = R, p
    return Line(t, X)


def _distance(t: Array, *, speed: float, ramp: float, duration: float) -> Array:
    """Return the distance of a motion whose speed rises and falls with the square of a sine."""

    def rising(u: Array) -> Array:
        return speed * (u / 2 - ramp / (2 * np.pi) * np.sin(np.pi * u / ramp))

    u, v = np.clip(t, 0.0, ramp), np.clip(duration - t, 0.0, ramp)
    even = speed * (np.clip(t, ramp, duration - ramp) - ramp)
    whole = rising(np.array(ramp))
    return np.asarray(rising(u) + even + whole - rising(v))


class Drive(NamedTuple):
    """A robot, its line and its planned motion.

    Attributes:
        robot: The robot and its roles.
        chain: The chain from its root to its tool.
        X_LT: The tool's frame in the tool's link, shape (4, 4).
        line: The line.
        plan: The planned motion along it.
        height: Height of the root above the ground [m].
        limits: What the base can do.
    """

    robot: StudiedRobot
    chain: SerialChain
    X_LT: Array
    line: Line
    plan: Following
    height: float
    limits: BaseMotionLimits


@lru_cache(maxsize=4)
def _opened(reading: RoleOptions, robot: str, digest: str) -> StudiedRobot:
    return reading.open(robot, sha256=digest)


def planned(case: Case) -> Drive:
    """Plan the drive of a case.

    Raises:
        KinetariumError: If the line cannot be driven: where, and why.
    """
    # Runs that differ in engine and sensing share the plan.
    return _planned(replace(case, engine="", sensing=next(iter(type(case.sensing))), seed=0))


@lru_cache(maxsize=4)
def _planned(case: Case) -> Drive:
    robot = _opened(case.reading, case.robot, case.sha256)
    role, base = robot.roles.arm(), vehicle(robot)
    arm = prepare_arm(robot.model, tool=role.tool, base_link=robot.model.root)
    X_LT = pose_from_rpy(role.xyz, role.rpy)
    height = float(placed_robot(robot).X_WB[2, 3])
    x, y, heading = base.frame
    c, s = cos(heading), sin(heading)
    # The root in the vehicle's frame.
    mount = (-(c * x + s * y), s * x - c * y, -heading)
    chassis = Chassis(base, case.multiplier)
    speed, _ = chassis.within_wheels((case.base_speed, 0.0))
    _, turning = chassis.within_wheels((0.0, case.base_turning))
    limits = BaseMotionLimits(
        speed, turning, case.base_acceleration, case.base_turning, False, mount
    )
    line = line_over_time(case, rate=PLAN_RATE)
    X_PL = pose((0.0, 0.0, -height)) @ line.X_WT @ inverse_pose(X_LT)
    planner = LinePlanner(arm.chain, put_arm_in_scene(arm), limits=limits, effort=arm.full_effort)
    plan = planner.plan(line.times, X_PL)
    if plan.faults:
        raise KinetariumError(f"{case.robot} cannot follow the line {plan.faults[0]}")
    fastest = (plan.use[:, 2:4] * (limits.speed, limits.turning)).tolist()
    use = max(chassis.wheel_use((v, w)) for v, w in fastest)
    if use > 1.0 + ROUNDING:
        raise KinetariumError(
            f"{case.robot} cannot follow the line: where it turns, its wheels need {use:.2f} of"
            " their speed limit; choose a lower --speed"
        )
    return Drive(robot, arm.chain, X_LT, line, plan, height, limits)


def scene(
    robot: StudiedRobot,
    case: Case,
    *,
    rule: FrictionRule,
    X_WB: Array,
    positions: Mapping[str, float],
) -> Scene:
    """Return the robot on the ground, its arm driven by torques.

    Args:
        rule: How the engine combines the friction of unequal surfaces.
        X_WB: Pose of its root, shape (4, 4).
        positions: Positions of the arm's joints by name [rad or m].
    """
    base = vehicle(robot)
    floor, tyre = ground_surfaces(case.friction, rule)
    gain = WHEEL_SCALE * base.mass * base.wheel_radius**2
    drives = wheel_drives(robot, base, friction=case.friction, wheel_damping=gain)
    drives |= {name: Actuation(DriveMode.TORQUE) for name in positions}
    tyres = tyre_links(robot)
    standing = placed_robot(
        robot,
        positions=positions,
        actuation=drives,
        X_WB=frozen(X_WB),
        link_materials={
            link.name: tyre if link.name in tyres else SLICK for link in robot.model.links
        },
    )
    return Scene((standing,), (ground(floor),))


class FollowController:
    """Drives the wheels along the plan, and holds the tool on the line."""

    def __init__(self, drive: Drive, case: Case) -> None:
        """Sample plan and line at every tick of the arm's law."""
        robot, plan = drive.robot, drive.plan
        base, limits = vehicle(robot), drive.limits
        ramp = SpeedRamp(limits.acceleration, limits.turning_acceleration)
        self._chassis = Chassis(base, case.multiplier, ramp)
        self._frame, self._limits, self._law = PlanarPose(*base.frame), limits, LegTracking()
        self._case = case
        self._arm = MovingBaseArm(
            RobotDynamics(robot.model, free_base=True),
            link=drive.chain.tool,
            joints=drive.chain.coordinates,
        )
        drives = wheel_drives(robot, base, friction=case.friction, wheel_damping=1.0)
        order = [joint.name for joint in robot.model.moving_joints if joint.name in drives]
        self._places = np.array([order.index(name) for name in drive.chain.joints])
        end = drive.line.times[-1]
        fine = np.arange(round((SETTLE + end + HOLD) * CONTROL_RATE) + 2) / CONTROL_RATE - SETTLE
        inside = np.clip(fine, 0.0, end)
        moves = ((fine >= 0.0) & (fine <= end))[:, None]
        X_WL = drive.line.X_WT @ inverse_pose(drive.X_LT)
        at = drive.line.times
        self._p, self._V, self._A = _sampled(CubicSpline(at, X_WL[:, :3, 3]), inside, moves)
        turns = RotationSpline(at, Rotation.from_matrix(X_WL[:, :3, :3]))
        self._R = turns(inside).as_matrix()
        spin = so3.log(self._R[1:] @ self._R[:-1].mT) * CONTROL_RATE
        spin = np.vstack([spin, np.zeros(3)])
        self._V = np.hstack([self._V, spin])
        self._A = np.hstack([self._A, np.gradient(spin, 1 / CONTROL_RATE, axis=0)])
        self._q, self._v, _ = _sampled(CubicSpline(at, plan.joints), inside, moves)
        yaw = np.unwrap(plan.vehicle[:, 2])
        way = np.column_stack([plan.vehicle[:, :2], yaw])
        self._way, self._rate, _ = _sampled(CubicSpline(at, way), inside, moves)
        root = np.column_stack([plan.bases[:, :2], np.unwrap(plan.bases[:, 2])])
        _, _, accelerations = _sampled(CubicSpline(at, root), inside, moves)
        self._A_B = np.zeros((len(fine), 6))
        self._A_B[:, :2], self._A_B[:, 5] = accelerations[:, :2], accelerations[:, 2]
        self.reset()

    @property
    def rate(self) -> float:
        """Control rate [Hz]."""
        return CONTROL_RATE

    def reset(self) -> None:
        """Forget what is known of the base, and stand."""
        case = self._case
        self._sensor = base_sensor(case.sensing, chassis=self._chassis, seed=case.seed)
        self._motion = (0.0, 0.0)
        self._ticks = 0

    def update(self, t: float, measurement: Measurement) -> Array:
        """Return speeds of the wheels, torques of the arm, and positions of the other joints."""
        k = min(round(t * CONTROL_RATE), len(self._p) - 1)
        known = self._sensor.read(t, measurement)
        quaternion = quaternion_from_rotation(known.X_WB[:3, :3])
        if self._ticks % WHEEL_EVERY == 0:
            self._drive(k, np.concatenate([known.X_WB[:3, 3], quaternion]))
        self._ticks += 1
        command = self._chassis.commands(self._motion)
        q = np.concatenate([known.X_WB[:3, 3], quaternion, measurement.q])
        v = np.concatenate([known.V_WB, measurement.v])
        X_WT = pose(self._p[k], self._R[k])
        wanted = ToolReference(X_WT, self._V[k], self._A[k], self._q[k], self._v[k], self._A_B[k])
        command[self._places] = self._arm.torques(q, v, wanted=wanted)
        return command

    def _drive(self, k: int, root: Array) -> None:
        """Command the vehicle: Kanayama's law, with heading feedback at rest too."""
        actual = placed(self._frame, planar_pose(root))
        way, (x_rate, y_rate, w) = PlanarPose(*self._way[k].tolist()), self._rate[k].tolist()
        reference = Speeds(cos(way.heading) * x_rate + sin(way.heading) * y_rate, w)
        asked = self._law.speeds(actual, wanted=way, reference=reference)
        limits, period = self._limits, WHEEL_EVERY / CONTROL_RATE
        wanted = (
            min(max(asked.v, -limits.speed), limits.speed),
            min(max(asked.w, -limits.turning), limits.turning),
        )
        self._motion = self._chassis.toward(wanted, now=self._motion, period=period)


def _sampled(spline: CubicSpline, t: Array, moves: Array) -> tuple[Array, Array, Array]:
    """Return values, rates and accelerations of a spline; at rest where it does not move."""
    return spline(t), np.where(moves, spline(t, 1), 0.0), np.where(moves, spline(t, 2), 0.0)


def run(case: Case) -> Recording:
    """Drive along the line."""
    begin = process_time()
    drive = planned(case)
    plan_s = process_time() - begin
    engine = open_engine(case.engine)
    x, y, yaw = drive.plan.bases[0]
    start = scene(
        drive.robot,
        case,
        rule=engine.info.friction_rule,
        X_WB=pose((x, y, drive.height), rotation_about((0.0, 0.0, 1.0), yaw)),
        positions=dict(zip(drive.chain.joints, drive.plan.joints[0].tolist(), strict=True)),
    )
    begin = process_time()
    recording = simulate(
        start,
        engine=engine,
        duration=round((SETTLE + drive.line.times[-1] + HOLD) * SAMPLE_RATE) / SAMPLE_RATE,
        controller=FollowController(drive, case),
        timestep=case.timestep,
        sample_rate=SAMPLE_RATE,
        options=matched_options(engine).options,
        seed=case.seed,
    )
    loop_s = process_time() - begin
    t = recording["time"] - SETTLE
    at, inside = drive.line.times, np.clip(t, 0.0, drive.line.times[-1])
    wanted = CubicSpline(at, drive.line.X_WT[:, :3, 3])(inside)
    R = RotationSpline(at, Rotation.from_matrix(drive.line.X_WT[:, :3, :3]))(inside).as_matrix()
    names = [link.name for link in drive.robot.model.links]
    actual = np.array(
        [_tool(drive, q, root)[names.index(drive.chain.tool)] @ drive.X_LT
         for q, root in zip(recording["q"], recording["poses"][:, 0], strict=True)]
    )  # fmt: skip
    channels = {
        **recording.channels,
        "tool": Channel(actual[:, :3, 3], "m", ("x", "y", "z")),
        "line": Channel(wanted, "m", ("x", "y", "z")),
        "turned": Channel(np.linalg.norm(so3.log(R @ actual[:, :3, :3].mT), axis=-1), "rad"),
        "plan_time": Channel(at, "s"),
        "plan_vehicle": Channel(drive.plan.vehicle, "m, m, rad", ("x", "y", "yaw")),
        "plan_joints": Channel(drive.plan.joints, "rad or m", drive.chain.joints),
    }
    base = vehicle(drive.robot)
    facts = {
        **recording.facts,
        "settle_s": SETTLE,
        "line_s": float(at[-1]),
        "joints": list(drive.chain.joints),
        "vehicle": to_builtins(base),
        "plan_use": drive.plan.use.max(axis=0).tolist(),
        "drive_type": base.kind.value,
    }
    timing = {LOOP_TIME: loop_s, "plan_s": plan_s}
    return replace(recording, channels=channels, facts=facts, timing=timing)


def _tool(drive: Drive, q: Array, root: Array) -> Array:
    X_WB = pose(root[:3], rotation_from_quaternion(root[3:]))
    return link_poses(drive.robot.model, q, X_WB=X_WB)


def score(case: Case, recording: Recording) -> Row:
    """Return how near the tool stayed to the line, and what was used of the limits.

    Returns:
        speed_m_s, sensing: As in the case.
        success, cause: Whether the line was followed within 50 mm and no limit was exceeded, and
            why not.
        tool_max_mm, tool_rms_mm: Distance of the tool from where it should be, along the line.
        turned_max_deg: Its greatest angle from the wanted orientation.
        joint_speed_use, joint_position_use, torque_use: The greatest share of a joint's limit; of
            positions that of the distance from the middle of the range.
        base_speed_use, base_turning_use: The greatest share of the base's limits, as it moved.
        base_acceleration_use: The same of its acceleration, as commanded to the wheels.
        wheel_speed_use: The greatest share of a wheel's speed limit, as it turned.
        base_error_mm: Distance of the base from its planned path, at most.
        saturated: Share of the samples at which a torque was at its limit.
    """
    robot = _opened(case.reading, case.robot, case.sha256).model
    facts, t = recording.facts, recording["time"] - recording.facts["settle_s"]
    on = (t >= 0.0) & (t <= facts["line_s"])
    off = np.linalg.norm(recording["tool"] - recording["line"], axis=1)[on]
    columns, efforts = _columns(recording, "q"), _columns(recording, "command")
    limits = [robot.joint(name).limits for name in facts["joints"]]
    speeds = np.array([each.velocity or inf for each in limits])
    middle = np.array([(each.lower + each.upper) / 2 for each in limits])
    half = np.array([(each.upper - each.lower) / 2 for each in limits])
    share = np.abs(recording["command"][on][:, efforts])
    share = share / np.array([each.rated_effort for each in limits])
    q, v = recording["q"][on][:, columns], recording["v"][on][:, columns]
    bounded = np.isfinite(half)
    use = {
        "joint_speed_use": float((np.abs(v) / speeds).max()),
        "joint_position_use": float(
            (np.abs(q - middle) / np.where(bounded, half, np.inf))[:, bounded].max(initial=0.0)
        ),
        "torque_use": float(share.max()),
    }
    base = _base_use(case, recording, on)
    tilt = _tilt(recording)
    worst = float(off.max(initial=0.0)) if len(off) else inf
    cause = ""
    if recording.status != "running":
        cause = "the simulation diverged"
    elif tilt > TIPPED:
        cause = "the base tipped over"
    elif worst > LOST:
        cause = (
            "the torques were at their limits" if share.max() >= 1.0 else "the tool left the line"
        )
    elif use["joint_speed_use"] > 1.0 or use["joint_position_use"] > 1.0:
        cause = "a joint exceeded its limit"
    elif max(value for name, value in base.items() if name.endswith("use")) > 1.0 + ROUNDING:
        cause = "the base exceeded its limit"
    return {
        "success": not cause,
        "cause": cause,
        "tool_max_mm": 1e3 * worst,
        "tool_rms_mm": 1e3 * float(np.sqrt(np.mean(off**2))) if len(off) else None,
        "turned_max_deg": float(np.degrees(recording["turned"][on].max(initial=0.0))),
        **use,
        **base,
        "saturated": float((share >= 1.0 - 1e-9).any(axis=1).mean()) if len(off) else None,
    }


def _columns(recording: Recording, channel: str) -> list[int]:
    """Return the columns of the arm's joints in a channel."""
    names = [name.rpartition("/")[2] for name in recording.channels[channel].columns]
    return [names.index(joint) for joint in recording.facts["joints"]]


def _tilt(recording: Recording) -> float:
    _, qx, qy, _ = recording["poses"][:, 0, 3:].T
    return float(np.arccos(np.clip(1 - 2 * (qx**2 + qy**2), -1.0, 1.0)).max())


def _base_use(case: Case, recording: Recording, on: Array) -> Row:
    """Return what was used of the base's limits, and how far it was from its plan."""
    x, y, ahead = recording.facts["vehicle"]["frame"]
    root, twist = recording["poses"][on, 0], recording["twists"][on, 0]
    qw, qx, qy, qz = root[:, 3:].T
    yaw = np.arctan2(2 * (qw * qz + qx * qy), 1 - 2 * (qy * qy + qz * qz))
    arm = np.column_stack([np.cos(yaw) * x - np.sin(yaw) * y, np.sin(yaw) * x + np.cos(yaw) * y])
    way = CubicSpline(recording["plan_time"], recording["plan_vehicle"][:, :2])
    t = recording["time"][on] - recording.facts["settle_s"]
    off = root[:, :2] + arm - way(t)
    moved = twist[:, :2] + twist[:, 5:6] * np.column_stack([-arm[:, 1], arm[:, 0]])
    forward = moved[:, 0] * np.cos(yaw + ahead) + moved[:, 1] * np.sin(yaw + ahead)
    base = from_builtins(WheeledBase, recording.facts["vehicle"], where="vehicle")
    chassis, v = Chassis(base, case.multiplier), recording["v"][on]
    rolling = [np.abs(v[:, w.place]) / w.speed for w in base.driven if w.speed is not None]
    steps = np.abs(np.diff(chassis.commanded_speeds(recording["command"])[0])) * SAMPLE_RATE
    return {
        "base_acceleration_use": float(steps.max(initial=0.0)) / case.base_acceleration,
        "base_speed_use": float(np.abs(forward).max(initial=0.0)) / case.base_speed,
        "base_turning_use": float(np.abs(twist[:, 5]).max(initial=0.0)) / case.base_turning,
        "wheel_speed_use": float(np.max(rolling, initial=0.0)),
        "base_error_mm": 1e3 * float(np.linalg.norm(off, axis=1).max(initial=0.0)),
    }
