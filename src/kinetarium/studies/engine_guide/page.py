"""Which engine for what: a page derived from the results of several studies."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isnan, nan
from statistics import median
from typing import Any

import numpy as np

from kinetarium.figure.charts import Axis, Bars, BarSeries
from kinetarium.figure.page import Page, Section
from kinetarium.figure.text import Cell, Column, Listing, Prose, Table, header
from kinetarium.metrics import cost_per_second
from kinetarium.recording.recording import Row
from kinetarium.recording.result_folder import ResultFolder
from kinetarium.scene.grasped_cube import least_friction, sliding_grip

COST = "cost"
"""Name of the CPU time per simulated second [s/s] in a row."""

YAW_OFF = "yaw_off"
"""Name of the error of the yaw ratio [-]; infinite if it is unknown."""

COULOMB = "coulomb"
"""Name of the track multiplier in place by Coulomb's law [-], from calibrate."""

_GOOD_FORCE = 0.05
"""Acceptable relative difference of a variance from that of the rigid grasp [-]."""
_GOOD_YAW = 0.05
"""Acceptable relative difference of a yaw ratio from that of Coulomb friction [-]."""


@dataclass(frozen=True, slots=True)
class Purpose:
    """An application of an engine, and its acceptance criterion.

    Attributes:
        name: The application.
        rule: The criterion, in words.
        measure: Returns an engine's value from the rows of all parts; smaller is better, None
            without runs.
        limit: The largest acceptable value.
        unit: Unit of the value.
    """

    name: str
    rule: str
    measure: Callable[[Mapping[str, Sequence[Row]], str], float | None]
    limit: float
    unit: str


def select(rows: Mapping[str, Sequence[Row]], part: str, **wanted: str) -> list[Row]:
    """Return the rows of a part that have these values.

    Args:
        rows: The rows of each part.
        part: The part; without it there are no rows.
        **wanted: Values by name.
    """
    return [
        row
        for row in rows.get(part, ())
        if all(row.get(name) == value for name, value in wanted.items())
    ]


def _worst(values: Sequence[float]) -> float | None:
    return max(values, default=None)


def _force(rows: Mapping[str, Sequence[Row]], engine: str) -> float | None:
    runs = [row for row in select(rows, "grasp", engine=engine, profile="matched")
            if row["path"] in ("circle", "square", "eight")]  # fmt: skip
    if any(not row["held"] or not row["moving_variance_n2"] for row in runs):
        return inf
    return _worst(
        [abs(row["moving_variance_n2"] / row["ideal_variance_n2"] - 1) * 100 for row in runs]
    )


def _sliding(rows: Mapping[str, Sequence[Row]], engine: str) -> float | None:
    runs = select(rows, "grasp", engine=engine, profile="matched", path="release")
    if any(row["sliding_grip_n"] is None for row in runs):
        return inf
    return _worst(
        [abs(row["sliding_grip_n"] / sliding_grip(row["friction"]) - 1) * 100 for row in runs]
    )


def _as_it_comes(rows: Mapping[str, Sequence[Row]], engine: str) -> float | None:
    runs = [row for row in select(rows, "grasp", engine=engine, profile="defaults")
            if row["path"] in ("circle", "square", "eight")]  # fmt: skip
    return 100 * sum(not row["held"] for row in runs) / len(runs) if runs else None


def _cross_track(rows: Mapping[str, Sequence[Row]], engine: str, **wanted: str) -> float | None:
    runs = select(rows, "drive", engine=engine, profile="matched", **wanted)
    errors = [row["cross_track_rmse_m"] for row in runs]
    if any(error is None for error in errors):
        return inf
    paths = {row["path"] for row in runs}
    medians = [median([r["cross_track_rmse_m"] for r in runs if r["path"] == p]) for p in paths]
    return _worst(medians)


def _least_cost(rows: Sequence[Row]) -> float:
    """Return the least cost of acceptable rows; infinite if there are none."""
    return min((row[COST] for row in rows if not isnan(row[COST])), default=inf)


def good_grips(rows: Mapping[str, Sequence[Row]], engine: str) -> list[Row]:
    """Return the runs with an acceptable force, regardless of the cost."""
    return [
        row for row in select(rows, "grasp-effort", engine=engine)
        if row["held"] and row["moving_variance_n2"]
        and abs(row["moving_variance_n2"] / row["ideal_variance_n2"] - 1) <= _GOOD_FORCE
    ]  # fmt: skip


def good_skids(rows: Mapping[str, Sequence[Row]], engine: str) -> list[Row]:
    """Return the runs that turn as with Coulomb friction, regardless of the cost."""
    runs = select(rows, "drive-effort", engine=engine)
    return [row for row in runs if abs(row[YAW_OFF]) <= _GOOD_YAW]


