"""The tables and figures of the paper with our data, beside the published numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kinetarium.batch.outcomes import case_labels, completion
from kinetarium.batch.study import Findings, Outcome
from kinetarium.dynamics.chain import serial_chain
from kinetarium.figure.charts import Axis, Bars, BarSeries, Heatmap, Lines, Series
from kinetarium.figure.page import Figure, Section
from kinetarium.figure.text import Cell, Prose, Table, header
from kinetarium.model.load import load_robot
from kinetarium.reach.maps.files import ReachMap
from kinetarium.reach.maps.recipe import MapKind, MapRecipe
from kinetarium.reach.placement.plane import FLOOR
from kinetarium.reach.placement.score_raster import slice_map
from kinetarium.recording.recording import Recording
from kinetarium.spatial.arrays import Array
from kinetarium.storage.serialization import from_builtins
from kinetarium.studies.reach.comparison.config import SHORT, Case, Method
from kinetarium.studies.reach.comparison.run import EVALUATORS, POSES, spread
from kinetarium.studies.reach.map_figures import map_figures, slice_figures
from kinetarium.studies.reach.markers import Stage, scene_sections
from kinetarium.studies.reach.placement.figures import placed_arm, score_maps

_TITLES = {
    Method.RANDOM: "random",
    Method.REULEAUX: "Reuleaux-style",
    Method.RM4D: "RM4D-style",
    Method.PAPER: "the source's",
    Method.FAST: "ours, fast",
    Method.STANDARD: "ours, standard",
    Method.THOROUGH: "ours, thorough",
    Method.BRUTE_FORCE: "brute force",
}
"""Names of the methods in tables and figures."""
PUBLISHED: dict[str, dict[str, Any]] = {
    "table_2_ms": {
        "reuleaux": {"map": 2543.53, "base": 122.29, "total": 2665.82},
        "paper": {"map": 0.1623, "base": 61.06, "total": 61.22},
    },
    "table_3": {
        "random": {"success": (0.3643, 0.2298), "manipulability": (0.0628, 0.0165)},
        "rm4d": {"success": (0.5864, 0.1441), "manipulability": (0.0370, 0.0130)},
        "paper": {"success": (0.6579, 0.1421), "manipulability": (0.0671, 0.0082)},
    },
}
"""The numbers of the paper: mean and standard deviation in its Table 3."""
_LEAD = (
    "Base placement methods for a Panda and a set of poses, all scored by the same two"
    " evaluators: exact inverse kinematics, and a numerical solver with one start, whose"
    " failures dominate the published success rates. 'The source' is the paper whose tables and"
    " figures are reproduced here with their numbers."
)
_BINS = 24

Named = Mapping[str, Outcome[Case]]
"""Outcomes by their names in tables and figures."""


def report(outcomes: Sequence[Outcome[Case]]) -> Findings:
    """Compare all methods with the published numbers, with every figure of the paper."""
    done = [o for o in outcomes if o.recording]
    main = [o for o in done if o.case.shown or o.case.method is not Method.PAPER]
    titles = [_TITLES[outcome.case.method] for outcome in main]
    if len(set(titles)) < len(titles):  # a batch, of several seeds for one
        titles = case_labels([outcome.case for outcome in main])
    named = dict(zip(titles, main, strict=True))
    tables = (_table_1(named), _table_2(named))
    sections: list[Section] = []
    if named:
        sections += [
            Section("Success", _distributions(named)),
            Section("Time", (tables[1], _times(named))),
            *_source_figures(tables[0], [o for o in main if o.case.shown]),
        ]
    if paper := [o for o in done if o.case.method is Method.PAPER]:
        sections.append(Section("Resolution of the map", _resolution(paper)))
    summary = {title: outcome.rows[0]["exact_success"] for title, outcome in named.items()}
    extra = {"published": PUBLISHED}
    return Findings(
        _table_3(named),
        tuple(sections),
        summary,
        extra,
        _LEAD,
        tables,
        conclusion=_conclusion(named, outcomes),
    )


def _conclusion(named: Named, outcomes: Sequence[Outcome[Case]]) -> str:
    """Return the share of poses that the best method and the source reach."""
    shares = {title: float(o.rows[0]["exact_success"]) for title, o in named.items()}
    if not shares:
        return completion(outcomes)
    top = max(shares.values())
    best = [title for title, share in shares.items() if share == top]
    words = f"{' and '.join(best)}: {100 * top:.1f} % of the poses are reached, the most"
    others = [f"{title} {100 * share:.1f} %" for title, share in shares.items() if share < top]
    words += f"; {', '.join(others)}" if others else ""
    said = PUBLISHED["table_3"][Method.PAPER]["success"][0]
    words += f". The source publishes {100 * said:.1f} % for its method"
    return f"{words}. {completion(outcomes)}"


def _table_1(named: Named) -> Table:
    """Return how each of three poses is reached from the chosen base."""
    columns = header("method | pose | reached | manipulability [m^3] | one-start numerical")
    rows: list[tuple[Cell, ...]] = []
    for title, outcome in named.items():
        if outcome.case.method in (Method.PAPER, Method.STANDARD):
            judged = zip(*(outcome.rows[0][f"{name}_three"] for name in EVALUATORS), strict=True)
            for number, (exact, numerical) in enumerate(judged, start=1):
                reached, by_one = ("no" if w is None else "yes" for w in (exact, numerical))
                rows.append((title, number, reached, exact, by_one))
    return Table("Table 1: the base for three poses, verified", columns, tuple(rows))


def _table_2(named: Named) -> Table:
    """Return the computing times of a map and a base for three poses."""
    parts = ("map", "base", "total")
    columns = header(
        "method | map of one pose [ms] | base [ms] | total [ms]"
        " | published map [ms] | published base [ms] | published total [ms]"
    )
    rows: list[tuple[Cell, ...]] = []
    for title, outcome in named.items():
        costs = [outcome.timing.get(f"three_{part}_s") for part in parts]
        said = PUBLISHED["table_2_ms"].get(outcome.case.method, {})
        if any(costs):
            rows.append((title, *map(_ms, costs), *(said.get(part) for part in parts)))
    return Table("Table 2: time for a 2-D map and for the base, in CPU time", columns, tuple(rows))


def _table_3(named: Named) -> Table:
    """Return how many poses of random sets each method reaches."""
    columns = header(
        "method | sets | success | std | all reached | manipulability [m^3] | std [m^3] | "
        "success, one-start numerical | published success | published std | "
        "published manipulability [m^3] | published std [m^3] | time [ms]"
    )
    figures = (
        "exact_success", "exact_success_std", "exact_all_reached", "exact_manipulability",
        "exact_manipulability_std", "numerical_success",
    )  # fmt: skip
    rows = tuple(
        (
            title,
            outcome.case.sets,
            *(outcome.rows[0][figure] for figure in figures),
            *said.get("success", (None, None)),
            *said.get("manipulability", (None, None)),
            _ms(outcome.timing.get("median_s")),
        )
        for title, outcome in named.items()
        for said in (PUBLISHED["table_3"].get(outcome.case.method, {}),)
    )
    title = f"Table 3: sets of {POSES} random poses, exact inverse kinematics"
    return Table(title, columns, rows)


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else 1e3 * seconds


def _distributions(named: Named) -> tuple[Figure, ...]:
    """Draw Figs. 9 and 10: the distributions of success and manipulability over the sets."""
    spreads = {title: spread(outcome.recorded["exact"]) for title, outcome in named.items()}
    drawn = (Method.RANDOM, Method.RM4D, Method.PAPER, Method.STANDARD)
    success = Bars(
        "Fig. 9: fraction of the 20 poses that is reached",
        tuple(f"{number / POSES:.2f}" for number in range(POSES + 1)),
        tuple(
            BarSeries(title, _part(spreads[title][0]))
            for title, outcome in named.items()
            if outcome.case.method in drawn
        ),
        Axis("fraction of the sets"),
        caption="Exact inverse kinematics with self-collision.",
    )
    top = max(quality.max(initial=0.0) for _, quality in spreads.values()) or 1.0
    edges = np.linspace(0.0, top, _BINS + 1)
    quality = Lines(
        "Fig. 10: manipulability at reached poses",
        Axis("mean manipulability of a set", "m^3"),
        Axis("density", "1/m^3"),
        tuple(
            Series(
                title,
                (edges[1:] + edges[:-1]) / 2,
                np.histogram(v, edges)[0] / (max(len(v), 1) * (edges[1] - edges[0])),
            )
            for title, (_, v) in spreads.items()
        ),
    )
    return success, quality


def _part(success: Array) -> Array:
    """Return the fraction of the sets with each number of reached poses."""
    numbers = np.rint(success * POSES).astype(np.int64)
    part: Array = np.bincount(numbers, minlength=POSES + 1) / len(success)
    return part


def _times(named: Named) -> Bars:
    """Draw Fig. 11: medians and quartiles of the computing time of a base."""
    low, middle, high = (
        np.array([1e3 * outcome.timing.get(name, np.nan) for outcome in named.values()])
        for name in ("lower_s", "median_s", "upper_s")
    )
    return Bars(
        "Fig. 11: time for the base of 20 poses",
        tuple(named),
        (BarSeries("CPU time", middle, low, high),),
        Axis("CPU time", "ms", log=True),
        caption="Medians, with the quartiles as the range.",
    )


def _source_figures(table_1: Table, shown: Sequence[Outcome[Case]]) -> tuple[Section, ...]:
    """Draw Figs. 1 to 8 beside Table 1: the paper's base for three poses, and its maps."""
    title = "The base for three poses"
    if not shown:
        return (Section(title, (table_1,)),)
    recording = shown[0].recorded
    facts, robot = recording.facts, load_robot(shown[0].case.robot)
    arm = serial_chain(robot, base_link=facts["base_link"], tool=facts["tool"])
    stage = Stage(arm, FLOOR, (), facts["radius_m"])
    kinds = (MapKind.IRM3, MapKind.CAPABILITY)
    inverse, capability = (_recorded_map(recording, kind) for kind in kinds)
    cut = slice_map(inverse, recording["poses"][0])
    return (
        Section(title, (table_1, placed_arm(recording, stage, prefix="Fig. 7: "))),
        Section("Scores of base positions", score_maps(recording, stage, prefix="Figs. 6, 8: ")),
        *scene_sections(slice_figures(cut, inverse, prefix="Figs. 3 to 5: ")),
        *scene_sections(map_figures(capability, prefix="Fig. 1: ")),
        *scene_sections(map_figures(inverse, prefix="Fig. 2: ")),
    )


