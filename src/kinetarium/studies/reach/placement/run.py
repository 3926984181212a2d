"""One query: the base for a set of poses, or the motion of a base along a trajectory."""

import numpy as np
from numpy.typing import NDArray

from kinetarium.reach.placement.files import read_poses, read_trajectory
from kinetarium.reach.placement.follow import BaseSpeedLimits, follow
from kinetarium.reach.placement.query import BasePlacement, Placer
from kinetarium.recording.recording import Channel, Recording
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose
from kinetarium.studies.reach.placement.cases import Case, placer_of, read_unchanged
from kinetarium.studies.reach.placement.config import FollowCase


def run(case: Case) -> Recording:
    """Find the base, or the motion of the base.

    Raises:
        KinetariumError: If no base reaches any of the poses, or a file has changed.
    """
    placer = placer_of(case)
    if isinstance(case, FollowCase):
        return _follow(case, placer)
    poses = read_unchanged(case, "poses", read_poses)
    placement = placer.place(poses, objective=case.objective, effort=case.effort)
    return record_placement(placement, poses, placer=placer)


def record_placement(placement: BasePlacement, poses: Array, *, placer: Placer) -> Recording:
    """Record a base, its solutions, and the scores of a raster of positions by the map.

    Args:
        poses: Poses X_WT of the tool, shape (n, 4, 4).
        placer: The map, the robot and the obstacles.
    """
    x, y, scores = placer.scores(inverse_pose(placer.plane.frame) @ poses)
    channels = {
        "time": Channel(np.arange(float(len(poses))), "number of the pose"),
        "poses": Channel(poses, "m"),
        "joints": Channel(placement.joints, "rad or m", placer.arm.chain.joints),
        "manipulability": Channel(placement.manipulability, "m^3"),
        "x": Channel(x, "m"),
        "y": Channel(y, "m"),
        "scores": Channel(scores, "-"),
    }
    base = {"X_WB": placement.X_WB.tolist(), "yaw_rad": placement.yaw}
    timing = {"query_s": placement.elapsed}
    return Recording(channels, "running", {**_arm(placer), **base}, timing)


def recorded_placement(recording: Recording) -> BasePlacement:
    """Return the placement that was recorded, without its computing time."""
    X_WB, yaw = np.array(recording.facts["X_WB"]), recording.facts["yaw_rad"]
    joints, quality = recording["joints"], recording["manipulability"]
    return BasePlacement(X_WB, yaw, was_reached(recording), joints, quality, 0.0)


def was_reached(recording: Recording) -> NDArray[np.bool_]:
    """Return whether each pose was reached, shape (n,)."""
    return ~np.isnan(recording["manipulability"])


def _follow(case: FollowCase, placer: Placer) -> Recording:
    times, poses = read_unchanged(case, "trajectory", read_trajectory)
    way = follow(placer, times, poses=poses, limits=BaseSpeedLimits(case.speed, case.turning))
    channels = {
        "time": Channel(way.times, "s"),
        "poses": Channel(poses, "m"),
        "bases": Channel(way.bases, "m, m, rad", ("x", "y", "yaw")),
        "joints": Channel(way.joints, "rad or m", placer.arm.chain.joints),
        "manipulability": Channel(way.manipulability, "m^3"),
    }
    timing = {"tick_s": float(way.plans.mean()), "slowest_tick_s": float(way.plans.max())}
    return Recording(channels, "running", _arm(placer), timing)


def _arm(placer: Placer) -> dict[str, object]:
    chain = placer.arm.chain
    return {"base_link": chain.base_link, "tool": chain.tool, "radius_m": placer.radius}
