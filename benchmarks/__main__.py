"""Run benchmarks and print one table: all by `python -m benchmarks`, or those that are named.

`python -m benchmarks reach_ik dynamics_backends` runs these two. How fast the studio draws has a
table of its own and needs Chromium and a folder of runs: `python -m benchmarks.studio_page DIR`; so
has how soon a live room answers the mouse: `python -m benchmarks.live_room`.
Robust bases, stops and lines of mobile manipulators: `python -m benchmarks.mobile_base`. What
Newton's other solvers fail is printed by `python -m benchmarks.newton_solvers`, how much two
workers of a cluster gain, on an idle machine, by `python -m benchmarks.cluster_scaling`, what a
case costs there by `python -m benchmarks.cluster_estimate`, how random dockings end, and how fast a
robot's telegrams are answered, by `python -m benchmarks.docking`; what different grippers carry by
`python -m benchmarks.grippers`, how a trained policy does in other engines by `python -m
benchmarks.train_policy`. The tables of the documentation are written by `benchmarks.try_robots` and
`benchmarks.engine_comparison`.
"""

import platform
import sys
from collections.abc import Sequence
from itertools import chain

from rich.console import Console
from rich.table import Table

from benchmarks import (
    dynamics_backends,
    engine_overhead,
    ground_floor,
    many_rollouts,
    planning,
    reach_ik,
    reach_maps,
    verify,
    walk_planning,
)

PARTS = {
    part.__name__.removeprefix("benchmarks."): part
    for part in (
        ground_floor,
        engine_overhead,
        many_rollouts,
        dynamics_backends,
        reach_ik,
        reach_maps,
        planning,
        walk_planning,
        verify,
    )
}


def main(names: Sequence[str]) -> None:
    for name in names:
        if name not in PARTS:
            print(f"no benchmark '{name}'; there are: {', '.join(PARTS)}", file=sys.stderr)
            sys.exit(2)
    parts = [PARTS[name] for name in dict.fromkeys(names or PARTS)]
    table = Table(title=f"CPU time, {platform.machine()}, Python {platform.python_version()}")
    for column in ("what", "ours, us", "peer, us", "ratio", "peer"):
        table.add_column(column, justify="right" if "us" in column or column == "ratio" else "left")
    for row in chain.from_iterable(part.ratios() for part in parts):
        table.add_row(
            row.subject, f"{row.ours_us:.4g}", f"{row.peer_us:.4g}", f"{row.ratio:.3g}", row.peer
        )
    Console(width=120).print(table)


main(sys.argv[1:])
