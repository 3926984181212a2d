"""Figures of the drive study over time step, iterations and friction, and the cost."""

from collections.abc import Sequence
from dataclasses import replace
from math import isinf

from kinetarium.batch.outcomes import Outcomes
from kinetarium.figure.charts import Axis, Lines, Style
from kinetarium.figure.page import Figure
from kinetarium.figure.sweep import (
    Sample,
    over_iterations,
    over_timestep,
    setting_trials,
    speed_accuracy,
    sweep_series,
)
from kinetarium.figure.text import Table, header
from kinetarium.studies.drive.config import DriveCase, PathControl
from kinetarium.studies.drive.tables import AgainstIdeal, Compared, failing_median

_MEDIANS = "Medians over the starts."


def sweep_figures(cells: Sequence[Compared], varied: Sequence[str]) -> list[Figure]:
    """Return the figures over the varied settings, path by path.

    Args:
        cells: The cases of one profile, robot and control.
        varied: The varied settings: "timestep", "iterations" or "friction".
    """
    figures: list[Figure] = []
    for path in dict.fromkeys(case.path for case, *_ in cells):
        on_path = [cell for cell in cells if cell[0].path is path]
        errors = [(case, _error(part, ideal)) for case, part, ideal in on_path]
        title, y = f"{_path(on_path)}: error", error_axis(on_path[0][0])
        if "iterations" in varied:
            caption = f"{_MEDIANS} ODE with its iterative solver."
            figures += over_iterations(errors, title=title, y=y, caption=caption)
        if "timestep" in varied:
            caption = f"{_MEDIANS} With the profile's iterations."
            figures += over_timestep(errors, title=title, y=y, caption=caption)
        if "friction" in varied:
            figures += _over_friction(on_path)
    return figures


def cost_figures(cells: Sequence[Compared]) -> list[Figure]:
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
        error=error_axis(cells[0][0]),
        caption=f"{_MEDIANS} The worst of the paths.",
    )
    return [figure]


def ideal_name(skids: bool) -> str:
    """Return the name of the drive without an engine."""
    return "Coulomb friction" if skids else "no slip"


def error_axis(case: DriveCase) -> Axis:
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
                Sample(ideal_name(ideal.yaw_range is not None), case.friction, getattr(ideal, own))
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
