"""One query: the base for a set of poses, or the motion of a base along a trajectory; measures."""

from dataclasses import replace
from functools import partial
from math import atan2
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kinetarium.dynamics.kinematics import link_poses
from kinetarium.reach.placement.branches import Flip, limit_margins
from kinetarium.reach.placement.files import TaskPoses, read_task, read_trajectory
from kinetarium.reach.placement.query import BasePlacement, Placer
from kinetarium.reach.placement.robust import BaseError
from kinetarium.recording.recording import Channel, Recording, Row
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose, pose, rotation_about
from kinetarium.storage.serialization import from_builtins, to_builtins
from kinetarium.studies.reach.placement.cases import (
    Case,
    error_of,
    placer_of,
    read_unchanged,
    vehicle_of,
)
from kinetarium.studies.reach.placement.config import BaseDrive, FollowCase, PlaceCase, StopCount

if TYPE_CHECKING:
    from kinetarium.reach.placement.whole_body import BaseMotionLimits

_STANDING = ("root_pose", "kept", "robust", "others", "tour")
"""What a row has of where the robot stands."""


def run(case: Case) -> Recording:
    """Find the base, or the motion of the base.

    Raises:
        KinetariumError: If no base reaches any of the poses, or a file has changed.
    """
    placer = placer_of(case)
    if isinstance(case, FollowCase):
        return _follow(case, placer)
    task = read_unchanged(case, "poses", partial(read_task, free=case.free))
    error = error_of(case)
    if case.stops is StopCount.AUTO:
        return _record_stops(case, task, placer=placer, error=error)
    if error is not None:
        found = placer.place_robust(
            task, error=error, k=case.k, objective=case.objective, effort=case.effort
        )
        others = [_root(one) for one in found[1:]]
        return record_placement(found[0], task.X_WT, placer=placer, others=others)
    placement = placer.place(
        task,
        objective=case.objective,
        effort=case.effort,
        continuous=case.continuous,
        tool_speed=case.tool_speed,
    )
    return record_placement(placement, task.X_WT, placer=placer)


def _record_stops(
    case: PlaceCase, task: TaskPoses, *, placer: Placer, error: BaseError | None
) -> Recording:
    """Find the fewest stops, and record for each pose its solution at the stop that reaches it."""
    # Imported here, since one base needs no cover.
    from kinetarium.reach.placement.stops import EXACTLY, place_stops

    start = perf_counter()
    found = place_stops(placer, task, error=error or EXACTLY, objective=case.objective)
    elapsed = perf_counter() - start
    first, stop_of = found.bases[0], found.stop_of
    joints, quality = np.full_like(first.joints, np.nan), np.full(len(stop_of), np.nan)
    clearance = np.full(len(stop_of), np.nan)
    for stop, one in enumerate(found.bases):
        here = stop_of == stop
        joints[here], quality[here] = one.joints[here], one.manipulability[here]
        clearance[here] = placer.clearances(one)[here]
    whole = replace(
        first, reached=stop_of >= 0, joints=joints, manipulability=quality, elapsed=elapsed
    )
    stops = [
        {**_root(one), "poses": np.flatnonzero(stop_of == stop).tolist()}
        for stop, one in enumerate(found.bases)
    ]
    recording = record_placement(whole, task.X_WT, placer=placer, tour=stops)
    bases = np.array([found.bases[max(stop, 0)].X_WB for stop in stop_of])
    channels = {"clearance": Channel(clearance, "m"), "pose_bases": Channel(bases, "m")}
    return replace(recording, channels={**recording.channels, **channels})


def _root(placement: BasePlacement) -> dict[str, object]:
    """Return where the root of a robot is to stop, as JSON-like data."""
    x, y, z = placement.X_WR[:3, 3].tolist()
    pose = {"x": x, "y": y, "z": z, "yaw": placement.root_yaw, "pose": placement.X_WR.tolist()}
    if placement.kept is None:
        return {"root_pose": pose}
    return {"root_pose": pose, "kept": placement.kept.tolist(), "robust": placement.robust}


