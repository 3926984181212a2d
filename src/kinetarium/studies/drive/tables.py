"""The drive study in numbers: its headline, its summary, and how it compares with the ideal."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetarium.figure.sweep import setting_cells, setting_columns
from kinetarium.figure.table import Column, Table
from kinetarium.recording.run import RunStatus
from kinetarium.studies.drive.against_ideal import Compared
from kinetarium.studies.drive.config import DriveCase
from kinetarium.studies.drive.results import Results

_COLUMNS = (
    ("cross_track_rmse_m", "cross-track RMSE", "m"),
    ("cross_track_max_m", "cross-track max", "m"),
    ("final_error_m", "final error", "m"),
    ("yaw_ratio", "yaw ratio", ""),
    ("curvature_tv", "curvature variation", "1/m"),
    ("recovery_s", "recovery", "s"),
    ("wheel_speed_error", "wheel speed error", ""),
)


def headline(cells: Sequence[Compared], varied: Sequence[str]) -> Table:
    """Give the table that answers the question.

    Args:
        cells: The cases.
        varied: What was varied within engines.
    """
    columns = (
        Column("profile"), Column("robot"), Column("control"), Column("path"), Column("engine"),
        *setting_columns(varied), Column("runs"),
        *(Column(name, unit) for _, name, unit in _COLUMNS),
        Column("least RMSE", "m"), Column("greatest RMSE", "m"), Column("off the ideal", "m"),
        Column("corners", "deg"),
    )  # fmt: skip
    rows = []
    for case, part, ideal in cells:
        done = sum(outcome.status is RunStatus.COMPLETED for outcome in part.outcomes)
        errors = part.values("cross_track_rmse_m")
        rows.append(
            (
                case.profile.value,
                case.robot.value,
                case.control.value,
                case.path.value,
                case.engine,
                *setting_cells(case, varied),
                f"{done}/{len(part.outcomes)}",
                *(part.median(key) for key, _, _ in _COLUMNS),
                min(errors, default=None),
                max(errors, default=None),
                ideal.distance if ideal else None,
                _corner_text(part),
            )
        )
    return Table("Medians over the starts", columns, tuple(rows))


def _corner_text(part: Results) -> str | None:
    corners = [angles for angles in part.values("corners_deg") if None not in angles]
    if not corners:
        return None
    return ", ".join(f"{angle:.0f}" for angle in np.median(np.array(corners), axis=0))


def summary(cells: Sequence[Compared]) -> dict[str, Any]:
    """Give medians and ranges of every case."""
    groups = []
    for case, part, _ in cells:
        group: dict[str, Any] = {**_named(case), "runs": len(part.outcomes)}
        for key, *_ in _COLUMNS:
            if values := part.values(key):
                spread = {"median": part.median(key), "min": min(values), "max": max(values)}
                group[key] = spread
        groups.append(group)
    return {"groups": groups}


def against_entries(cells: Sequence[Compared]) -> list[dict[str, Any]]:
    """Give how open loop compares with the ideal drive, for those who read metrics.json."""
    return [
        {
            **_named(case),
            "distance_m": ideal.distance,
            "yaw_off": ideal.yaw_off,
            "ideal_yaw_ratio": ideal.yaw_ratio,
            "ideal_cross_track_rmse_m": ideal.cross_track,
        }
        for case, _, ideal in cells
        if ideal
    ]


def _named(case: DriveCase) -> dict[str, Any]:
    names = ("engine", "robot", "control", "path", "profile", "timestep", "iterations", "friction")
    return {name: getattr(case, name) for name in names}
