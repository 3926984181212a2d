"""Tables of the drive study: headline, summary, and comparison with the ideal drive."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from kinetarium.batch.outcomes import Outcomes
from kinetarium.batch.study import Outcome
from kinetarium.figure.page import Figure, Section
from kinetarium.figure.sweep import setting_cells, setting_columns
from kinetarium.figure.text import Column, Listing, Table, header
from kinetarium.recording.recording import RunStatus
from kinetarium.storage.strict_json import strict_json
from kinetarium.studies.drive.config import DriveCase
from kinetarium.studies.drive.ideal import Compared

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
    """Return the headline table."""
    columns = (
        *header("profile | robot | control | path | engine"),
        *setting_columns(varied),
        Column("runs"),
        *(Column(name, unit) for _, name, unit in _COLUMNS),
        *header("least RMSE [m] | greatest RMSE [m] | off the ideal [m] | corners [deg]"),
    )
    rows = []
    for case, part, ideal in cells:
        done = sum(outcome.status is RunStatus.COMPLETED for outcome in part)
        errors = part.values("cross_track_rmse_m")
        rows.append(
            (
                case.profile.value,
                case.robot.value,
                case.control.value,
                case.path.value,
                case.engine,
                *setting_cells(case, varied),
                f"{done}/{len(part)}",
                *(part.median(key) for key, _, _ in _COLUMNS),
                min(errors, default=None),
                max(errors, default=None),
                ideal.distance if ideal else None,
                _corner_text(part),
            )
        )
    return Table("Medians over the starts", columns, tuple(rows))


def _corner_text(part: Outcomes[DriveCase]) -> str | None:
    corners = [angles for angles in part.values("corners_deg") if None not in angles]
    if not corners:
        return None
    return ", ".join(f"{angle:.0f}" for angle in np.median(np.array(corners), axis=0))


def summary(cells: Sequence[Compared]) -> dict[str, Any]:
    """Return medians and ranges of every case."""
    keys = [key for key, *_ in _COLUMNS]
    groups = [{**_named(case), "runs": len(part), **part.spreads(keys)} for case, part, _ in cells]
    return {"groups": groups}


def against_entries(cells: Sequence[Compared]) -> list[dict[str, Any]]:
    """Return the comparison of open loop with the ideal drive, for metrics.json."""
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


_PAPER = Table(
    "Simulators and engines",
    header("engine | in the paper | here"),
    (
        ("MuJoCo", "MuJoCo", "mujoco"),
        ("Bullet", "CoppeliaSim", "pybullet"),
        ("ODE", "CoppeliaSim", "its C interface, double precision"),
        ("PhysX", "Isaac Sim", "SAPIEN, on the CPU; wheels are rows of spheres"),
        (
            "Newton Dynamics",
            "CoppeliaSim",
            "not in package registries, as CoppeliaSim and Isaac Sim;"
            " NVIDIA's Newton is another engine",
        ),
    ),
)


def settings_section(outcomes: Iterable[Outcome[Any]]) -> Section:
    """Return the settings of every engine in each profile, and the model as loaded."""
    facts: dict[tuple[str, str, str], Any] = {}
    tried: dict[tuple[str, str, str, str], dict[float, None]] = {}
    for outcome in outcomes:
        case, recording = outcome.case, outcome.recording
        if recording is not None:
            key = (case.profile.value, case.engine, case.robot.value)
            facts.setdefault(key, recording.facts)
            for name in ("friction", "timestep_s"):
                tried.setdefault((*key, name), {})[recording.facts[name]] = None
    columns = header(
        "profile | engine | robot | friction | wheel gain [N m s/rad] | track multiplier | "
        "time step [s] | mass error | joint damping | armature | why"
    )
    rows = tuple(
        (*key, _listed(tried[*key, "friction"]), fact["wheel_damping"], fact["multiplier"],
         _listed(tried[*key, "timestep_s"]),
         fact["mass_error"], fact["joint_damping"], fact["armature"], fact["settings"])
        for key, fact in facts.items()
    )  # fmt: skip
    figures: list[Figure] = [
        Table("Settings, and the model as loaded", columns, rows),
        Listing(
            "Engine options",
            tuple(f"{key[0]}, {key[1]} {fact['engine_version']}, {key[2]}:"
                  f" {strict_json(fact['options'], indent=None)}" for key, fact in facts.items()),
        ),
    ]  # fmt: skip
    remarks = dict.fromkeys(
        f"{key[1]}: {text}" for key, fact in facts.items() for text in fact["remarks"]
    )
    if remarks:
        figures.append(Listing("Deliberate differences from the model", tuple(remarks)))
    return Section("Settings", (*figures, _PAPER))


def _listed(values: Iterable[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)
