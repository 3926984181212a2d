"""Run every benchmark and print one table: `python -m benchmarks`."""

import platform
from itertools import chain

from rich.console import Console
from rich.table import Table

from benchmarks import (
    dynamics_backends,
    engine_overhead,
    ground_floor,
    reach_ik,
    reach_maps,
)

PARTS = (ground_floor, engine_overhead, dynamics_backends, reach_ik, reach_maps)


def main() -> None:
    table = Table(title=f"CPU time, {platform.machine()}, Python {platform.python_version()}")
    for column in ("what", "ours, us", "peer, us", "ratio", "peer"):
        table.add_column(column, justify="right" if "us" in column or column == "ratio" else "left")
    for row in chain.from_iterable(part.ratios() for part in PARTS):
        table.add_row(
            row.subject, f"{row.ours_us:.4g}", f"{row.peer_us:.4g}", f"{row.ratio:.2g}", row.peer
        )
    Console(width=120).print(table)


main()
