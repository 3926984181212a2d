"""How far drives in open loop are from what friction alone would make of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan
from statistics import median
from typing import Any

import numpy as np

from kinetarium.metrics.cross_track import cross_track
from kinetarium.recording.recording import Recording
from kinetarium.studies.drive.config import Control, DriveCase
from kinetarium.studies.drive.ideal import IdealDrive, ideal_drive
from kinetarium.studies.drive.profiles import CONTROL_RATE
from kinetarium.studies.drive.results import Results
from kinetarium.studies.drive.run import REFERENCES, SAMPLE_RATE
from kinetarium.studies.drive.score import path_points, track_of, yaw_ratio

_STRIDE = round(CONTROL_RATE / SAMPLE_RATE)
"""Commands between two samples."""


@dataclass(frozen=True, slots=True)
class AgainstIdeal:
    """The starts of one case in open loop, held against the ideal drive; medians of them.

    Attributes:
        distance: Root mean square distance from the ideal drive at equal times [m].
        yaw_off: Yaw ratio over that of the ideal drive, less one [-].
        yaw_ratio: Yaw ratio of the ideal drive [-].
        cross_track: Root mean square distance of the ideal drive from the path [m].
    """

    distance: float
    yaw_off: float
    yaw_ratio: float
    cross_track: float


Compared = tuple[DriveCase, Results, AgainstIdeal | None]
"""A case, its starts, and how they compare with the ideal drive."""


def against_ideal(case: DriveCase, results: Results) -> AgainstIdeal | None:
    """Compare all starts of a case; None for closed loop, or if there is nothing to compare.

    Args:
        case: The case.
        results: Its starts.
    """
    recordings = {o.case: o.recording for o in results.outcomes if o.recording is not None}
    ratio = results.median("yaw_ratio")
    if case.control is Control.CLOSED or not recordings or ratio is None:
        return None
    ideal = ideal_of(case, next(iter(recordings.values())).facts)
    turned = yaw_ratio(ideal.yaw_rate, ideal.commanded)
    if not turned or isnan(turned):
        return None
    away = cross_track(ideal.position, path_points(REFERENCES[case.path]))
    return AgainstIdeal(
        distance=median(_distance(each, recording) for each, recording in recordings.items()),
        yaw_off=ratio / turned - 1,
        yaw_ratio=turned,
        cross_track=float(np.sqrt(np.mean(away**2))),
    )


def ideal_of(case: DriveCase, facts: Mapping[str, Any]) -> IdealDrive:
    """Give the ideal drive of a case.

    Args:
        case: The case.
        facts: What one of its recordings was made with.
    """
    return ideal_drive(
        case.robot,
        case.path,
        friction=case.friction,
        wheel_damping=facts["wheel_damping"],
        multiplier=facts["multiplier"],
    )


def _distance(case: DriveCase, recording: Recording) -> float:
    driven = track_of(case, recording).position
    ideal = ideal_of(case, recording.facts).position[::_STRIDE]
    count = min(len(driven), len(ideal))
    away = np.linalg.norm(driven[:count] - ideal[:count], axis=1)
    return float(np.sqrt(np.mean(away**2)))