def _recorded_map(recording: Recording, kind: MapKind) -> ReachMap:
    recipe = from_builtins(MapRecipe, recording.facts["maps"][kind], where=f"the {kind} map")
    names = [name for name in recording.channels if name.startswith(f"{kind}/")]
    fields = {name.partition("/")[2]: recording[name] for name in names}
    return ReachMap(None, recipe, fields, {}, {})


def _resolution(paper: Sequence[Outcome[Case]]) -> tuple[Figure, ...]:
    """Draw the success of the paper's method over voxel size and poses per voxel."""
    found = {
        (row["poses_per_voxel"], row["voxel_m"]): spread(outcome.recorded["exact"][:SHORT])[0]
        for outcome in paper
        for row in outcome.rows
    }
    counts, voxels = (sorted(set(each)) for each in zip(*found, strict=True))
    values = np.full((len(counts), len(voxels)), np.nan)
    for (count, voxel), success in found.items():
        values[counts.index(count), voxels.index(voxel)] = success.mean()
    chart = Heatmap(
        "Success of the source's method over the resolution of its map",
        Axis("voxel", "m"),
        Axis("poses per voxel"),
        tuple(f"{voxel:g}" for voxel in voxels),
        tuple(str(count) for count in counts),
        values,
        Axis("success"),
        annotate=True,
        caption=f"Means over up to {SHORT} sets.",
    )
    words = Prose(
        "A slice has the resolution of its voxels; the source names the dependence on their size"
        " as its limitation. This is its own method with fine and coarse maps, scored by exact"
        " inverse kinematics."
    )
    return chart, words