def _grip_speed(rows: Mapping[str, Sequence[Row]], engine: str) -> float | None:
    tried = select(rows, "grasp-effort", engine=engine)
    return _least_cost(good_grips(rows, engine)) if tried else None


def _skid_speed(rows: Mapping[str, Sequence[Row]], engine: str) -> float | None:
    tried = select(rows, "drive-effort", engine=engine)
    return _least_cost(good_skids(rows, engine)) if tried else None


def _grip_friction(rows: Mapping[str, Sequence[Row]], engine: str) -> float | None:
    runs = select(rows, "grasp-friction", engine=engine)
    for row in runs:
        if bool(row["held"]) != (row["friction"] > least_friction()):
            return inf
    return _worst([1e3 * row["slip_m"] for row in runs if row["held"]])


def _skid_friction(rows: Mapping[str, Sequence[Row]], engine: str) -> float | None:
    runs = select(rows, "drive-friction", engine=engine)
    return _worst([100 * abs(row[YAW_OFF]) for row in runs])


def _two_wheels(rows: Mapping[str, Sequence[Row]], engine: str) -> float | None:
    return _cross_track(rows, engine, robot="husky2", control="open", path="circle")


def _closed_loop(rows: Mapping[str, Sequence[Row]], engine: str) -> float | None:
    return _cross_track(rows, engine, robot="husky4", control="closed")


def _skid(rows: Mapping[str, Sequence[Row]], engine: str) -> float | None:
    runs = [row for row in select(rows, "calibrate", engine=engine) if row["v"] == 0]
    if any(row["track_multiplier"] is None or row[COULOMB] is None for row in runs):
        return inf
    return _worst([abs(row["track_multiplier"] / row[COULOMB] - 1) * 100 for row in runs])


PURPOSES = (
    Purpose("forces in a grip", "matched: the cube is held, and the variance of the force is within"
            " 5 % of the rigid grasp's on every path", _force, 5.0, "%"),
    Purpose("when a grip slides", "matched: within 5 % of Coulomb's m g / (2 mu)", _sliding,
            5.0, "%"),
    Purpose("a grip without tuning", "defaults: no cube is lost", _as_it_comes, 0.0, "% lost"),
    Purpose("a fast grip", "matched: some step and iterations keep the variance within 5 % of the"
            " rigid grasp's, faster than real time; the cheapest counts", _grip_speed, 1.0, "s/s"),
    Purpose("a grip on any friction", "matched: the cube is lost where Coulomb's law has it, below"
            f" {least_friction():.3f}, held elsewhere, and slips less than 0.5 mm", _grip_friction,
            0.5, "mm"),
    Purpose("two wheels, open loop", "matched: within 0.03 m of the circle", _two_wheels,
            0.03, "m"),
    Purpose("four wheels, closed loop", "matched: within 0.12 m on every path", _closed_loop,
            0.12, "m"),
    Purpose("skidding in place", "within 10 % of the track multiplier of Coulomb friction", _skid,
            10.0, "%"),
    Purpose("skidding fast", "matched: on the circle some step and iterations turn the robot within"
            " 5 % of what Coulomb friction does, faster than real time; the cheapest counts",
            _skid_speed, 1.0, "s/s"),
    Purpose("skidding on any friction", "matched: on the circle the robot turns within 10 % of what"
            " Coulomb friction does", _skid_friction, 10.0, "%"),
)  # fmt: skip


_LEAD = (
    "Which engine is suited to which purpose, from the runs in this folder alone: each purpose has"
    " an acceptance criterion, and the best of the engines that meet it is the first choice. The"
    " reports of the studies have the numbers behind every cell."
)


def engine_guide(
    parts: Mapping[str, ResultFolder], *, provenance: tuple[tuple[str, str], ...]
) -> Page:
    """Return the page.

    Args:
        parts: Finished folders of the studies by their part: "grasp", "drive", "calibrate",
            and "grasp-effort", "grasp-friction", "drive-effort", "drive-friction".
        provenance: How to reproduce it.
    """
    rows = {name: judged_rows(folder) for name, folder in parts.items()}
    engines = sorted({row["engine"] for part in rows.values() for row in part})
    sections = (
        Section("Which engine for what", (purpose_table(rows, engines), _cautions(rows, engines))),
        Section("Cost", (_cost_bars(rows, engines), _cheapest_settings(rows, engines))),
        Section(
            "The studies",
            (Listing("Their own reports", tuple(f"{name}/report.html" for name in parts)),),
        ),
    )
    return Page("Which engine for what", _LEAD, sections, provenance)


