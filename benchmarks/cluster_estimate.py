"""What a case costs on a cluster in CPU time, and what follows for 1,000 cores.

`python -m benchmarks.cluster_estimate` runs two short sweeps on a Dask cluster of one worker on
this machine, a minute if it is idle, and prints the tables of docs/cluster.md. CPU time is that of
each process, so that other work on the machine disturbs it little. The estimate is the formula of
`estimate`, not a measurement.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import psutil
from rich.console import Console
from rich.table import Table

from kinetarium.batch.cluster._remote import Delivered, Requirements, files_digest
from kinetarium.batch.cluster.connection import ClusterSettings, connected
from kinetarium.batch.cluster.executor import (
    _PARCEL,
    _TASK_COST,
    ClusterExecutor,
    _accept,
    dispatcher_of,
)
from kinetarium.batch.plan import Plan
from kinetarium.batch.study import Findings, Outcome, Study
from kinetarium.batch.sweep import Progress, conclude, run_plan
from kinetarium.batch.worker import Task
from kinetarium.recording.recording import Channel, Recording, Row

SWEEPS: Mapping[str, Mapping[str, Any]] = {
    "grasp of 2 s": {
        "study": "grasp",
        "config": {"engine": ["mujoco"], "path": ["circle"], "profile": ["matched"],
                   "starts": 32, "duration": 2.0},
    },
    "fall of 1 s": {
        "study": "drop",
        "config": {"engine": ["mujoco"], "duration": 1.0},
        "zip": {"seed": list(range(120)), "height": [0.05 + 1e-3 * i for i in range(120)]},
    },
}  # fmt: skip
CORES = (1, 10, 100, 1000)
CASES = 100_000


@dataclass(frozen=True)
class Costs:
    """What one case costs.

    Attributes:
        case: CPU time of the simulation and its scoring [s].
        writing: Further CPU time of the child process: writing the run [s].
        worker: CPU time of the Dask worker, without waiting [s].
        coordinator: CPU time of the coordinator and the scheduler, which share a process, without
            waiting [s].
        summary: CPU time of the coordinator for the summary, divided by the number of cases [s].
        parcel: Part of `coordinator` that is due once for each parcel [s].
        sent: CPU time of the coordinator for a run that is sent as bytes, beyond that for a run in
            a shared folder [s].
        size: Size of a run [bytes].
        in_parcel: Cases in a parcel.
    """

    case: float
    writing: float
    worker: float
    coordinator: float
    summary: float
    parcel: float
    sent: float
    size: float
    in_parcel: float

    def added(self, waiting: "Waiting") -> float:
        """Return what our layer and Dask add to the case and its files, as a share of these."""
        own = (self.worker + self.coordinator) / (self.case + self.writing)
        return own + waiting.worker + waiting.coordinator


@dataclass(frozen=True)
class Waiting:
    """CPU time for each second in which a case runs: polling, heartbeats."""

    coordinator: float
    worker: float


@dataclass(frozen=True, kw_only=True)
class NapCase:
    seconds: float


class Nap(Study[NapCase, NapCase]):
    """Cases that only sleep."""

    name = help = title = "nap"
    config = case = NapCase

    def cases(self, config: NapCase) -> Sequence[NapCase]:
        return [config]

    def run(self, case: NapCase) -> Recording:
        time.sleep(case.seconds)
        return Recording({"time": Channel(np.zeros(1), "s")}, "running")

    def score(self, case: NapCase, recording: Recording) -> Sequence[Row]:
        return []

    def report(self, outcomes: Sequence[Outcome[NapCase]]) -> Findings:
        raise NotImplementedError


def waiting(seconds: float = 15.0) -> Waiting:
    """Return what waiting for a case costs coordinator and worker."""
    tasks = [
        Task(f"nap-{number}", "nap", "benchmarks.cluster_estimate:Nap", {"seconds": length})
        for number, length in enumerate((0.1, seconds))
    ]
    executor = ClusterExecutor(ClusterSettings(), workers=1, timeout=600.0, memory=4e9)
    with TemporaryDirectory() as folder:
        marks = [(time.perf_counter(), *cpu_times())
                 for _ in executor.execute(tasks, runs=Path(folder))]  # fmt: skip
    wall, coordinator, worker, _ = (after - before for before, after in zip(*marks, strict=True))
    return Waiting(coordinator / wall, worker / wall)


@dataclass(frozen=True)
class _Mark:
    """What everything has used so far, and the cases that are done."""

    done: int
    wall: float
    cases: float
    coordinator: float
    worker: float
    child: float


def cpu_times() -> tuple[float, float, float]:
    """Return the CPU times of this process, of Dask's workers and of their children [s]."""
    own = psutil.Process()
    workers = children = 0.0
    for process in own.children(recursive=True):
        try:
            times, command = process.cpu_times(), " ".join(process.cmdline())
        except psutil.Error:
            continue
        used = times.user + times.system
        if "multiprocessing" in command:
            workers += used
        else:
            children += used
    return time.process_time(), workers, children


