"""One run: a body or a robot is dropped onto the ground; its measures and the verdict on them."""

from dataclasses import replace
from enum import StrEnum
from math import cos, degrees, pi, radians
from typing import Any

import numpy as np

from kinetarium.control.interface import ConstantCommand
from kinetarium.engines.protocol import Options, Status
from kinetarium.engines.registry import open_engine, refinements
from kinetarium.model.robot import Box, Capsule, Cylinder, Shape, Sphere
from kinetarium.recording.recording import Channel, Recording, Row
from kinetarium.rollout.loop import run as simulate
from kinetarium.scene import Body, Plane, Scene, extent, free_body, home_command
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.gravity import GRAVITY
from kinetarium.spatial.rotation import pose, rotation_about, rotation_from_quaternion
from kinetarium.studies.drop._robot import dropped_robot, robot_fall
from kinetarium.studies.drop.config import Case, Falling, fall_time, fallen, impact_speed

_ROBOT_PERIOD = 5e-3
"""Time between two samples of a robot [s], of which each takes its whole kinematics."""


def run(case: Case) -> Recording:
    """Drop the body or the robot and record it, a body at every step.

    A bad result of a robot that has shapes is checked by more precise simulations; the verdict
    stays that of the engine's defaults, and has their results in its cause.
    """
    dropped = scene(case)
    recording = _dropped(case, dropped)
    if not case.robot or not recording.facts["shapes"]:
        return recording
    refined: list[dict[str, str]] = []
    if score(case, recording)["verdict"] not in _GOOD:
        for finer in refinements(open_engine(case.engine), timestep=case.timestep):
            again = replace(case, timestep=finer.timestep)
            verdict = score(again, _dropped(again, dropped, options=finer.options))["verdict"]
            refined.append({"with": finer.words, "verdict": verdict})
            if verdict in _GOOD:
                break
    return replace(recording, facts={**recording.facts, "refined": refined})


def _dropped(case: Case, dropped: Scene, *, options: Options | None = None) -> Recording:
    """Simulate and measure the fall."""
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
        options=options,
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


_REST_SPEED = 1e-3
"""Speed below which the box is considered at rest [m/s]."""

_NEAR = 1e-3
"""Distance from the ground at which a contact may have begun: margins of engines [m]."""

FALL_ERRORS = 3.0
"""Error of a correct fall over that of semi-implicit Euler [-]: some engines sample a step late."""
EXPLODES = 1.0
"""Energy gain over that of the fall [-]: what falls would rise higher than it was dropped from."""
GAINS = 0.02
"""Energy gain over that of the fall [-]: ten times what the samples and rounding explain."""
SINKS = 0.01
"""Depth at the end [m]: soft contacts of any engine give way by a few millimetres."""
MOVES = 0.02
"""Speed at the end [m/s]: what rolls or slides is faster, what creeps in soft contacts slower."""


class Verdict(StrEnum):
    """The result of a fall."""

    RESTS = "rests"
    """It lies on the ground."""
    MOVES = "moves"
    """It has not come to rest: it rolls, slides or tumbles."""
    GAINS = "gains energy"
    """It has more energy after the impact than before."""
    SINKS = "sinks"
    """It is below the ground at the end."""
    MISFALLS = "misfalls"
    """Before the impact it does not fall by the closed form."""
    EXPLODES = "explodes"
    """It has more than twice the energy of the fall."""
    DIVERGED = "diverged"
    """The simulation became unstable."""


_GOOD = (Verdict.RESTS, Verdict.MOVES)


def score(case: Case, recording: Recording) -> Row:
    """Compare a fall with the closed form, and measure how the box rests.

    Of a robot the height is that of its centre of mass, which falls as any body does.

    Returns:
        fall_error_m: Largest difference from the closed form before the impact.
        first_order_m: Expected error of semi-implicit Euler, g t dt / 2.
        impact_speed_error: Relative error of the greatest speed; of a robot, of the speed in the
            last sample before the impact.
        bounce_m: Height of the lower face above the ground after the first contact.
        settle_s: Time from the impact of the closed form to rest, 0 for a box that stops where
            it lands; None if never.
        rest_depth_m: Penetration depth at the end.
        rest_tilt_deg, drift_m: Tilt and displacement along the ground at the end.
        depth_m: Greatest penetration depth.
        energy_gain: Greatest energy over that at the start, over that of the fall; not above 0
            but for errors of the integrator.
        verdict, cause: One of `Verdict`, and the measure that shows it.
    """
    time, height = recording["time"], lower_face(case, recording)
    impact = fall_time(case.height)
    falling = time < _contact_time(case, recording) - case.timestep
    error = np.abs(height - cos(radians(case.slope)) * (case.height - fallen(time)))[falling]
    speed = recording["fall"][:, 5]
    after = height[time > impact + case.timestep]
    row: dict[str, Any] = {
        "fall_error_m": float(error.max()) if error.size else None,
        "first_order_m": GRAVITY * impact * case.timestep / 2,
        "impact_speed_error": _impact_error(case, recording),
        "bounce_m": max(0.0, float(after.max())) if after.size else None,
        "settle_s": _settling(time, speed, impact=impact),
        "rest_depth_m": -float(_gap(case, recording)[-1]),
        "rest_tilt_deg": _turned(case, recording),
        "drift_m": _drift(case, recording),
    }
    energy = recording["fall"][:, 4]
    row["depth_m"] = max(0.0, -float(recording["fall"][:, 3].min()))
    gain = float((energy - energy[0]).max()) / (recording.facts["mass"] * GRAVITY * case.height)
    row["energy_gain"] = gain
    verdict, cause = _verdict(case, recording, row=row, speed=float(speed[-1]))
    return {**row, "verdict": str(verdict), "cause": f"{cause}{_refined(recording)}"}