def record_placement(
    placement: BasePlacement, poses: Array, *, placer: Placer, **facts: object
) -> Recording:
    """Record a base, its solutions, and the scores of a raster of positions by the map.

    Args:
        poses: Poses X_WT of the tool, shape (n, 4, 4).
        placer: The map, the robot and the obstacles.
        facts: What else is known of the base.
    """
    arm = placer.arm
    x, y, scores = placer.scores(inverse_pose(placer.plane.frame) @ poses)
    channels = {
        "time": Channel(np.arange(float(len(poses))), "number of the pose"),
        "poses": Channel(poses, "m"),
        "joints": Channel(placement.joints, "rad or m", placer.arm.chain.joints),
        "manipulability": Channel(placement.manipulability, "m^3"),
        "limit_margin": Channel(limit_margins(arm.chain.arrays, placement.joints), "rad"),
        "clearance": Channel(placer.clearances(placement), "m"),
        "x": Channel(x, "m"),
        "y": Channel(y, "m"),
        "scores": Channel(scores, "-"),
    }
    base: dict[str, object] = {"X_WB": placement.X_WB.tolist(), "yaw_rad": placement.yaw}
    base |= {**_root(placement), **facts}
    if placement.flips is not None and placement.strain is not None:
        base["flips"] = [to_builtins(flip) for flip in placement.flips]
        channels["strain"] = Channel(placement.strain, "1")
    timing = {"query_s": placement.elapsed}
    return Recording(channels, "running", {**_arm(placer), **base}, timing)


def recorded_placement(recording: Recording) -> BasePlacement:
    """Return the placement that was recorded, without its computing time."""
    X_WB, yaw = np.array(recording.facts["X_WB"]), recording.facts["yaw_rad"]
    joints, quality = recording["joints"], recording["manipulability"]
    flips, strain = None, None
    if (kept := recording.facts.get("flips")) is not None:
        flips = tuple(from_builtins(Flip, flip, where="a flip") for flip in kept)
        strain = recording["strain"]
    reached = was_reached(recording)
    return BasePlacement(X_WB, yaw, reached, joints, quality, 0.0, flips, strain)


def was_reached(recording: Recording) -> NDArray[np.bool_]:
    """Return whether each pose was reached, shape (n,)."""
    return ~np.isnan(recording["manipulability"])


def _follow(case: FollowCase, placer: Placer) -> Recording:
    # Imported here: a placement is over before SciPy's splines are loaded.
    from kinetarium.reach.placement.follow import USES, follow

    times, poses = read_unchanged(case, "trajectory", read_trajectory)
    limits = _base_limits(case, placer)
    way = follow(placer, times, poses=poses, limits=limits, acceleration=case.joint_acceleration)
    channels = {
        "time": Channel(way.times, "s"),
        "poses": Channel(poses, "m"),
        "bases": Channel(way.bases, "m, m, rad", ("x", "y", "yaw")),
        "vehicle": Channel(way.vehicle, "m, m, rad", ("x", "y", "yaw")),
        "joints": Channel(way.joints, "rad or m", placer.arm.chain.joints),
        "manipulability": Channel(way.manipulability, "m^3"),
        "limit_use": Channel(way.use, "-", USES),
        "collides": Channel(way.collides.astype(float), "-"),
        "arc": Channel(way.arc, "m"),
    }
    facts = {
        "base_limits": to_builtins(limits),
        "faults": [to_builtins(fault) for fault in way.faults],
    }
    return Recording(channels, "running", {**_arm(placer), **facts}, {"plan_s": way.elapsed})


def _base_limits(case: FollowCase, placer: Placer) -> "BaseMotionLimits":
    """Return what the base can do: by its wheels, if it has any, and the flags."""
    # Imported here, as above.
    from kinetarium.control.vehicle.wheeled_base import Chassis
    from kinetarium.reach.placement.whole_body import BaseMotionLimits

    mount, wheels = (0.0, 0.0, 0.0), case.drive is BaseDrive.WHEELS
    speed, turning = case.speed, case.turning
    if found := vehicle_of(case):
        robot, base = found
        wheels, chassis = True, Chassis(base)
        speed, _ = chassis.within_wheels((speed, 0.0))
        _, turning = chassis.within_wheels((0.0, turning))
        x, y, heading = base.frame
        links = [link.name for link in robot.model.links]
        q = [robot.home[joint.name] for joint in robot.model.moving_joints]
        X_RB = link_poses(robot.model, q)[links.index(placer.arm.chain.base_link)]
        X_RV = pose((x, y, 0.0), rotation_about((0.0, 0.0, 1.0), heading))
        X_VB = inverse_pose(X_RV) @ X_RB
        mount = (float(X_VB[0, 3]), float(X_VB[1, 3]), atan2(X_VB[1, 0], X_VB[0, 0]))
    return BaseMotionLimits(
        speed, turning, case.acceleration, case.turning_acceleration, not wheels, mount
    )


