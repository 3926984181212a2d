"""Which engine for what: a page derived from the results of several studies."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from statistics import median

import numpy as np

from kinetarium.figure.axis import Axis
from kinetarium.figure.bars import Bars, BarSeries
from kinetarium.figure.listing import Listing
from kinetarium.figure.page import Page, Section
from kinetarium.figure.prose import Prose
from kinetarium.figure.table import Column, Table
from kinetarium.recording.result_folder import ResultFolder
from kinetarium.recording.run import Row

_LEAD = (
    "What each engine is good for, judged by the runs in this folder alone: a purpose has a rule,"
    " an engine meets it or not, and among those that do the best comes first. Read the reports"
    " of the studies for the figures behind every cell."
)

IDEAL_SLIDING_GRIP = 6.131
"""Grip at which Coulomb's law lets the cube of 1 kg slide at friction 0.8: m g / (2 mu) [N]."""

COULOMB_MULTIPLIER = 1.540
"""Track multiplier of the Husky in place by Coulomb's law, as calibrate derives it [-]."""


@dataclass(frozen=True, slots=True)
class Purpose:
    """Something an engine is used for, and how it is judged.

    Attributes:
        name: What for.
        rule: What an engine must do, in words.
        measure: Gives an engine's figure from the rows of all parts; the smaller the
            better, None where there are no runs to judge by.
        limit: The largest figure that meets the rule.
        unit: Unit of the figure.
    """

    name: str
    rule: str
    measure: Callable[[Mapping[str, Sequence[Row]], str], float | None]
    limit: float
    unit: str


def engine_guide(
    parts: Mapping[str, ResultFolder], *, provenance: tuple[tuple[str, str], ...]
) -> Page:
    """Give the page.

    Args:
        parts: Finished folders of the studies by their part: "grasp", "drive", "calibrate".
        provenance: How to make it again.
    """
    rows = {name: folder.metrics["rows"] for name, folder in parts.items()}
    engines = sorted({row["engine"] for part in rows.values() for row in part})
    costs = {name: _costs(folder) for name, folder in parts.items()}
    sections = (
        Section("Which engine for what", (purpose_table(rows, engines), _cautions(rows, engines))),
        Section("What it costs", (_cost_bars(costs, engines),)),
        Section(
            "The studies",
            (Listing("Their own reports", tuple(f"{name}/report.html" for name in parts)),),
        ),
    )
    return Page("Which engine for what", _LEAD, sections, provenance)


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
    text = "lost" if figure == inf else f"{figure:.3g} {purpose.unit}"
    return text if figure <= purpose.limit else f"{text} (no)"


def _select(rows: Mapping[str, Sequence[Row]], part: str, **wanted: str) -> list[Row]:
    return [
        row
        for row in rows.get(part, ())
        if all(row.get(name) == value for name, value in wanted.items())
    ]


def _worst(values: Sequence[float]) -> float | None:
    return max(values, default=None)


def _force(rows: Mapping[str, Sequence[Row]], engine: str) -> float | None:
    runs = [row for row in _select(rows, "grasp", engine=engine, profile="matched")
            if row["path"] in ("circle", "square", "eight")]  # fmt: skip
    if any(not row["held"] or not row["moving_variance_n2"] for row in runs):
        return inf
    return _worst(
        [abs(row["moving_variance_n2"] / row["ideal_variance_n2"] - 1) * 100 for row in runs]
    )


def _sliding(rows: Mapping[str, Sequence[Row]], engine: str) -> float | None:
    runs = _select(rows, "grasp", engine=engine, profile="matched", path="release")
    grips = [row["sliding_grip_n"] for row in runs]
    if any(grip is None for grip in grips):
        return inf
    return _worst([abs(grip / IDEAL_SLIDING_GRIP - 1) * 100 for grip in grips])