def _refined(recording: Recording) -> str:
    """Return in words what more precise simulations gave, the last of which may be good."""
    tried = recording.facts.get("refined") or ()
    if not tried:
        return ""
    if tried[-1]["verdict"] in _GOOD:
        return f"; with {tried[-1]['with']} it {tried[-1]['verdict']}"
    return f"; no better with {' or with '.join(each['with'] for each in tried)}"


def lower_face(case: Case, recording: Recording) -> Array:
    """Return the height of what falls above the slope [m], shape (samples,).

    That of the centre of a box's lower face; of a robot the distance of its centre of mass from
    where it would be at the first contact.
    """
    if case.robot:
        center = recording["fall"][:, :3] @ normal(case)
        return np.asarray(center - center[0] + case.height * normal(case)[2])
    height: Array = recording["poses"][:, 0, :3] @ normal(case) - case.size / 2
    return height


def _gap(case: Case, recording: Recording) -> Array:
    return recording["fall"][:, 3] if case.robot else lower_face(case, recording)


def _contact_time(case: Case, recording: Recording) -> float:
    """Return the time of the first contact [s]: that of the closed form, or when a robot is near.

    A robot whose springs are not relaxed at home stretches while it falls.
    """
    near = recording["fall"][:, 3] < _NEAR
    if case.robot and near.any():
        return min(fall_time(case.height), float(recording["time"][np.argmax(near)]))
    return fall_time(case.height)


def _impact_error(case: Case, recording: Recording) -> float:
    """Return the relative error of the greatest speed, or of that in the last sample of a fall."""
    time, speed = recording["time"], recording["fall"][:, 5]
    impact = fall_time(case.height)
    if case.robot:
        end = _contact_time(case, recording) - case.timestep
        falling = np.flatnonzero((time > 0) & (time < end))
        if not falling.size:
            return 0.0
        return float(speed[falling[-1]] / (GRAVITY * time[falling[-1]])) - 1
    # On a slope it may slide faster later.
    fastest = speed[time < impact + 2 * case.timestep] if case.slope else speed
    return float(fastest.max()) / impact_speed(case.height) - 1


def _verdict(case: Case, recording: Recording, *, row: Row, speed: float) -> tuple[Verdict, str]:
    gain, time = row["energy_gain"], recording["time"]
    # The energy of semi-implicit Euler is off by dt / t at the impact.
    explained = GAINS + case.timestep / fall_time(case.height)
    wrong = FALL_ERRORS * row["first_order_m"] + 1e-5 * case.height
    if recording.status == Status.DIVERGED:
        return Verdict.DIVERGED, f"after {time[-1]:g} s, energy {gain:+.0%}"
    if gain > EXPLODES:
        return Verdict.EXPLODES, f"its energy grows by {gain:.3g} times that of the fall"
    if row["fall_error_m"] is not None and row["fall_error_m"] > wrong:
        return Verdict.MISFALLS, f"{1e3 * row['fall_error_m']:.3g} mm from the closed form"
    if recording.facts.get("shapes") == 0:
        return Verdict.SINKS, "it has no collision shapes"
    if row["rest_depth_m"] > SINKS:
        return Verdict.SINKS, f"{1e3 * row['rest_depth_m']:.3g} mm deep at the end"
    if gain > explained:
        return Verdict.GAINS, f"{gain:+.1%} at the impact or later"
    if speed > MOVES:
        return Verdict.MOVES, f"{speed:.2g} m/s at the end"
    return Verdict.RESTS, ""


def _settling(time: Array, speed: Array, *, impact: float) -> float | None:
    moving = np.flatnonzero(speed > _REST_SPEED)
    last = int(moving[-1]) if moving.size else 0
    return max(0.0, float(time[last]) - impact) if last + 1 < time.size else None


def _turned(case: Case, recording: Recording) -> float:
    """Return the angle by which it has turned away from the ground's normal [deg]."""
    first, last = (rotation_from_quaternion(recording["poses"][i, 0, 3:]) for i in (0, -1))
    up = normal(case)
    upright = float(up @ (last @ first.T) @ up)
    return degrees(np.arccos(np.clip(upright, -1.0, 1.0)))


def _drift(case: Case, recording: Recording) -> float:
    """Return the displacement along the ground at the end, from where it meets the ground [m]."""
    up = normal(case)
    start, end = recording["poses"][0, 0, :3], recording["poses"][-1, 0, :3]
    moved = end - start + np.array([0.0, 0.0, case.height])
    return float(np.linalg.norm(moved - (moved @ up) * up))
