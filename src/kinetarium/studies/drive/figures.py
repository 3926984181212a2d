"""Report of the drive study: paths, errors over settings and cost, the paper's statements."""

from collections.abc import Sequence
from dataclasses import replace
from math import isinf
from typing import Any

import numpy as np

from kinetarium.batch.outcomes import Outcomes
from kinetarium.batch.study import Findings, Outcome
from kinetarium.control.vehicle.laws import PlanarPose
from kinetarium.control.vehicle.reference import DrivingReference
from kinetarium.engines.protocol import FrictionRule
from kinetarium.figure.charts import Axis, Bars, BarSeries, Lines, Series, Style
from kinetarium.figure.page import Figure, Section
from kinetarium.figure.replay import Guide, Replay
from kinetarium.figure.scene_replay import scene_replay
from kinetarium.figure.sweep import (
    Sample,
    over_iterations,
    over_timestep,
    setting_trials,
    speed_accuracy,
    sweep_series,
    varied_fields,
)
from kinetarium.figure.text import Prose, Table, header
from kinetarium.recording.recording import Recording
from kinetarium.roles.studied_robot import StudiedRobot
from kinetarium.studies.drive._statements import statement_table
from kinetarium.studies.drive.config import DriveCase, PathControl, PathName
from kinetarium.studies.drive.ideal import ideal_of
from kinetarium.studies.drive.profiles import CONTROL_RATE
from kinetarium.studies.drive.run import REFERENCES, Slab, ground_scene, laden, relief_of
from kinetarium.studies.drive.score import (
    RECOVERED,
    path_points,
    reference_curvature_variation,
    track_of,
)
from kinetarium.studies.drive.tables import (
    AgainstIdeal,
    Compared,
    against_entries,
    against_ideal,
    conclusion,
    failing_median,
    hardware_words,
    headline,
    robot_label,
    settings_section,
    summary,
)
from kinetarium.studies.drive.vehicle import opened, recorded_vehicle

_LEAD = (
    "The same robot gets the same commanded wheel speeds in every engine, along a circle, a"
    " square and an eight, after Lee, Yoon, Park and Park, 'Performance evaluation of robotic"
    " physics engine for mobile manipulator simulation' (2023). With four wheels every turn is a"
    " skid, and the path shows how an engine resolves friction; with two wheels friction should"
    " not matter. Profiles are never mixed: 'defaults' uses each engine's defaults, 'matched' the"
    " same settings in all engines, 'tuned' the best known settings of each."
)
_KANAYAMA = (
    "Closed loop is Kanayama's controller, v = v_r cos e_t + Kx e_x and w = w_r + v_r (Ky e_y +"
    " Kt sin e_t), with Kx 1, Ky 4, Kt 4 and the exact pose. All feedback on the yaw rate is"
    " multiplied by v_r: in the corners of the square, where v_r = 0, a heading error is not"
    " corrected, and the robot leaves each corner with the angle of open loop. The controller also"
    " assumes that the robot moves along its heading. A skidding robot does not: the Husky's centre"
    " of mass is 67 mm behind its geometric centre, so that it turns about a point behind that, and"
    " its centre drifts inwards at 0.16 m times the yaw rate (Coulomb friction, see calibrate). The"
    " controller balances this drift with an offset from the path, which is most of the error on"
    " circle and eight; a multiplier that does not fit the engine adds to it, most of all in PhysX."
)
_IDEAL = (
    "The ideal path of open loop is computed without an engine: ramps of 3 m/s² and 6 rad/s², the"
    " lag of the wheels' servos, and wheels that roll, or skid by Coulomb's law (see calibrate)."
    " With two wheels the ramps alone cause 0.022 m on the circle. With four wheels the ideal path"
    " is not the reference, because 1.875 is not the multiplier of these wheels: an engine closer"
    " to the reference is not closer to the truth."
)
_UNCERTAIN = (
    "The ideal of wheels that skid has an uncertainty: a wheel may touch the ground at its edges"
    " (as in the ideal), along a line or at a point, and the centre of mass may be 1.2 % of the"
    " wheelbase ahead or behind, 6 mm of the Husky's 512 mm. The range of yaw ratios over these is"
    " shown beside the ideal's; engines within it cannot be distinguished by it."
)
_PAPER_FIGURES = {
    ("husky4", PathControl.OPEN): "Fig. 5",
    ("husky4", PathControl.CLOSED): "Fig. 7",
    ("husky2", PathControl.OPEN): "Fig. 8",
}
_THIN = 5
"""Samples per drawn point."""
_CURVE = (6.0, 14.0)
"""The magnified part of the eight [s]: the first lobe, as in the paper's Fig. 6."""


