"""`kinetarium compare`: compare the results of two folders."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import tyro

from kinetarium.cli.core.invocation import Invocation
from kinetarium.ranges import Range


@dataclass(frozen=True, kw_only=True)
class Config:
    """The folders to compare.

    Attributes:
        first: Result folder of a study or batch.
        second: Another result folder of the same study.
        tolerance: Relative difference up to which two numbers are considered equal [-].
    """

    first: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="A")]
    second: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="B")]
    tolerance: Annotated[float, Range(0.0, 2.0, unit="-")] = 0.0


def run(config: Config, invocation: Invocation) -> int:
    """Print the differences by column; exit code 1 if anything differs."""
    from kinetarium.batch.comparison import compare
    from kinetarium.figure.text import Column, Table, as_cell
    from kinetarium.recording.result_folder import ResultFolder

    first, second = (ResultFolder.open(path) for path in (config.first, config.second))
    comparison = compare(first, second, tolerance=config.tolerance)
    console = invocation.console
    for title, entries in (("settings", comparison.settings), ("versions", comparison.versions)):
        if entries:
            columns = (Column(title), Column(str(first.path)), Column(str(second.path)))
            console.table(Table("", columns, entries))
            console.line()
    headings = ("column", "rows", "differing", "largest", "relative", "A", "B", "where")
    console.table(
        Table(
            "",
            tuple(map(Column, headings)),
            tuple(
                (
                    d.column,
                    d.rows,
                    d.differing,
                    d.largest,
                    d.relative,
                    *map(as_cell, d.values),
                    d.where,
                )
                for d in comparison.differences
            ),
        )
    )
    for count, path in ((comparison.only_first, first.path), (comparison.only_second, second.path)):
        if count:
            console.line(f"{count} rows only in {path}")
    console.line("equal" if comparison.equal else "different")
    console.result({"ok": True, "equal": comparison.equal, **asdict(comparison)})
    return 0 if comparison.equal else 1
