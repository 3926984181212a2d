"""The figures of the source with our data, on one page."""

from pathlib import Path
from typing import Any

import numpy as np

from kinetarium.figure.charts import Axis, Bars, BarSeries, Heatmap, Lines, Series
from kinetarium.figure.page import Figure, Page, Section
from kinetarium.figure.text import Cell, Column, Prose, Table
from kinetarium.reach.maps.files import open_map
from kinetarium.reach.maps.recipe import MapKind
from kinetarium.reach.placement.query import BasePlacement, Placer
from kinetarium.reach.placement.score_raster import slice_map
from kinetarium.reach.placement.search import solve_at_base
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import pose, rotation_about
from kinetarium.studies.reach.map_figures import map_figures
from kinetarium.studies.reach.markers import scene_sections
from kinetarium.studies.reach.placement_figures import placed_arm, union_figures
from kinetarium.studies.reach.slice_figures import slice_figures

TITLES = {
    "random": "random",
    "reuleaux": "Reuleaux-style",
    "rm4d": "RM4D-style",
    "paper": "the source's",
    "fast": "ours, fast",
    "standard": "ours, standard",
    "thorough": "ours, thorough",
    "brute force": "brute force",
}
"""The methods as they are called in tables and figures."""


def table_1(tables: dict[str, Any]) -> Table:
    """Say of three poses how they are reached from the base that was chosen."""
    columns = (
        Column("method"), Column("pose"), Column("reached"), Column("manipulability", "m^3"),
        Column("one-start numerical"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for method, judged in tables["table_1"].items():
        for number, (exact, numerical) in enumerate(
            zip(judged["exact"], judged["numerical"], strict=True)
        ):
            found = ("no" if value is None else "yes" for value in (exact, numerical))
            reached, by_one = found
            rows.append((TITLES[method], number + 1, reached, exact, by_one))
    return Table("Table 1: the base for three poses, verified", columns, tuple(rows))


def table_2(tables: dict[str, Any]) -> Table:
    """Say what a map and a base cost for three poses."""
    columns = (
        Column("method"), Column("map of one pose", "ms"), Column("base", "ms"),
        Column("total", "ms"), Column("published map", "ms"), Column("published base", "ms"),
        Column("published total", "ms"),
    )  # fmt: skip
    published = tables["published"]["table_2_ms"]
    rows = tuple(
        (
            TITLES[method],
            *(costs.get(part) for part in ("map", "base", "total")),
            *(published.get(method, {}).get(part) for part in ("map", "base", "total")),
        )
        for method, costs in tables["timing"]["table_2_ms"].items()
    )
    return Table("Table 2: time for a 2-D map and for the base, in CPU time", columns, rows)


def table_3(tables: dict[str, Any]) -> Table:
    """Say how many poses of random sets each method reaches."""
    columns = (
        Column("method"), Column("success"), Column("std"), Column("all reached"),
        Column("manipulability", "m^3"), Column("std", "m^3"),
        Column("success, one-start numerical"), Column("published success"),
        Column("published std"), Column("published manipulability", "m^3"),
        Column("published std", "m^3"), Column("time", "ms"),
    )  # fmt: skip
    published = tables["published"]["table_3"]
    rows = []
    for method, result in tables["table_3"].items():
        exact, said = result["exact"], published.get(method, {})
        rows.append(
            (
                TITLES[method],
                *exact["success"],
                exact["all_reached"],
                *(exact["manipulability"] or (None, None)),
                result["numerical"]["success"][0],
                *said.get("success", (None, None)),
                *said.get("manipulability", (None, None)),
                tables["timing"]["table_3_ms"][method],
            )
        )
    title = f"Table 3: {tables['sets']} sets of 20 random poses, exact inverse kinematics"
    return Table(title, columns, tuple(rows))


_LEAD = (
    "Ways to choose the base of a Panda for a set of poses, all through the same two"
    " evaluators: exact inverse kinematics, and a numerical solver with one start, whose"
    " failures the published success rates mostly show. The figures are numbered as in the"
    " source."
)
_BINS = 24


def compare_page(
    folder: Path, tables: dict[str, Any], *, provenance: tuple[tuple[str, str], ...]
) -> Page:
    """Return the page of a comparison.

    Args:
        folder: Where its maps are.
        tables: What `compare_methods` gave.
        provenance: How to make it again.
    """
    maps = {kind: open_map(folder / f"{kind}.rmap") for kind in MapKind}
    three = np.array(tables["three_poses"]["poses"])
    base = np.array(tables["three_poses"]["bases"]["paper"])
    placer = Placer(maps[MapKind.IRM3])
    placement = _placement(placer, three, base=base)
    union, best, best_scene = union_figures(placement, three, placer=placer, prefix="Figs. 6, 8: ")
    arm = placed_arm(placement, three, placer=placer, prefix="Fig. 7: ")
    cut = slice_map(maps[MapKind.IRM3], three[0])
    sections = (
        Section("Success", (table_3(tables), *_distributions(tables))),
        Section("Time", (table_2(tables), _times(tables))),
        Section("The base for three poses", (table_1(tables), arm)),
        Section("Where it may stand", (union, best, best_scene)),
        *scene_sections(slice_figures(cut, maps[MapKind.IRM3], prefix="Figs. 3 to 5: ")),
        *scene_sections(map_figures(maps[MapKind.CAPABILITY], prefix="Fig. 1: ")),
        *scene_sections(map_figures(maps[MapKind.IRM3], prefix="Fig. 2: ")),
        Section("How fine a map must be", _resolution(tables)),
    )
    return Page("Where to put a base: methods compared", _LEAD, sections, provenance)


def _placement(placer: Placer, poses: Array, *, base: Array) -> BasePlacement:
    """Return the source's own choice as a placement."""
    q, w = solve_at_base(placer.scene, poses, base=base, effort=placer.arm.full_effort)
    X_WB = pose((base[0], base[1], 0.0), rotation_about((0, 0, 1), base[2]))
    reached = w >= 0.0
    return BasePlacement(X_WB, float(base[2]), reached, q, np.where(reached, w, np.nan), 0.0)


def _distributions(tables: dict[str, Any]) -> tuple[Figure, ...]:
    """Draw Figs. 9 and 10: how success and manipulability are spread over the sets."""
    rows = tables["distributions"]
    shares = np.arange(21) / 20
    success = Bars(
        "Fig. 9: how many of the 20 poses are reached",
        tuple(f"{share:.2f}" for share in shares),
        tuple(
            BarSeries(TITLES[name], _part(row["exact"]["success"], shares))
            for name, row in rows.items()
            if name in ("random", "rm4d", "paper", "standard")
        ),
        Axis("part of the sets"),
        caption="Exact inverse kinematics with self-collision.",
    )
    values = {
        name: np.array([v for v in row["exact"]["manipulability"] if v is not None])
        for name, row in rows.items()
    }
    top = max((v.max(initial=0.0) for v in values.values()), default=0.0) or 1.0
    edges = np.linspace(0.0, top, _BINS + 1)
    quality = Lines(
        "Fig. 10: manipulability where poses are reached",
        Axis("mean manipulability of a set", "m^3"),
        Axis("density", "1/m^3"),
        tuple(
            Series(
                TITLES[name],
                (edges[1:] + edges[:-1]) / 2,
                np.histogram(v, edges)[0] / (max(len(v), 1) * (edges[1] - edges[0])),
            )
            for name, v in values.items()
        ),
    )
    return success, quality


def _part(success: list[float], shares: Array) -> Array:
    """Return the part of the sets with each share of reached poses."""
    number = np.rint(np.array(success) * (len(shares) - 1)).astype(np.int64)
    counts = np.bincount(number, minlength=len(shares))
    part: Array = counts / max(len(success), 1)
    return part


def _times(tables: dict[str, Any]) -> Bars:
    """Draw Fig. 11: medians and quartiles of what a base costs."""
    costs = {name: np.array(values) for name, values in tables["timing"]["each_ms"].items()}
    low, middle, high = (
        np.array([np.quantile(values, q) for values in costs.values()]) for q in (0.25, 0.5, 0.75)
    )
    return Bars(
        "Fig. 11: time for the base of 20 poses",
        tuple(TITLES[name] for name in costs),
        (BarSeries("CPU time", middle, low, high),),
        Axis("CPU time", "ms", log=True),
        caption="Medians, with the quartiles as the range.",
    )


def _resolution(tables: dict[str, Any]) -> tuple[Figure, ...]:
    """Draw the success of the source's method over voxel size and poses per voxel."""
    rows = tables["resolution"]
    voxels = sorted({row["voxel_m"] for row in rows})
    counts = sorted({row["poses"] for row in rows})
    values = np.full((len(counts), len(voxels)), np.nan)
    for row in rows:
        values[counts.index(row["poses"]), voxels.index(row["voxel_m"])] = row["success"]
    chart = Heatmap(
        "Success of the source's method by its map",
        Axis("voxel", "m"),
        Axis("poses per voxel"),
        tuple(f"{voxel:g}" for voxel in voxels),
        tuple(str(count) for count in counts),
        values,
        Axis("success"),
        annotate=True,
    )
    words = Prose(
        "A slice takes over the scores of voxels; the source names the dependence on their size"
        " as its limitation. This is its own rule, with maps from fine to coarse, through exact"
        " inverse kinematics."
    )
    return chart, words