def _arm(placer: Placer) -> dict[str, object]:
    chain = placer.arm.chain
    return {"base_link": chain.base_link, "tool": chain.tool, "radius_m": placer.radius}


def score(case: Case, recording: Recording) -> Row:
    """Return the base and what it reaches, or how much of a trajectory was reached.

    Returns:
        For reach-place:
        base: Its "x", "y", "z" [m], "yaw" about the plane's normal [rad], and "pose" X_WB.
        reachable, total: How many poses are reached, of how many.
        manipulability: Mean over those that are reached [m^3].
        limit_margin: Least distance of a turning joint from its limits at any of them [rad];
            None without limits.
        clearance_m: Least distance from obstacles, at most 0.5 [m]; None without obstacles.
        joints: Joint positions for each pose [rad or m]; None where it is not reached.
        flips: Changes of the configuration along the list, each with the poses "before" and
            "after", the "joint" that moves most and its "positions"; None if not continuous.
        slow: Poses on the way to which a joint would exceed its speed; None if not continuous.
        root_pose: Where the robot's root stands: "x", "y", "z" [m], "yaw" [rad], "pose" X_WR.
        kept: The fraction of the errors of the base at which each pose is reached, and robust:
            whether that is all of them everywhere; None without such errors.
        others: Further bases, each with "root_pose", "kept" and "robust".
        tour: The stops in their order, each with its "root_pose" and "poses"; None for one base.

        For reach-follow:
        poses, reached: How many poses there are, and how many were reached.
        duration_s: Time from the first to the last [s].
        way_m: Length of the base's path [m].
        drivable: Whether all are reached, no limit is exceeded and nothing collides.
        violations: Ticks at which one of this is not so.
        joint_speed_use, joint_acceleration_use, base_speed_use, base_turning_use,
            base_acceleration_use, base_turning_acceleration_use: The greatest use of a limit [-].
        sideways_mm: The greatest sideways motion of the vehicle in a tick [mm].
        faults: Where it cannot be driven: "begin_m" and "end_m" along the tool's path, "reason".
    """
    if not isinstance(case, FollowCase):
        placement = recorded_placement(recording)
        strain = placement.strain
        return {
            **placement.as_json(),
            "limit_margin": _least(recording["limit_margin"]),
            "clearance_m": _least(recording["clearance"]),
            "slow": None if strain is None else np.flatnonzero(strain > 1.0).tolist(),
            **{name: recording.facts.get(name) for name in _STANDING},
        }
    time, steps = recording["time"], np.diff(recording["bases"][:, :2], axis=0)
    return {
        "poses": len(time),
        "reached": int(was_reached(recording).sum()),
        "duration_s": float(time[-1] - time[0]),
        "way_m": float(np.hypot(steps[:, 0], steps[:, 1]).sum()),
        **(_driven(recording) if "limit_use" in recording.channels else {}),
    }


def _driven(recording: Recording) -> Row:
    """Return what is used of the limits; recordings of earlier releases do not have it."""
    from kinetarium.reach.placement.follow import USES

    use, vehicle = recording["limit_use"], recording["vehicle"]
    steps, mean = np.diff(vehicle, axis=0), 0.5 * (vehicle[1:, 2] + vehicle[:-1, 2])
    aside = np.cos(mean) * steps[:, 1] - np.sin(mean) * steps[:, 0]
    faults = recording.facts["faults"]
    names = [f"{name.replace(' ', '_')}_use" for name in USES]
    return {
        "drivable": not faults,
        "violations": sum(fault["last"] - fault["first"] + 1 for fault in faults),
        **dict(zip(names, use.max(axis=0).tolist(), strict=True)),
        "sideways_mm": 1e3 * float(np.abs(aside).max(initial=0.0)),
        "faults": [
            {"begin_m": fault["begin"], "end_m": fault["end"], "reason": fault["reason"]}
            for fault in faults
        ],
    }


def _least(values: Array) -> float | None:
    """Return the least of the values that are numbers, if there is one."""
    finite = values[np.isfinite(values)]
    return float(finite.min()) if len(finite) else None
