"""Run every benchmark and print one table: `python -m benchmarks`."""

import platform
from itertools import chain

from rich.console import Console
from rich.table import Table

from benchmarks import dynamics_backends, engine_overhead, ground_floor


def main() -> None:
    table = Table(title=f"CPU time, {platform.machine()}, Python {platform.python_version()}")
    for column in ("what", "ours, us", "peer, us", "ratio", "peer"):
        table.add_column(column, justify="right" if "us" in column or column == "ratio" else "left")
    for row in chain(ground_floor.ratios(), engine_overhead.ratios(), dynamics_backends.ratios()):
        table.add_row(
            row.subject, f"{row.ours_us:.1f}", f"{row.peer_us:.1f}", f"{row.ratio:.2f}", row.peer
        )
    Console(width=120).print(table)


main()