def report(outcomes: Sequence[Outcome[DriveCase]]) -> Findings:
    """Compare all drives with their references and with the paper's statements.

    If a setting was varied within an engine, figures over it replace those that compare
    engines case by case.
    """
    results = Outcomes(outcomes)
    varied = varied_fields(outcome.case for outcome in outcomes)
    cells = [(case, part, against_ideal(case, part)) for case, part in results.by_case().items()]
    sections = [
        _group_section(group, [cell for cell in cells if cell[0] in group.by_case()], varied=varied)
        for group in results.by("profile", "robot", "control").values()
    ]
    statements: tuple[Table, ...] = ()
    if not varied:
        statements = tuple(statement_table(results, p) for p in results.distinct("profile"))
        sections.append(Section("Statements of the paper", statements))
    if PathControl.CLOSED in results.distinct("control"):
        sections.append(Section("About the closed loop", (Prose(_KANAYAMA),)))
    if PathControl.OPEN in results.distinct("control"):
        words = " ".join(filter(None, (_IDEAL, _UNCERTAIN, hardware_words(outcomes))))
        sections.append(Section("About the open loop", (Prose(words),)))
    sections.append(settings_section(outcomes))
    return Findings(
        headline(cells, varied),
        tuple(sections),
        summary(cells),
        extra={
            "statements": [_plain(table) for table in statements],
            "against_ideal": against_entries(cells),
        },
        lead=_LEAD,
        conclusion=conclusion(cells, outcomes),
    )


def _plain(table: Table) -> dict[str, Any]:
    names = [column.name for column in table.columns]
    return {
        "title": table.title,
        "rows": [dict(zip(names, row, strict=True)) for row in table.rows],
    }


def _group_section(
    results: Outcomes[DriveCase], cells: Sequence[Compared], *, varied: Sequence[str]
) -> Section:
    """Show the outcomes of one profile, robot and control, which are never mixed."""
    case = cells[0][0]
    robot, control = case.robot, case.control
    figures = _sweep_figures(cells, varied) if varied else _engine_figures(results, case)
    title = f"{control.value.capitalize()} loop, {robot_label(robot)}{_drive_type(results)}"
    fig = "" if varied else _PAPER_FIGURES.get((robot, control), "")
    return Section(
        f"{title}, {case.profile.value}",
        # Friction is not a cost: accuracy at one friction is not available at another.
        (*figures, *([] if "friction" in varied else _cost_figures(cells))),
        label=f"paper: {fig}" if fig else "",
    )


def _engine_figures(results: Outcomes[DriveCase], case: DriveCase) -> list[Figure]:
    """Compare engines path by path, for the robot and the control of a case."""
    robot, control = case.robot, case.control
    figures: list[Figure] = []
    for path in results.distinct("path"):
        runs = [o for o in results.of(path=path, start=0) if o.recording is not None]
        if not runs:
            continue
        figures.append(_paths(runs, path, control, whole=True))
        if path is PathName.EIGHT and control is PathControl.OPEN and robot == "husky4":
            figures.append(_paths(runs, path, control, whole=False))
    figures.append(_bars(results))
    if PathName.EIGHT in results.distinct("path"):
        reference = reference_curvature_variation(PathName.EIGHT)
        figures.append(Prose(f"Curvature variation of the reference eight: {reference:.1f} 1/m."))
    return figures


def _drive_type(results: Outcomes[DriveCase]) -> str:
    """Return how a robot turns, in brackets; empty if no run was recorded."""
    recording = results.recording
    return f" ({recording.facts['drive_type']})" if recording else ""


