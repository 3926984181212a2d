"""One run: a body or a robot is dropped onto the ground."""

from dataclasses import replace
from math import pi, radians

import numpy as np

from kinetarium.control.interface import ConstantCommand
from kinetarium.model.robot import Box, Capsule, Cylinder, Shape, Sphere
from kinetarium.recording.recording import Channel, Recording
from kinetarium.rollout.loop import run as simulate
from kinetarium.scene import Body, Plane, Scene, extent, free_body, home_command
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose, rotation_about, rotation_from_quaternion
from kinetarium.studies.drop._robot import dropped_robot, robot_fall
from kinetarium.studies.drop.cases import GRAVITY
from kinetarium.studies.drop.config import Case, Falling

_ROBOT_PERIOD = 5e-3
"""Time between two samples of a robot [s], of which each takes its whole kinematics."""


def run(case: Case) -> Recording:
    """Drop the body or the robot and record it, a body at every step."""
    dropped = scene(case)
    rate = 1 / case.timestep
    if case.robot:
        rate /= max(1, round(_ROBOT_PERIOD / case.timestep))
    recording = simulate(
        dropped,
        engine=case.engine,
        duration=case.duration,
        controller=ConstantCommand(home_command(dropped.robots[0]), rate) if case.robot else None,
        timestep=case.timestep,
        sample_rate=rate,
        seed=case.seed,
    )
    fall = (
        robot_fall(dropped.robots[0], recording, normal=normal(case))
        if case.robot
        else _body_fall(case, dropped.bodies[1], recording)
    )
    columns = ("x", "y", "z", "gap", "energy", "speed")
    channels = {**recording.channels, "fall": Channel(fall, "m, J, m/s", columns)}
    facts = {**recording.facts, "mass": dropped.robots[0].model.mass if case.robot else case.mass}
    if case.robot:
        facts["shapes"] = sum(len(link.collisions) for link in dropped.robots[0].model.links)
    return replace(recording, channels=channels, facts=facts)


def scene(case: Case) -> Scene:
    """Return the scene, what falls at the drop height above the ground and aligned with it."""
    ground = Body("ground", Plane(), X_WB=frozen(pose(rotation=_tilt(case))))
    gravity = frozen([0.0, 0.0, -GRAVITY])
    # A body falls along the vertical, and meets the slope after the drop height.
    gap = case.height * normal(case)[2]
    if case.robot:
        robot = case.reading.open(case.robot, sha256=case.sha256)
        return Scene((dropped_robot(robot, rotation=_tilt(case), gap=gap),), (ground,), (), gravity)
    lying = rotation_about((0.0, 1.0, 0.0), pi / 2) if case.shape is Falling.CAPSULE else np.eye(3)
    body = free_body(
        "box",
        _shape(case),
        mass=case.mass,
        position=normal(case) * (gap + case.size / 2),
        rotation=_tilt(case) @ lying,
    )
    return Scene(bodies=(ground, body), gravity=gravity)


def normal(case: Case) -> Array:
    """Return the unit normal of the ground, upwards, shape (3,)."""
    up: Array = _tilt(case)[:, 2]
    return up


def _tilt(case: Case) -> Array:
    return rotation_about((0.0, 1.0, 0.0), radians(case.slope)) if case.slope else np.eye(3)


def _shape(case: Case) -> Shape:
    size = case.size
    match case.shape:
        case Falling.BOX:
            return Box((size, size, size))
        case Falling.SPHERE:
            return Sphere(size / 2)
        case Falling.CYLINDER:
            return Cylinder(size / 2, size)
        case Falling.CAPSULE:
            return Capsule(size / 2, size)


def _body_fall(case: Case, body: Body, recording: Recording) -> Array:
    """Return centre, gap to the ground, energy and speed of a body, shape (samples, 6)."""
    assert body.inertia is not None and not isinstance(body.shape, Plane)
    poses, twists = recording["poses"][:, 0], recording["twists"][:, 0]
    R_WB = np.array([rotation_from_quaternion(q) for q in poses[:, 3:]]).reshape(-1, 3, 3)
    up = normal(case)
    gap = poses[:, :3] @ up - extent(body.shape, -up @ R_WB)
    spin = np.einsum("nij,ni->nj", R_WB, twists[:, 3:])
    energy = case.mass * (GRAVITY * poses[:, 2] + np.sum(twists[:, :3] ** 2, axis=1) / 2)
    energy += np.einsum("ni,ij,nj->n", spin, body.inertia.moment, spin) / 2
    speed = np.linalg.norm(twists[:, :3], axis=1)
    return np.column_stack([poses[:, :3], gap, energy, speed])
