"""`kinetarium reach compare`: compare ways to choose a base, beside the published numbers."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from kinetarium.cli.core.invocation import Invocation
from kinetarium.cli.reach.build import shown_progress
from kinetarium.cli.reach.flags import THREADS, Folder, Threads
from kinetarium.ranges import Range, Seed


@dataclass(frozen=True, kw_only=True)
class Config:
    """What to compare.

    Attributes:
        out: Folder of the maps, the tables and the page; maps that are there are used again.
        sets: Sets of 20 random poses.
        seed: Seed of the poses.
        samples: Random configurations of the binary map.
        workers: Threads that build maps side by side.
    """

    out: Folder
    sets: Annotated[int, Range(1, 100_000, unit="-"), tyro.conf.arg(metavar="N")] = 1000
    seed: Annotated[Seed, tyro.conf.arg(metavar="N")] = 0
    samples: Annotated[int, Range(1, 1_000_000_000, unit="-"), tyro.conf.arg(metavar="N")] = (
        10_000_000
    )
    workers: Threads = THREADS


def run(config: Config, invocation: Invocation) -> None:
    """Choose bases in every way for every set, and print the tables."""
    from kinetarium.cli.core.invocation import provenance
    from kinetarium.report.html.files import write_page
    from kinetarium.studies.reach.compare import compare_methods
    from kinetarium.studies.reach.compare_page import compare_page, table_1, table_2, table_3

    console = invocation.console
    with shown_progress(console) as watch:
        tables = compare_methods(
            config.out,
            sets=config.sets,
            seed=config.seed,
            samples=config.samples,
            workers=config.workers,
            progress=watch,
        )
    page = compare_page(Path(config.out), tables, provenance=provenance(invocation.command_line))
    report = str(write_page(Path(config.out), page, force=invocation.force))
    for table in (table_1(tables), table_2(tables), table_3(tables)):
        console.table(table)
        console.line()
    console.line(f"report: {report}")
    console.result({"ok": True, **tables, "out": config.out, "report": report})
