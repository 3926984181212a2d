"""Figures of the drive study over time step, iterations and friction, and the cost."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from statistics import median

from kinetarium.figure.charts import Axis, Lines, Series, Style
from kinetarium.figure.page import Figure
from kinetarium.figure.sweep import Sample, Trial, speed_accuracy, sweep_series
from kinetarium.figure.text import Column, Table
from kinetarium.studies.drive.config import DriveCase, PathControl, Robot
from kinetarium.studies.drive.ideal import AgainstIdeal, Compared
from kinetarium.studies.drive.results import Outcomes

_Measure = Callable[[Outcomes, AgainstIdeal | None], float | None]
IDEAL = {Robot.HUSKY4: "Coulomb friction", Robot.HUSKY2: "no slip"}
"""Names of the drive without an engine."""
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
        if "iterations" in varied:
            figures += _over_iterations(on_path)
        if "timestep" in varied:
            figures += _over_timestep(on_path)
        if "friction" in varied:
            figures += _over_friction(on_path)
    return figures


def cost_figures(cells: Sequence[Compared]) -> list[Figure]:
    """Return the errors of all settings over their cost; empty if no run completed.

    Args:
        cells: The cases of one profile, robot and control.
    """
    settings: dict[tuple[str, float, int], list[tuple[float, float]]] = {}
    for case, part, ideal in cells:
        error = _error(part, ideal)
        paths = settings.setdefault((case.engine, case.timestep, case.iterations), [])
        paths.append((part.cost, inf if error is None else error))
    trials = [
        Trial(engine, median(cost for cost, _ in paths), max(error for _, error in paths))
        for (engine, *_), paths in settings.items()
        if all(error < inf for _, error in paths)
    ]
    if not trials:
        return []
    figure = speed_accuracy(
        "Speed and accuracy",
        trials,
        error=error_axis(cells[0][0]),
        caption=f"{_MEDIANS} The worst of the paths.",
    )
    return [figure]


def error_axis(case: DriveCase) -> Axis:
    """Return the axis of the error of a drive."""
    if case.control is PathControl.CLOSED:
        return Axis("cross-track RMSE", "m", log=True)
    return Axis("RMS distance from the ideal drive", "m", log=True)


def _over_iterations(cells: Sequence[Compared]) -> list[Figure]:
    figures: list[Figure] = []
    for step in sorted({case.timestep for case, *_ in cells}):
        counted = [cell for cell in cells if cell[0].timestep == step and cell[0].iterations]
        figures.append(
            Lines(
                f"{_path(cells)}: error over iterations, steps of {step * 1e3:g} ms",
                Axis("solver iterations", log=True),
                error_axis(cells[0][0]),
                _series(counted, _error, over=lambda case: case.iterations),
                caption=f"{_MEDIANS} ODE with its iterative solver.",
            )
        )
    return figures


def _over_timestep(cells: Sequence[Compared]) -> list[Figure]:
    own = [cell for cell in cells if not cell[0].iterations]
    if not own:
        return []
    figure = Lines(
        f"{_path(cells)}: error over the time step",
        Axis("time step", "ms", log=True),
        error_axis(cells[0][0]),
        _series(own, _error, over=lambda case: case.timestep * 1e3),
        caption=f"{_MEDIANS} With the profile's iterations.",
    )
    return [figure]


def _over_friction(cells: Sequence[Compared]) -> list[Figure]:
    """Return error and yaw ratio over friction, beside those of the ideal drive."""
    x = Axis("friction between wheels and ground", log=True)
    figures: list[Figure] = []
    for title, key, y, own in (
        ("cross-track error", "cross_track_rmse_m", Axis("RMSE", "m"), "cross_track"),
        ("yaw ratio", "yaw_ratio", Axis("angle turned over angle commanded"), "yaw_ratio"),
    ):
        measured = _series(cells, partial(_median, key), over=lambda case: case.friction)
        ideal = sweep_series(
            [
                Sample(IDEAL[case.robot], case.friction, getattr(ideal, own))
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
    columns = (
        Column("engine"), Column("friction"), Column("cross-track RMSE", "m"), Column("yaw ratio"),
        Column("yaw ratio of the ideal"),
    )  # fmt: skip
    rows = tuple(
        (case.engine, case.friction, part.median("cross_track_rmse_m"), part.median("yaw_ratio"),
         ideal.yaw_ratio if ideal else None)
        for case, part, ideal in cells
    )  # fmt: skip
    return Table(f"{_path(cells)}: over friction", columns, rows)


def _path(cells: Sequence[Compared]) -> str:
    return cells[0][0].path.value.capitalize()


def _series(
    cells: Sequence[Compared], measure: _Measure, *, over: Callable[[DriveCase], float]
) -> tuple[Series, ...]:
    return sweep_series(
        [Sample(case.engine, over(case), measure(part, ideal)) for case, part, ideal in cells]
    )


def _median(key: str, part: Outcomes, ideal: AgainstIdeal | None) -> float | None:
    return part.median(key)


def _error(part: Outcomes, ideal: AgainstIdeal | None) -> float | None:
    """Return the distance from the ideal drive [m], or from the path if there is none."""
    return ideal.distance if ideal else part.median("cross_track_rmse_m")
