"""Measures of a base placement, or of the motion of a base."""

import numpy as np

from kinetarium.recording.recording import Recording, Row
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
        joints: Joint positions for each pose [rad or m]; None where it is not reached.

        For reach-follow:
        poses, reached: How many poses there are, and how many were reached.
        duration_s: Time from the first to the last [s].
        way_m: Length of the base's path [m].
    """
    if not isinstance(case, FollowCase):
        return recorded_placement(recording).as_json()
    time, steps = recording["time"], np.diff(recording["bases"][:, :2], axis=0)
    return {
        "poses": len(time),
        "reached": int(was_reached(recording).sum()),
        "duration_s": float(time[-1] - time[0]),
        "way_m": float(np.hypot(steps[:, 0], steps[:, 1]).sum()),
    }
