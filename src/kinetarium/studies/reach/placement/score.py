"""Measures of a base placement, or of the motion of a base."""

import numpy as np

from kinetarium.recording.recording import Recording, Row
from kinetarium.spatial.arrays import Array
from kinetarium.studies.reach.placement.cases import Case
from kinetarium.studies.reach.placement.config import FollowCase
from kinetarium.studies.reach.placement.run import recorded_placement, was_reached


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
    }


def _least(values: Array) -> float | None:
    """Return the least of the values that are numbers, if there is one."""
    finite = values[np.isfinite(values)]
    return float(finite.min()) if len(finite) else None
