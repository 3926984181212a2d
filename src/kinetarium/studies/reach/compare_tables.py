"""Tables 1 to 3 of the source with our data, published numbers beside them."""

from typing import Any

from kinetarium.figure.cell import Cell
from kinetarium.figure.table import Column, Table

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
