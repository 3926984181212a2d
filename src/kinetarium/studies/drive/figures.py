"""What the drive study shows: paths over their references, errors, and the paper's statements."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetarium.batch.study import Findings, Outcome
from kinetarium.figure.axis import Axis
from kinetarium.figure.bars import Bars, BarSeries
from kinetarium.figure.line import Lines, Series, Style
from kinetarium.figure.page import Figure, Section
from kinetarium.figure.prose import Prose
from kinetarium.figure.table import Column, Table
from kinetarium.metrics.cross_track import cross_track
from kinetarium.recording.run import RunStatus
from kinetarium.spatial.arrays import Array
from kinetarium.studies.drive.config import Control, DriveCase, PathName, Profile, Robot
from kinetarium.studies.drive.ideal import no_slip_path
from kinetarium.studies.drive.results import Results
from kinetarium.studies.drive.run import REFERENCES
from kinetarium.studies.drive.score import (
    RECOVERED,
    path_points,
    reference_curvature_variation,
    track_of,
)
from kinetarium.studies.drive.settings_table import settings_section
from kinetarium.studies.drive.statements import statement_table

_LEAD = (
    "The same robot gets the same wheel speeds in every engine, along a circle, a square and an"
    " eight, after Lee, Yoon, Park and Park, 'Performance evaluation of robotic physics engine for"
    " mobile manipulator simulation' (2023). On four wheels every turn is a skid, and the path"
    " shows how an engine resolves friction; on two it should not matter. Profiles are never mixed:"
    " 'defaults' compares engines as they come, 'matched' only the engines, 'tuned' the best known."
)
_KANAYAMA = (
    "Closed loop is Kanayama's law, v = v_r cos e_t + Kx e_x and w = w_r + v_r (Ky e_y +"
    " Kt sin e_t), with Kx 1, Ky 4, Kt 4 and the pose known exactly. All feedback on the yaw rate"
    " is multiplied by v_r: in the corners of the square, where v_r = 0, an error of the heading is"
    " not corrected, and the robot leaves each corner with the angle of open loop. The law also"
    " takes the robot to move where it faces. On skidding wheels it does not: the Husky's centre of"
    " mass lies 67 mm behind its middle, so that it turns about a point behind that and its middle"
    " drifts inwards at 0.16 m times the yaw rate (Coulomb friction, see calibrate). The law"
    " balances this drift with an offset from the path, which is most of the error on circle and"
    " eight; a multiplier that does not fit the engine adds to it, most of all in PhysX."
)
_PAPER_FIGURES = {
    (Robot.HUSKY4, Control.OPEN): "Fig. 5",
    (Robot.HUSKY4, Control.CLOSED): "Fig. 7",
    (Robot.HUSKY2, Control.OPEN): "Fig. 8",
}
_COLUMNS = (
    ("cross_track_rmse_m", "cross-track RMSE", "m"),
    ("cross_track_max_m", "cross-track max", "m"),
    ("final_error_m", "final error", "m"),
    ("yaw_ratio", "yaw ratio", ""),
    ("curvature_tv", "curvature variation", "1/m"),
    ("recovery_s", "recovery", "s"),
    ("wheel_speed_error", "wheel speed error", ""),
)
_THIN = 5
"""Of so many samples one is drawn."""
_CURVE = (6.0, 14.0)
"""The part of the eight that is shown larger [s]: the first lobe, as in the paper's Fig. 6."""


def report(outcomes: Sequence[Outcome[DriveCase]]) -> Findings:
    """Show all drives over their references, and what the paper says of them."""
    results = Results(outcomes)
    profiles = results.distinct("profile")
    sections = [_group_section(*group) for group in results.groups()]
    statements = tuple(statement_table(results, profile) for profile in profiles)
    sections.append(Section("What the paper says", statements))
    if Control.CLOSED in results.distinct("control"):
        sections.append(Section("About the closed loop", (Prose(_KANAYAMA),)))
    sections.append(settings_section([o.recording for o in outcomes], [o.case for o in outcomes]))
    return Findings(
        _headline(results),
        tuple(sections),
        _summary(results),
        extra={"statements": [_plain(table) for table in statements]},
        lead=_LEAD,
    )


def _cells(results: Results) -> list[tuple[DriveCase, Results]]:
    """Give the outcomes by everything but the start, each with its first case."""
    keys = ("profile", "robot", "control", "path", "engine")
    seen: dict[tuple[Any, ...], DriveCase] = {}
    for outcome in results.outcomes:
        seen.setdefault(tuple(getattr(outcome.case, key) for key in keys), outcome.case)
    return [
        (case, results.of(**dict(zip(keys, values, strict=True)))) for values, case in seen.items()
    ]


