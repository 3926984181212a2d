"""How much faster two workers of a cluster are than one, and what our layer adds to real cases.

`python -m benchmarks.cluster_scaling` on an idle machine of at least two cores, 6 minutes;
`--short` is a trial of a minute, whose ratios are too low. Each job, a grasp sweep and a map, is
done

- in one process and in two at once, each with half of it, without our layer: what the machine
  can give, which is less than 2 where cores share memory, cache or their highest frequency;
- on a Dask cluster on this machine with one worker and with two: everything from the plan to the
  written results, with workers that have loaded their libraries.

Times are wall-clock times, since the machine waits for its workers; what each case costs in CPU
time, also on a busy machine, is measured by `python -m benchmarks.cluster_estimate`.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console
from rich.table import Table

from kinetarium import load_robot
from kinetarium.batch.cluster._remote import Requirements
from kinetarium.batch.cluster.connection import ClusterSettings, connected
from kinetarium.batch.cluster.executor import ClusterExecutor, cluster_shards, dispatcher_of
from kinetarium.batch.plan import Plan
from kinetarium.batch.sweep import run_plan
from kinetarium.batch.worker import run_case
from kinetarium.batch.worker_process import ONE_THREAD
from kinetarium.reach.maps.build import build_map
from kinetarium.reach.maps.recipe import MapKind

NAPS = 20
"""Tasks of one second, for the cost of our layer alone."""


@dataclass(frozen=True)
class Job:
    """Work in two forms.

    Attributes:
        name: Its name in the table.
        bare: Does every n-th part of it, from the i-th, in this process: (size, i, n).
        on_cluster: Does all of it: (size, settings).
        size: Its size.
        trial: Size that loads all libraries.
    """

    name: str
    bare: Callable[[float, int, int], None]
    on_cluster: Callable[[float, ClusterSettings], None]
    size: float
    trial: float


def grasp_plan(starts: float, **fields: Any) -> Plan:
    config = {"engine": ["mujoco"], "path": ["circle"], "profile": ["matched"],
              "starts": int(starts), "duration": 2.0, **fields}  # fmt: skip
    return Plan.of_content({"study": "grasp", "config": config})


def bare_grasps(starts: float, first: int, step: int) -> None:
    with TemporaryDirectory() as folder:
        for task in grasp_plan(starts).tasks()[first::step]:
            run_case(task, Path(folder))


def grasps_on_cluster(starts: float, settings: ClusterSettings) -> None:
    executor = ClusterExecutor(settings, workers=0, timeout=600.0, memory=4e9)
    with TemporaryDirectory() as folder:
        run_plan(grasp_plan(starts), out=Path(folder) / "out", executor=executor)


def bare_map(voxel: float, first: int, step: int) -> None:
    """Compute every n-th shard; the others are empty."""

    def compute(maker: Any, numbers: Any) -> Iterator[tuple[int, bytes]]:
        empty = bytes(maker.dtype.itemsize * prod(maker.shape) // maker.shards)
        for number in numbers:
            yield number, maker.shard(number).tobytes() if number % step == first else empty

    panda_map(voxel, compute)


def map_on_cluster(voxel: float, settings: ClusterSettings) -> None:
    panda_map(voxel, cluster_shards(settings, workers=0))


def panda_map(voxel: float, elsewhere: Any) -> None:
    with TemporaryDirectory() as folder:
        build_map(load_robot("panda"), Path(folder) / "panda.rmap", kind=MapKind.CAPABILITY,
                  voxel=voxel, elsewhere=elsewhere)  # fmt: skip


def timed(work: Callable[..., None], *arguments: Any) -> float:
    """Return the wall time of a call [s]."""
    began = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - began


def without_layer(job: Job) -> tuple[float, float]:
    """Return the wall times of one process with all of a job, and of two with half of it each [s].

    Both have loaded their libraries before.
    """
    started = [ProcessPoolExecutor(1, mp_context=get_context("spawn")) for _ in range(2)]
    try:
        for pool in started:
            pool.submit(job.bare, job.trial, 0, 1).result()
        alone = started[0].submit(timed, job.bare, job.size, 0, 1).result()
        halves = [pool.submit(timed, job.bare, job.size, i, 2) for i, pool in enumerate(started)]
        return alone, max(half.result() for half in halves)
    finally:
        for pool in started:
            pool.shutdown()


@contextmanager
def cluster(workers: int) -> Iterator[ClusterSettings]:
    """Start a cluster on this machine, encrypted, and yield how it is reached."""
    with TemporaryDirectory() as folder, connected(ClusterSettings(), workers=workers) as client:
        made = client.security
        texts = {"tls_ca": made.tls_ca_file, "tls_cert": made.tls_client_cert,
                 "tls_key": made.tls_client_key}  # fmt: skip
        for name, text in texts.items():
            Path(folder, name).write_text(text)
        files = {name: str(Path(folder, name)) for name in texts}
        yield ClusterSettings(address=client.scheduler.address, lease=1.0, **files)


def with_layer(job: Job, *, workers: int) -> float:
    """Return the wall time of a job on a cluster whose workers have loaded their libraries [s]."""
    with cluster(workers) as settings:
        job.on_cluster(job.trial, settings)
        return timed(job.on_cluster, job.size, settings)


def nap(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def naps(count: int) -> float:
    """Return the wall time of tasks of one second with one worker, from the first result on [s]."""
    settings = ClusterSettings()
    with connected(settings, workers=1) as client:
        dispatcher = dispatcher_of(client, settings, Requirements())
        times = [
            time.perf_counter()
            for _ in dispatcher.run(
                range(count), submit=lambda token, items: (nap, (1.0,)), seconds=lambda took: took
            )
        ]
    return (times[-1] - times[0]) * count / (count - 1)


def main(*, short: bool) -> None:
    os.environ.update(ONE_THREAD)  # in the processes that are started, as in workers
    jobs = [
        Job("grasp sweep", bare_grasps, grasps_on_cluster, 12 if short else 240, 6),
        Job("map of the panda", bare_map, map_on_cluster, 0.05 if short else 0.02, 0.12),
    ]
    table = Table(title=f"Wall time \\[s], {os.cpu_count()} cores")
    for name in ("job", "1 process", "2 processes", "ratio", "1 worker", "2 workers", "ratio",
                 "of what the machine gives", "1 worker over 1 process"):  # fmt: skip
        table.add_column(name, justify="left" if name == "job" else "right")
    for job in jobs:
        alone, halves = without_layer(job)
        one, two = (with_layer(job, workers=workers) for workers in (1, 2))
        table.add_row(
            job.name, f"{alone:.1f}", f"{halves:.1f}", f"{alone / halves:.2f}", f"{one:.1f}",
            f"{two:.1f}", f"{one / two:.2f}", f"{100 * (one / two) / (alone / halves):.0f} %",
            f"{100 * (one / alone - 1):+.1f} %",
        )  # fmt: skip
    console = Console(width=130)
    console.print(table)
    count = 5 if short else NAPS
    console.print(f"{count} tasks of 1 s that sleep: {100 * (naps(count) / count - 1):+.1f} %")


if __name__ == "__main__":
    main(short="--short" in sys.argv)