def measured(content: Mapping[str, Any], *, parcel: float, idle: Waiting) -> Costs:
    """Run a sweep with one worker and return what a case costs, without the first quarter.

    Args:
        parcel: CPU time of coordinator and scheduler for a parcel [s].
        idle: What waiting costs; on a busy machine a case lasts longer.
    """
    plan = Plan.of_content(dict(content))
    total = len(plan.tasks())
    marks: list[_Mark] = []
    spent = 0.0

    def watch(progress: Progress) -> None:
        nonlocal spent
        spent += progress.latest.timing["cpu_s"] if progress.latest else 0.0
        if progress.done in (total // 4, total):
            marks.append(_Mark(progress.done, time.perf_counter(), spent, *cpu_times()))

    executor = ClusterExecutor(ClusterSettings(), workers=1, timeout=600.0, memory=4e9)
    with TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        results, _ = run_plan(plan, out=out, executor=executor, watch=watch)
        began = time.process_time()  # a second time, with all libraries loaded
        with results.writing():
            conclude(results, plan.study)
        summary = (time.process_time() - began) / total
        runs = [path for path in (out / "runs").iterdir() if path.is_dir()]
        size = sum(file.stat().st_size for run in runs for file in run.iterdir()) / len(runs)
        sent = taken_in(runs[:20], Path(folder))
    first, last = marks
    cases, wall = last.done - first.done, last.wall - first.wall
    case = (last.cases - first.cases) / cases
    return Costs(
        case=case,
        writing=max(0.0, (last.child - first.child) / cases - case),
        worker=max(0.0, last.worker - first.worker - idle.worker * wall) / cases,
        coordinator=max(0.0, last.coordinator - first.coordinator - idle.coordinator * wall)
        / cases,
        summary=summary,
        parcel=parcel,
        sent=sent,
        size=size,
        in_parcel=max(1.0, _PARCEL / case),
    )


def taken_in(runs: Sequence[Path], folder: Path) -> float:
    """Return how much more CPU time it takes to write a run from bytes than to rename it [s]."""
    costs: dict[bool, list[float]] = {True: [], False: []}
    for number, run in enumerate(runs):
        files = {path.name: path.read_bytes() for path in run.iterdir()}
        for shared in (True, False):
            parcel = folder / f"parcel-{number}-{shared}"
            place = folder / f"taken-{number}-{shared}"
            for path in (parcel / run.name, place):
                path.mkdir(parents=True)
            for name, data in files.items():
                (parcel / run.name / name).write_bytes(data)
            task: Any = type("Task", (), {"key": run.name})
            finished: Any = type("Named", (), {"task": task})
            delivered = Delivered(finished, None if shared else files, files_digest(files))
            began = time.process_time()
            _accept(delivered, parcel, place)
            costs[shared].append(time.process_time() - began)
    return max(0.0, median(costs[False]) - median(costs[True]))


def nothing() -> float:
    return 0.0


def parcel_cost(number: int = 300) -> float:
    """Return the CPU time of coordinator and scheduler, in this process, for a parcel [s]."""
    settings = ClusterSettings()

    def run(items: int) -> float:
        began = time.process_time()
        work = dispatcher.run(
            range(items), submit=lambda token, given: (nothing, ()), seconds=lambda _: 10.0
        )
        for _ in work:
            pass
        return time.process_time() - began

    with connected(settings, workers=2) as client:
        dispatcher = dispatcher_of(client, settings, Requirements())
        run(20)
        return run(number) / number


def estimate(
    costs: Costs, idle: Waiting, *, cores: int, cases: int, shared: bool = True
) -> tuple[float, str]:
    """Return the time of many cases on many cores [s], and what limits it.

    With P cores and parcels of k cases, T = n max((c (1 + i) + w + d) / P, a + s + p / k) + n z:
    c, w, d of case, writing and Dask worker, i of its waiting; a the coordinator's without parcels,
    s for sending, p for a parcel, z for the summary. The dispatcher chooses k so that a parcel
    lasts max(0.75 s, 15 ms P).
    """
    busy = costs.case * (1.0 + idle.worker) + costs.writing + costs.worker
    in_parcel = max(1.0, max(_PARCEL, _TASK_COST * cores) / costs.case)
    own = max(0.0, costs.coordinator - costs.parcel / costs.in_parcel)
    serial = own + (0.0 if shared else costs.sent) + costs.parcel / in_parcel
    limit = "cores" if busy / cores > serial else "coordinator"
    return cases * (max(busy / cores, serial) + costs.summary), limit


def main() -> None:
    parcel = parcel_cost()
    idle = waiting()
    found = {n: measured(content, parcel=parcel, idle=idle) for n, content in SWEEPS.items()}
    console = Console(width=120)
    table = Table(title="CPU time of a case [ms]")
    names = ("case", "writing it", "Dask worker", "coordinator, scheduler", "summary",
             "sent as bytes", "size, kB", "added")  # fmt: skip
    for name in ("what", *names):
        table.add_column(name, justify="left" if name == "what" else "right")
    for name, c in found.items():
        times = (c.case, c.writing, c.worker, c.coordinator, c.summary, c.sent)
        row = [f"{1e3 * value:.1f}" for value in times]
        table.add_row(name, *row, f"{1e-3 * c.size:.0f}", f"{100 * c.added(idle):.1f} %")
    console.print(table)
    console.print(
        f"a parcel: {1e3 * parcel:.1f} ms of coordinator and scheduler; waiting:"
        f" {100 * idle.coordinator:.1f} % of a core there, {100 * idle.worker:.1f} % at the worker"
    )
    grasp = found["grasp of 2 s"]
    longer = {f"case of {case} s": replace(grasp, case=float(case)) for case in (5, 60)}
    kinds = {**found, **longer}  # those record as much as a grasp
    table = Table(title=f"Estimate: {CASES:,} cases, time and what limits it")
    for name in (
        "what",
        *(f"{cores:,} cores" if cores > 1 else "1 core" for cores in CORES),
        f"{CORES[-1]}, sent",
        "MB/s written",
    ):
        table.add_column(name, justify="left" if name == "what" else "right")
    for name, c in kinds.items():
        times = [estimate(c, idle, cores=cores, cases=CASES) for cores in CORES]
        times.append(estimate(c, idle, cores=CORES[-1], cases=CASES, shared=False))
        rate = 1e-6 * c.size * CASES / times[len(CORES) - 1][0]
        table.add_row(name, *(f"{words(t)}, {why}" for t, why in times), f"{rate:.0f}")
    console.print(table)


def words(seconds: float) -> str:
    if seconds < 600:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"


if __name__ == "__main__":
    main()