def judged_rows(folder: ResultFolder) -> Sequence[Row]:
    """Return the rows of a folder with their cost and their comparison with the ideal."""
    timings = folder.timings()
    coulomb = folder.metrics["summary"].get("coulomb", {}).get("in_place")
    ideal = {_setting(entry): entry for entry in folder.metrics.get("against_ideal", ())}
    rows: list[dict[str, Any]] = []
    for run in folder.runs():
        own = {
            **run.case,
            "status": str(run.status),
            COST: cost_per_second(timings[run.key], run.recording),
            YAW_OFF: ideal.get(_setting(run.case), {}).get("yaw_off", inf),
            COULOMB: coulomb,
        }
        rows += [{**row, **own} for row in run.rows or ({},)]
    # A failed run has no values: each is None.
    names = dict.fromkeys(name for row in rows for name in row)
    return [{name: row.get(name) for name in names} for row in rows]


def _setting(entry: Mapping[str, Any]) -> tuple[Any, ...]:
    names = ("engine", "robot", "control", "path", "profile", "timestep", "iterations", "friction")
    return tuple(entry.get(name) for name in names)


def purpose_table(rows: Mapping[str, Sequence[Row]], engines: Sequence[str]) -> Table:
    """Return the rating of every engine for every purpose.

    Args:
        rows: The rows of each part.
    """
    body = []
    for purpose in PURPOSES:
        figures = {engine: purpose.measure(rows, engine) for engine in engines}
        if all(figure is None for figure in figures.values()):
            continue
        meeting = sorted(
            (engine for engine in engines if (figures[engine] or 0.0) <= purpose.limit
             and figures[engine] is not None),
            key=lambda engine: figures[engine] or 0.0,
        )  # fmt: skip
        cells = [_verdict(figures[engine], purpose) for engine in engines]
        body.append((purpose.name, purpose.rule, meeting[0] if meeting else "none", *cells))
    columns = (*header("for | rule | first choice"), *map(Column, engines))
    return Table("", columns, tuple(body))


def _verdict(figure: float | None, purpose: Purpose) -> str:
    if figure is None:
        return "no runs"
    if figure == inf:
        return "fails"
    text = f"{figure:.3g} {purpose.unit}"
    return text if figure <= purpose.limit else f"{text} (no)"


def _cautions(rows: Mapping[str, Sequence[Row]], engines: Sequence[str]) -> Prose:
    unfinished = [
        f"{engine}: {count} of the {part} runs did not complete"
        for part, of_part in rows.items()
        for engine in engines
        if (count := sum(r["engine"] == engine and r["status"] != "completed" for r in of_part))
    ]
    return Prose("; ".join(unfinished) + "." if unfinished else "Every run completed.")


def _cost_bars(rows: Mapping[str, Sequence[Row]], engines: Sequence[str]) -> Bars:
    """Compare the CPU time per simulated second with the settings of the profile 'matched'."""
    series = []
    for part in ("grasp", "drive", "calibrate"):
        costs = [
            [row[COST] for row in select(rows, part, engine=engine, profile="matched")
             if not isnan(row[COST])]
            for engine in engines
        ]  # fmt: skip
        if any(costs):
            middle = [median(each) if each else nan for each in costs]
            series.append(BarSeries(part, np.array(middle)))
    return Bars(
        "CPU time for one simulated second",
        tuple(engines),
        tuple(series),
        Axis("CPU time per simulated second", "s/s", log=True),
        caption="Medians over all cases of the profile 'matched', controllers and recording"
        " included; below 1 is faster than real time.",
    )


def _cheapest_settings(rows: Mapping[str, Sequence[Row]], engines: Sequence[str]) -> Table:
    """Return the time step and iterations with which engines are acceptable at the least cost."""
    body: list[tuple[Cell, ...]] = []
    for purpose, good in (("a grip", good_grips), ("skidding", good_skids)):
        for engine in engines:
            runs = [row for row in good(rows, engine) if not isnan(row[COST])]
            if runs:
                best = min(runs, key=lambda row: float(row[COST]))
                iterations = str(best["iterations"]) if best["iterations"] else "the profile's own"
                body.append((purpose, engine, best["timestep"] * 1e3, iterations, best[COST]))
    columns = header("for | engine | step [ms] | iterations | CPU time per simulated second [s/s]")
    return Table("The cheapest acceptable settings", columns, tuple(body))


def headline(page: Page) -> Table:
    """Return the headline table, for the terminal."""
    return next(figure for figure in page.sections[0].figures if isinstance(figure, Table))