def _paths(
    runs: Sequence[Outcome[DriveCase]], path: PathName, control: PathControl, *, whole: bool
) -> Lines:
    reference = REFERENCES[path]
    points = path_points(reference)
    if not whole:
        points = reference.sample(np.arange(*_CURVE, 0.04))[0][:, :2]
    series = [_series(outcome, whole=whole) for outcome in runs]
    if control is PathControl.OPEN:
        series += _ideal_series(runs, whole=whole)
    series.append(Series("reference", points[:, 0], points[:, 1], Style.DASHED))
    frame = "in the frame of its start" if control is PathControl.OPEN else "in the world frame"
    return Lines(
        f"{path.value.capitalize()}" if whole else "The first lobe of the eight (paper: Fig. 6)",
        Axis("x", "m"),
        Axis("y", "m"),
        tuple(series),
        caption=f"Start 0 of every engine, {frame}.",
        equal=True,
    )


def _series(outcome: Outcome[DriveCase], *, whole: bool) -> Series:
    track = track_of(outcome.case, outcome.recorded)
    shown = track.position
    if not whole:
        shown = shown[(track.time >= _CURVE[0]) & (track.time <= _CURVE[1])]
    return Series(outcome.case.engine, shown[::_THIN, 0], shown[::_THIN, 1])


def _ideal_series(runs: Sequence[Outcome[DriveCase]], *, whole: bool) -> list[Series]:
    """Return the path of the ideal drive, if it is the same for all engines."""
    drives = {ideal_of(o.case, o.recording.facts) for o in runs if o.recording is not None}
    ideal = drives.pop() if len(drives) == 1 else None
    if ideal is None:
        return []
    shown = ideal.position
    if not whole:
        begin, end = (round(time * CONTROL_RATE) for time in _CURVE)
        shown = shown[begin : end + 1]
    thin = shown[:: 2 * _THIN]
    name = _ideal_name(recorded_vehicle(runs[0].recorded.facts).slips)
    return [Series(name, thin[:, 0], thin[:, 1], Style.DOTTED)]


def _bars(results: Outcomes[DriveCase]) -> Bars:
    paths = results.distinct("path")
    series = []
    for (engine,), group in results.by("engine").items():
        errors = [group.of(path=path).spread("cross_track_rmse_m") for path in paths]
        series.append(BarSeries.of_spreads(engine, errors))
    return Bars(
        "Cross-track error",
        tuple(path.value for path in paths),
        tuple(series),
        Axis("RMSE", "m", log=True),
        caption="Median and range over the starts. After a corner a robot has recovered once it"
        f" stays within {RECOVERED:g} m.",
    )


_MEDIANS = "Medians over the starts."


def _sweep_figures(cells: Sequence[Compared], varied: Sequence[str]) -> list[Figure]:
    """Return the figures over the varied settings, path by path.

    Args:
        cells: The cases of one profile, robot and control.
        varied: The varied settings: "timestep", "iterations" or "friction".
    """
    figures: list[Figure] = []
    for path in dict.fromkeys(case.path for case, *_ in cells):
        on_path = [cell for cell in cells if cell[0].path is path]
        errors = [(case, _error(part, ideal)) for case, part, ideal in on_path]
        title, y = f"{_path(on_path)}: error", _error_axis(on_path[0][0])
        if "iterations" in varied:
            caption = f"{_MEDIANS} ODE with its iterative solver."
            figures += over_iterations(errors, title=title, y=y, caption=caption)
        if "timestep" in varied:
            caption = f"{_MEDIANS} With the profile's iterations."
            figures += over_timestep(errors, title=title, y=y, caption=caption)
        if "friction" in varied:
            figures += _over_friction(on_path)
    return figures


def _cost_figures(cells: Sequence[Compared]) -> list[Figure]:
    """Return the errors of all settings over their cost; empty if no run completed.

    Args:
        cells: The cases of one profile, robot and control.
    """
    trials = setting_trials((case, part.cost, _error(part, ideal)) for case, part, ideal in cells)
    if not trials:
        return []
    figure = speed_accuracy(
        "Speed and accuracy",
        trials,
        error=_error_axis(cells[0][0]),
        caption=f"{_MEDIANS} The worst of the paths.",
    )
    return [figure]


