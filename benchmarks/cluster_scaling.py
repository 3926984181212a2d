"""How much faster two workers of a cluster are than one, and what a task costs.

`python -m benchmarks.cluster_scaling` on an idle machine of at least two cores prints a table of
its own: map build and grasp sweep with one and two workers of a Dask cluster on this machine,
the share of time that our layer adds to tasks of 1 s, and from these the time on 1,000 cores.
Times are wall-clock times, since the machine waits for its workers.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

from kinetarium import load_robot
from kinetarium.batch.cluster._remote import Requirements
from kinetarium.batch.cluster.connection import ClusterSettings, connected
from kinetarium.batch.cluster.executor import ClusterExecutor, cluster_shards, dispatcher_of
from kinetarium.batch.plan import Plan
from kinetarium.batch.worker import Executor
from kinetarium.reach.maps.build import build_map
from kinetarium.reach.maps.recipe import MapKind

GRASPS = {
    "study": "grasp",
    "config": {"engine": ["mujoco"], "path": ["circle"], "profile": ["matched"], "starts": 24,
               "duration": 2.0},
}  # fmt: skip
TASKS = 40
"""Tasks of one second, for the cost of our layer."""
CORES = 1000


def main() -> None:
    table = Table(title=f"Dask on this machine, {os.cpu_count()} cores")
    for column in ("what", "1 worker, s", "2 workers, s", "ratio"):
        table.add_column(column, justify="left" if column == "what" else "right")
    cost: dict[str, float] = {}
    for name, work in (("reachability map, panda", map_build), ("grasp sweep, 24 cases", grasps)):
        one, two = work(1), work(2)
        cost[name] = one
        table.add_row(name, f"{one:.1f}", f"{two:.1f}", f"{one / two:.2f}")
    spent = {workers: sleeping(workers) for workers in (1, 2)}
    ratio = f"{spent[1] / spent[2]:.2f}"
    table.add_row(f"{TASKS} tasks of 1 s", f"{spent[1]:.1f}", f"{spent[2]:.1f}", ratio)
    console = Console(width=110)
    console.print(table)
    console.print(f"our layer and Dask add {100 * (spent[1] / TASKS - 1):.1f} % to tasks of 1 s")
    overhead = parcel_cost()
    console.print(f"a parcel costs {1e3 * overhead:.1f} ms of the coordinator and the scheduler")
    per_case = cost["grasp sweep, 24 cases"] / 24
    total = 100_000 * per_case
    console.print(
        f"estimate for {CORES} cores and 100,000 grasps of {per_case:.2f} s:"
        f" {total / 3600:.1f} h of one core, {total / CORES:.0f} s on {CORES} cores if the"
        f" scheduler keeps up; it does with parcels above {overhead * CORES:.1f} s, which the"
        " dispatcher chooses by itself"
    )


def map_build(workers: int) -> float:
    """Return the time to build a map, without that to start the cluster [s]."""
    robot = load_robot("panda")
    times: list[float] = []
    with TemporaryDirectory() as folder:
        build_map(
            robot,
            Path(folder) / "panda.rmap",
            kind=MapKind.CAPABILITY,
            voxel=0.05,
            elsewhere=cluster_shards(ClusterSettings(), workers=workers),
            progress=lambda done, total: times.append(time.perf_counter()),
        )
    # The first shards of each worker compile kernels; times[0] is before any.
    return timed_from(times, after=workers)


def grasps(workers: int) -> float:
    """Return the time of a grasp sweep, from the first finished case of each worker [s]."""
    executor: Executor = ClusterExecutor(
        ClusterSettings(), workers=workers, timeout=600.0, memory=4e9
    )
    times: list[float] = []
    with TemporaryDirectory() as folder:
        for _ in executor.execute(Plan.of_content(GRASPS).tasks(), runs=Path(folder)):
            times.append(time.perf_counter())
    return timed_from(times, after=workers)


def timed_from(times: list[float], *, after: int) -> float:
    """Return the duration of all, from the rate after the first ones, which load libraries [s]."""
    rate = (len(times) - 1 - after) / (times[-1] - times[after])
    return len(times) / rate


def sleeping(workers: int) -> float:
    """Return the time of tasks of one second, from the first result on [s]."""
    settings = ClusterSettings()
    with connected(settings, workers=workers) as client:
        dispatcher = dispatcher_of(client, settings, Requirements())
        times = [
            time.perf_counter()
            for _ in dispatcher.run(
                range(TASKS), submit=lambda token, items: (nap, (1.0,)), seconds=lambda took: took
            )
        ]
    return timed_from(times, after=workers)


def nap(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def parcel_cost(count: int = 400) -> float:
    """Return the CPU time of this process for one parcel; the scheduler runs in it [s]."""
    settings = ClusterSettings()

    def run(items: int) -> float:
        before = time.process_time()
        work: Callable[..., tuple[Callable[..., float], tuple[float]]]
        work = lambda token, given: (nap, (0.0,))  # noqa: E731
        for _ in dispatcher.run(range(items), submit=work, seconds=lambda took: 10.0):
            pass
        return time.process_time() - before

    with connected(settings, workers=2) as client:
        dispatcher = dispatcher_of(client, settings, Requirements())
        run(20)
        return run(count) / count


if __name__ == "__main__":
    main()