def _as_it_comes(rows: Mapping[str, Sequence[Row]], engine: str) -> float | None:
    runs = [row for row in _select(rows, "grasp", engine=engine, profile="defaults")
            if row["path"] in ("circle", "square", "eight")]  # fmt: skip
    return 100 * sum(not row["held"] for row in runs) / len(runs) if runs else None


def _cross_track(rows: Mapping[str, Sequence[Row]], engine: str, **wanted: str) -> float | None:
    runs = _select(rows, "drive", engine=engine, profile="matched", **wanted)
    errors = [row["cross_track_rmse_m"] for row in runs]
    if any(error is None for error in errors):
        return inf
    paths = {row["path"] for row in runs}
    medians = [median([r["cross_track_rmse_m"] for r in runs if r["path"] == p]) for p in paths]
    return _worst(medians)


def _two_wheels(rows: Mapping[str, Sequence[Row]], engine: str) -> float | None:
    return _cross_track(rows, engine, robot="husky2", control="open", path="circle")


def _closed_loop(rows: Mapping[str, Sequence[Row]], engine: str) -> float | None:
    return _cross_track(rows, engine, robot="husky4", control="closed")


def _skid(rows: Mapping[str, Sequence[Row]], engine: str) -> float | None:
    runs = [row for row in _select(rows, "calibrate", engine=engine) if row["v"] == 0]
    found = [row["track_multiplier"] for row in runs if row["track_multiplier"] is not None]
    return _worst([abs(value / COULOMB_MULTIPLIER - 1) * 100 for value in found])


PURPOSES = (
    Purpose("forces in a grip", "matched: the cube is held, and the variance of the force is within"
            " 5 % of the rigid grasp's on every path", _force, 5.0, "%"),
    Purpose("when a grip slides", f"matched: within 5 % of Coulomb's {IDEAL_SLIDING_GRIP:g} N",
            _sliding, 5.0, "%"),
    Purpose("a grip without tuning", "defaults: no cube is lost", _as_it_comes, 0.0, "% lost"),
    Purpose("two wheels, open loop", "matched: within 0.03 m of the circle", _two_wheels,
            0.03, "m"),
    Purpose("four wheels, closed loop", "matched: within 0.12 m on every path", _closed_loop,
            0.12, "m"),
    Purpose("skidding in place", f"within 10 % of Coulomb's multiplier {COULOMB_MULTIPLIER:g}",
            _skid, 10.0, "%"),
)  # fmt: skip


def _cautions(rows: Mapping[str, Sequence[Row]], engines: Sequence[str]) -> Prose:
    unfinished = [
        f"{engine}: {count} of the {part} runs did not complete"
        for part, of_part in rows.items()
        for engine in engines
        if (count := sum(r["engine"] == engine and r["status"] != "completed" for r in of_part))
    ]
    return Prose("; ".join(unfinished) + "." if unfinished else "Every run completed.")


def _costs(folder: ResultFolder) -> dict[str, float]:
    """Give the median CPU time per simulated second of each engine."""
    timings = folder.timings()
    found: dict[str, list[float]] = {}
    for run in folder.runs():
        if run.recording is not None and len(run.recording["time"]) > 1:
            simulated = float(run.recording["time"][-1] - run.recording["time"][0])
            cost = timings[run.key]["cpu_s"] / simulated
            found.setdefault(str(run.case["engine"]), []).append(cost)
    return {engine: median(costs) for engine, costs in found.items()}


def _cost_bars(costs: Mapping[str, Mapping[str, float]], engines: Sequence[str]) -> Bars:
    return Bars(
        "CPU time for one simulated second",
        tuple(engines),
        tuple(
            BarSeries(part, np.array([of_part.get(engine, np.nan) for engine in engines]))
            for part, of_part in costs.items()
        ),
        Axis("CPU time per simulated second", "s/s", log=True),
        caption="Medians over all cases, controllers and recording included; below 1 is faster"
        " than real time.",
    )


def headline(page: Page) -> Table:
    """Give the table that answers the question, for the screen."""
    return next(figure for figure in page.sections[0].figures if isinstance(figure, Table))