def _ideal_name(skids: bool) -> str:
    """Return the name of the drive without an engine."""
    return "Coulomb friction" if skids else "no slip"


def _error_axis(case: DriveCase) -> Axis:
    """Return the axis of the error of a drive."""
    if case.control is PathControl.CLOSED:
        return Axis("cross-track RMSE", "m", log=True)
    return Axis("RMS distance from the ideal drive", "m", log=True)


def _over_friction(cells: Sequence[Compared]) -> list[Figure]:
    """Return error and yaw ratio over friction, beside those of the ideal drive."""
    x = Axis("friction between wheels and ground", log=True)
    figures: list[Figure] = []
    for title, key, y, own in (
        ("cross-track error", "cross_track_rmse_m", Axis("RMSE", "m"), "cross_track"),
        ("yaw ratio", "yaw_ratio", Axis("angle turned over angle commanded"), "yaw_ratio"),
    ):
        measured = sweep_series(
            [Sample(case.engine, case.friction, part.median(key)) for case, part, _ in cells]
        )
        ideal = sweep_series(
            [
                Sample(_ideal_name(ideal.yaw_range is not None), case.friction, getattr(ideal, own))
                for case, _, ideal in cells
                if ideal
            ]
        )
        dotted = tuple(replace(series, style=Style.DOTTED) for series in ideal)
        name = f"{_path(cells)}: {title} over friction"
        figures.append(Lines(name, x, y, (*measured, *dotted), caption=_MEDIANS))
    return [*figures, _friction_table(cells)]


def _friction_table(cells: Sequence[Compared]) -> Table:
    """Return cross-track error and yaw ratio by engine and friction."""
    columns = header(
        "engine | friction | cross-track RMSE [m] | yaw ratio | yaw ratio of the ideal"
    )
    rows = tuple(
        (case.engine, case.friction, part.median("cross_track_rmse_m"), part.median("yaw_ratio"),
         ideal.yaw_ratio if ideal else None)
        for case, part, ideal in cells
    )  # fmt: skip
    return Table(f"{_path(cells)}: over friction", columns, rows)


def _path(cells: Sequence[Compared]) -> str:
    return cells[0][0].path.value.capitalize()


def _error(part: Outcomes[DriveCase], ideal: AgainstIdeal | None) -> float | None:
    """Return the distance from the ideal drive [m], or from the path if there is none.

    Most starts must have completed.
    """
    key = "off_ideal_m" if ideal else "cross_track_rmse_m"
    value = failing_median(part, key)
    return None if isinf(value) else value


_POINTS = 400
"""Number of points of the drawn path."""


def replay(case: DriveCase, recording: Recording) -> Replay:
    """Return the robot and its reference as a replay."""
    robot = laden(opened(case.reading, case.robot, case.sha256), case.payload)
    reference = REFERENCES[case.path]
    return vehicle_replay(robot, recording, reference=reference, relief=relief_of(case))


def vehicle_replay(
    robot: StudiedRobot,
    recording: Recording,
    *,
    reference: DrivingReference | None = None,
    relief: Sequence[Slab] = (),
) -> Replay:
    """Return a drive as a replay.

    Args:
        reference: The reference path; not drawn if None.
        relief: What lies on the ground.
    """
    scene = ground_scene(
        robot,
        start=PlanarPose(0.0, 0.0, 0.0),
        friction=1.0,
        rule=FrictionRule.MAXIMUM,
        wheel_damping=1.0,
        relief=relief,
    )
    root = scene.robots[0].model.root
    guides = (_guide(reference),) if reference else ()
    return scene_replay(scene, recording, guides=guides, trails=(f"vehicle/{root}",))


def _guide(reference: DrivingReference) -> Guide:
    placements, _ = reference.sample(np.linspace(0.0, reference.duration, _POINTS))
    points = np.column_stack([placements[:, :2], np.full(_POINTS, 2e-3)])
    return Guide("reference", points)
