"""Which engine for what: a page derived from the results of several studies."""

from collections.abc import Mapping, Sequence
from math import inf, isnan, nan
from statistics import median
from typing import Any

import numpy as np

from kinetarium.figure.axis import Axis
from kinetarium.figure.bars import Bars, BarSeries
from kinetarium.figure.cell import Cell
from kinetarium.figure.listing import Listing
from kinetarium.figure.page import Page, Section
from kinetarium.figure.prose import Prose
from kinetarium.figure.table import Column, Table
from kinetarium.metrics.cost import cost_per_second
from kinetarium.recording.result_folder import ResultFolder
from kinetarium.recording.run import Row
from kinetarium.report.engine_purposes import (
    COST,
    PURPOSES,
    YAW_OFF,
    Purpose,
    good_grips,
    good_skids,
    select,
)

_LEAD = (
    "What each engine is good for, judged by the runs in this folder alone: a purpose has a rule,"
    " an engine meets it or not, and among those that do the best comes first. Read the reports"
    " of the studies for the figures behind every cell."
)


def engine_guide(
    parts: Mapping[str, ResultFolder], *, provenance: tuple[tuple[str, str], ...]
) -> Page:
    """Give the page.

    Args:
        parts: Finished folders of the studies by their part: "grasp", "drive", "calibrate",
            and "grasp-effort", "grasp-friction", "drive-effort", "drive-friction".
        provenance: How to make it again.
    """
    rows = {name: judged_rows(folder) for name, folder in parts.items()}
    engines = sorted({row["engine"] for part in rows.values() for row in part})
    sections = (
        Section("Which engine for what", (purpose_table(rows, engines), _cautions(rows, engines))),
        Section("What it costs", (_cost_bars(rows, engines), _cheapest_settings(rows, engines))),
        Section(
            "The studies",
            (Listing("Their own reports", tuple(f"{name}/report.html" for name in parts)),),
        ),
    )
    return Page("Which engine for what", _LEAD, sections, provenance)


def judged_rows(folder: ResultFolder) -> Sequence[Row]:
    """Give the rows of a folder with what they cost, and how they compare with the ideal.

    Args:
        folder: A finished folder.
    """
    timings = folder.timings()
    ideal = {_setting(entry): entry for entry in folder.metrics.get("against_ideal", ())}
    rows: list[dict[str, Any]] = []
    for run in folder.runs():
        own = {
            **run.case,
            "status": str(run.status),
            COST: cost_per_second(timings[run.key], run.recording),
            YAW_OFF: ideal.get(_setting(run.case), {}).get("yaw_off", inf),
        }
        rows += [{**row, **own} for row in run.rows or ({},)]
    # A run that failed has no figures; asked for one, it has None.
    names = dict.fromkeys(name for row in rows for name in row)
    return [{name: row.get(name) for name in names} for row in rows]


def _setting(entry: Mapping[str, Any]) -> tuple[Any, ...]:
    names = ("engine", "robot", "control", "path", "profile", "timestep", "iterations", "friction")
    return tuple(entry.get(name) for name in names)


def purpose_table(rows: Mapping[str, Sequence[Row]], engines: Sequence[str]) -> Table:
    """Judge every engine for every purpose.

    Args:
        rows: The rows of each part.
        engines: The engines.
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
    columns = (Column("for"), Column("rule"), Column("first choice"), *map(Column, engines))
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
    """Compare what a simulated second costs with the settings of the profile 'matched'."""
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
    """Say with which step and iterations engines are good enough at the least cost."""
    body: list[tuple[Cell, ...]] = []
    for purpose, good in (("a grip", good_grips), ("skidding", good_skids)):
        for engine in engines:
            runs = [row for row in good(rows, engine) if not isnan(row[COST])]
            if runs:
                best = min(runs, key=lambda row: float(row[COST]))
                iterations = str(best["iterations"]) if best["iterations"] else "the profile's own"
                body.append((purpose, engine, best["timestep"] * 1e3, iterations, best[COST]))
    columns = (
        Column("for"), Column("engine"), Column("step", "ms"), Column("iterations"),
        Column("CPU time per simulated second", "s/s"),
    )  # fmt: skip
    return Table("The cheapest settings that are good enough", columns, tuple(body))


def headline(page: Page) -> Table:
    """Give the table that answers the question, for the screen."""
    return next(figure for figure in page.sections[0].figures if isinstance(figure, Table))