def _headline(results: Results) -> Table:
    columns = (
        Column("profile"), Column("robot"), Column("control"), Column("path"), Column("engine"),
        Column("runs"), *(Column(name, unit) for _, name, unit in _COLUMNS),
        Column("RMSE range", "m"), Column("corners", "deg"),
    )  # fmt: skip
    rows = []
    for case, part in _cells(results):
        done = sum(outcome.status is RunStatus.COMPLETED for outcome in part.outcomes)
        errors = part.values("cross_track_rmse_m")
        rows.append(
            (
                case.profile.value,
                case.robot.value,
                case.control.value,
                case.path.value,
                case.engine,
                f"{done} of {len(part.outcomes)}",
                *(part.median(key) for key, _, _ in _COLUMNS),
                f"{min(errors):.3f} to {max(errors):.3f}" if errors else None,
                _corner_text(part),
            )
        )
    return Table("Medians over the starts", columns, tuple(rows))


def _corner_text(part: Results) -> str | None:
    corners = [angles for angles in part.values("corners_deg") if None not in angles]
    if not corners:
        return None
    return ", ".join(f"{angle:.0f}" for angle in np.median(np.array(corners), axis=0))


def _summary(results: Results) -> dict[str, Any]:
    """Give medians and ranges by profile, robot, control, path and engine."""
    summary: dict[str, Any] = {}
    for case, part in _cells(results):
        place = summary
        for name in (case.profile, case.robot, case.control, case.path):
            place = place.setdefault(name.value, {})
        place[case.engine] = {"runs": len(part.outcomes)}
        for key, *_ in _COLUMNS:
            values = part.values(key)
            if values:
                middle = part.median(key)
                place[case.engine][key] = {"median": middle, "min": min(values), "max": max(values)}
    return summary


def _plain(table: Table) -> dict[str, Any]:
    names = [column.name for column in table.columns]
    return {
        "title": table.title,
        "rows": [dict(zip(names, row, strict=True)) for row in table.rows],
    }


def _group_section(profile: Profile, robot: Robot, control: Control, results: Results) -> Section:
    figures: list[Figure] = []
    fig = _PAPER_FIGURES.get((robot, control))
    for path in results.distinct("path"):
        runs = results.first_starts(path)
        if not runs:
            continue
        figures.append(_paths(runs, path, control, whole=True))
        if path is PathName.EIGHT and control is Control.OPEN and robot is Robot.HUSKY4:
            figures.append(_paths(runs, path, control, whole=False))
    figures.append(_bars(results))
    if control is Control.OPEN and PathName.CIRCLE in results.distinct("path"):
        figures.append(Prose(_ramps(PathName.CIRCLE)))
    if PathName.EIGHT in results.distinct("path"):
        reference = reference_curvature_variation(PathName.EIGHT)
        figures.append(
            Prose(f"The eight's own curvature varies by {reference:.1f} 1/m; more is restlessness.")
        )
    title = (
        f"{control.value.capitalize()} loop on {'four' if robot is Robot.HUSKY4 else 'two'} wheels"
    )
    return Section(
        f"{title}, {profile.value}", tuple(figures), label=f"paper: {fig}" if fig else ""
    )


def _paths(
    runs: Sequence[Outcome[DriveCase]], path: PathName, control: Control, *, whole: bool
) -> Lines:
    reference = REFERENCES[path]
    points = path_points(reference)
    if not whole:
        points = reference.sample(np.arange(*_CURVE, 0.04))[0][:, :2]
    series = [_series(outcome, whole=whole) for outcome in runs]
    series.append(Series("reference", points[:, 0], points[:, 1], Style.DASHED))
    frame = "from where it starts" if control is Control.OPEN else "on the ground"
    return Lines(
        f"{path.value.capitalize()}" if whole else "The first lobe of the eight (paper: Fig. 6)",
        Axis("x", "m"),
        Axis("y", "m"),
        tuple(series),
        caption=f"Start 0 of every engine, {frame}.",
        equal=True,
    )


def _series(outcome: Outcome[DriveCase], *, whole: bool) -> Series:
    assert outcome.recording is not None
    track = track_of(outcome.case, outcome.recording)
    shown = track.position
    if not whole:
        shown = shown[(track.time >= _CURVE[0]) & (track.time <= _CURVE[1])]
    return Series(outcome.case.engine, shown[::_THIN, 0], shown[::_THIN, 1])


def _bars(results: Results) -> Bars:
    paths = results.distinct("path")
    series = []
    for engine in results.distinct("engine"):
        errors = [
            results.of(engine=engine, path=path).values("cross_track_rmse_m") for path in paths
        ]
        series.append(
            BarSeries(
                engine,
                _over(np.median, errors),
                low=_over(np.min, errors),
                high=_over(np.max, errors),
            )
        )
    return Bars(
        "Cross-track error",
        tuple(path.value for path in paths),
        tuple(series),
        Axis("RMSE", "m", log=True),
        caption="Median and range over the starts. After a corner a robot has recovered when it"
        f" stays within {RECOVERED:g} m.",
    )


def _over(what: Any, lists: Sequence[Sequence[float]]) -> Array:
    return np.array([what(values) if values else np.nan for values in lists])


def _ramps(path: PathName) -> str:
    error = cross_track(no_slip_path(REFERENCES[path]), path_points(REFERENCES[path]))
    return (
        f"Wheels that never slip would be off by {np.sqrt(np.mean(error**2)):.3f} m on the"
        f" {path.value}: speeds rise along ramps of 3 m/s² and 6 rad/s², and the robot has turned"
        " before it moves."
    )
