"""One query: the base for a set of poses, or the motion of a base along a trajectory; measures."""

from functools import partial
from math import atan2

import numpy as np
from numpy.typing import NDArray

from kinetarium.control.vehicle.robot_base import vehicle
from kinetarium.dynamics.kinematics import link_poses
from kinetarium.reach.placement.branches import Flip, limit_margins
from kinetarium.reach.placement.files import read_task, read_trajectory
from kinetarium.reach.placement.follow import USES, follow
from kinetarium.reach.placement.query import BasePlacement, Placer
from kinetarium.reach.placement.whole_body import BaseLimits
from kinetarium.recording.recording import Channel, Recording, Row
from kinetarium.roles.find import find_roles
from kinetarium.roles.roles import RolesError
from kinetarium.roles.studied_robot import StudiedRobot, with_base
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose, pose, rotation_about
from kinetarium.storage.serialization import from_builtins, to_builtins
from kinetarium.studies.reach.placement.cases import Case, placer_of, read_unchanged
from kinetarium.studies.reach.placement.config import BaseDrive, FollowCase


def run(case: Case) -> Recording:
    """Find the base, or the motion of the base.

    Raises:
        KinetariumError: If no base reaches any of the poses, or a file has changed.
    """
    placer = placer_of(case)
    if isinstance(case, FollowCase):
        return _follow(case, placer)
    task = read_unchanged(case, "poses", partial(read_task, free=case.free))
    placement = placer.place(
        task,
        objective=case.objective,
        effort=case.effort,
        continuous=case.continuous,
        tool_speed=case.tool_speed,
    )
    return record_placement(placement, task.X_WT, placer=placer)


def record_placement(placement: BasePlacement, poses: Array, *, placer: Placer) -> Recording:
    """Record a base, its solutions, and the scores of a raster of positions by the map.

    Args:
        poses: Poses X_WT of the tool, shape (n, 4, 4).
        placer: The map, the robot and the obstacles.
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


def _base_limits(case: FollowCase, placer: Placer) -> BaseLimits:
    """Return what the base can do: by its wheels, if it has any, and the flags."""
    mount, wheels = (0.0, 0.0, 0.0), case.drive is BaseDrive.WHEELS
    chain = placer.arm.chain
    if case.drive is not BaseDrive.OMNIDIRECTIONAL:
        found = find_roles(chain.model)
        robot = StudiedRobot(with_base(chain.model, found.base.kind), found)
        try:
            x, y, heading = vehicle(robot).frame
        except RolesError:  # no wheels, or wheels with rollers
            pass
        else:
            wheels = True
            links = [link.name for link in robot.model.links]
            q = [robot.home[joint.name] for joint in robot.model.moving_joints]
            X_RB = link_poses(robot.model, q)[links.index(chain.base_link)]
            X_RV = pose((x, y, 0.0), rotation_about((0.0, 0.0, 1.0), heading))
            X_VB = inverse_pose(X_RV) @ X_RB
            mount = (float(X_VB[0, 3]), float(X_VB[1, 3]), atan2(X_VB[1, 0], X_VB[0, 0]))
    return BaseLimits(
        case.speed, case.turning, case.acceleration, case.turning_acceleration, not wheels, mount
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
