"""A walk on four planar linkages: cranks planned, and simulated if an engine is named."""

import numpy as np

from kinetarium.dynamics.kinematics import link_poses
from kinetarium.legs.linkage import FOOT_RADIUS, SERVO_DAMPING, STIFFNESS, LinkageWalker
from kinetarium.legs.walk.crawl import support_margins
from kinetarium.legs.walk.route import travelled
from kinetarium.recording.recording import Channel, Recording
from kinetarium.rollout.loop import run as simulate
from kinetarium.scene import Actuation, Base, DriveMode, PlacedRobot, Scene, ground
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose, rotation_from_quaternion
from kinetarium.studies.walk._drivers import WalkDriver
from kinetarium.studies.walk.config import HOLD, NO_ENGINE, SETTLE, Case

_FRAMES = 96
"""Frames of a cycle."""
_SAMPLE_RATE = 50.0
_LEGS = ("leg1", "leg2", "leg3", "leg4")
_POSE = "m, wxyz"


def walker_of(case: Case) -> LinkageWalker:
    """Return the robot of a case with a linkage."""
    assert case.linkage is not None
    return LinkageWalker(case.linkage, case.unit_m, case.mass)


def linkage_scene(case: Case) -> Scene:
    """Return the scene at the start of the walk, the lowest foot just on the ground."""
    walker = walker_of(case)
    cranks = walker.cranks(np.zeros(1))
    height = -float(walker.feet_in_body(cranks)[0, :, 2].min()) * case.unit_m + FOOT_RADIUS
    servo = Actuation(DriveMode.POSITION, stiffness=STIFFNESS, damping=SERVO_DAMPING)
    robot = PlacedRobot(
        "robot",
        walker.model(),
        Base.FREE,
        frozen(pose((0.0, 0.0, height))),
        positions=walker.positions(cranks[0]),
        actuation=dict.fromkeys(walker.drives, servo),
    )
    return Scene((robot,), (ground(),))


def run_linkage(case: Case) -> Recording:
    """Walk straight for about the length of the path, in whole cycles of four leg steps."""
    walker = walker_of(case)
    length = float(np.hypot(*np.diff(np.array(case.waypoints), axis=0).T).sum())
    moving = max(2, round(length / walker.stride) + 1)  # the first and last cycle at half speed
    frames = np.arange(moving * _FRAMES + 1, dtype=np.float64)
    time: Array = frames * (4 * case.step_time / _FRAMES)
    phase = travelled(frames / _FRAMES, moving) * (moving - 1)
    cranks, support = walker.cranks(phase), walker.support(phase)
    feet = walker.feet_in_body(cranks)
    margin = support_margins(feet, support, np.zeros((len(time), 3)))
    scene = linkage_scene(case)
    (robot,) = scene.robots
    names = [joint.name for joint in robot.model.moving_joints]
    if case.engine == NO_ENGINE:
        rows = [walker.positions(row) for row in cranks]
        q = np.array([[row[name] for name in names] for row in rows])
        body = np.zeros((len(time), 1, 7))
        body[:, 0, 0] = phase * walker.stride * case.unit_m
        body[:, 0, 2], body[:, 0, 3] = robot.X_WB[2, 3], 1.0
        channels = {
            "time": Channel(time, "s"),
            "q": Channel(q, "rad", tuple(f"robot/{name}" for name in names)),
            "poses": Channel(body, _POSE, ("robot/body",)),
        }
        recorded, frame = Recording(channels, "running"), np.arange(len(time))
    else:
        driven = [name for name in names if name in walker.drives]
        columns = [walker.drives.index(name) for name in driven]
        recorded = simulate(
            scene,
            engine=case.engine,
            duration=SETTLE + float(time[-1]) + HOLD,
            controller=WalkDriver(time + SETTLE, cranks[:, columns]),
            sample_rate=_SAMPLE_RATE,
        )
        frame = np.searchsorted(time, recorded["time"] - SETTLE, side="right") - 1
        frame = np.clip(frame, 0, len(time) - 1)
    own = _channels(case, walker, recorded)
    own |= {
        "support": Channel(support[frame].astype(np.float64), "-", _LEGS),
        "margin": Channel(margin[frame] * case.unit_m, "m"),
    }
    facts = {
        "order": [1, 2, 3, 4],
        "table1_row": 1,
        "stride": walker.stride,
        "way": float(phase[-1]) * walker.stride,
        "min_margin": float(margin.min()),
        "mean_margin": float(margin.mean()),
        "foot_gap": None,
        "joint_travel": {"crank": float(np.abs(np.diff(cranks, axis=0)).sum())},
        "drive_work": None,
        "walking_volume": None,
        "min_dynamic_margin": None,
        "sway": 0.0,
        "step_time": case.step_time,
        "goal": [float(phase[-1]) * walker.stride, 0.0],
        "turn": 0.0,
        "path": [[0.0, 0.0], [float(phase[-1]) * walker.stride, 0.0]],
        "limit_violations": 0,
        "warnings": [],
    }
    return Recording(
        {**recorded.channels, **own}, recorded.status, {**recorded.facts, "plan": facts}
    )


def _channels(case: Case, walker: LinkageWalker, recorded: Recording) -> dict[str, Channel]:
    model = walker.model()
    body, q = np.asarray(recorded["poses"][:, 0]), np.asarray(recorded["q"])
    X_WB = np.array([pose(row[:3], rotation_from_quaternion(row[3:])) for row in body])
    X_WL = link_poses(model, q, X_WB=X_WB)
    index = {link.name: i for i, link in enumerate(model.links)}
    shank, offset = walker.foot_in_link
    point = np.append(offset, 1.0)
    feet = np.stack([(X_WL[:, index[f"{leg}_{shank}"]] @ point)[:, :3] for leg in _LEGS], axis=1)
    gaps = [
        (X_WL[:, index[loop.link_a]] @ loop.X_AC - X_WL[:, index[loop.link_b]] @ loop.X_BC)
        for loop in model.loops
    ]
    gap = np.linalg.norm(np.array(gaps)[:, :, :3, 3], axis=2).max(axis=0)
    columns = [joint.name for joint in model.moving_joints]
    cranks = q[:, [columns.index(name) for name in walker.drives]]
    channels = {
        "body": Channel(body, _POSE, ("x", "y", "z", "qw", "qx", "qy", "qz")),
        "joints": Channel(cranks, "rad", tuple(f"{leg}/crank" for leg in _LEGS)),
        "feet": Channel(feet, "m", _LEGS),
        "loop_gap": Channel(gap, "m"),
    }
    if "command" in recorded.channels:
        channels |= _forces(walker, recorded, cranks)
    return channels


def _forces(walker: LinkageWalker, recorded: Recording, cranks: Array) -> dict[str, Channel]:
    """Return torque and rate of the cranks."""
    joints = [name.split("/", 1)[1] for name in recorded.channels["v"].columns]
    commands = [name.split("/", 1)[1] for name in recorded.channels["command"].columns]
    rate = recorded["v"][:, [joints.index(name) for name in walker.drives]]
    wanted = recorded["command"][:, [commands.index(name) for name in walker.drives]]
    torque = STIFFNESS * (wanted - cranks) - SERVO_DAMPING * rate
    return {
        "drive_force": Channel(torque, "N m", walker.drives),
        "drive_rate": Channel(rate, "rad/s", walker.drives),
    }
