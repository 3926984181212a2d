"""Coordinates a sweep of the faulty study; prints how many cases are done, after each of them.

Arguments: the plan (JSON), the cluster file or "local", the output folder, the time-out [s].
"""

import json
import sys
import time
from pathlib import Path

from hostile.faulty_study import FaultyStudy
from kinetarium.batch.cluster.connection import ClusterSettings
from kinetarium.batch.cluster.executor import ClusterExecutor
from kinetarium.batch.plan import Plan
from kinetarium.batch.sweep import Progress, run_plan
from kinetarium.batch.worker import Executor
from kinetarium.batch.worker_pool import IsolatedExecutor

SLOW = 0.2
"""Duration of a slow case of the faulty study [s]."""


def slow_address() -> str:
    from distributed import get_worker

    time.sleep(SLOW)
    address: str = get_worker().address
    return address


def say(progress: Progress) -> None:
    print(progress.done, flush=True)


def note(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    plan, cluster, out, timeout = sys.argv[1:]
    limits = {"timeout": float(timeout), "memory": 2e9}
    executor: Executor = IsolatedExecutor(2, **limits)
    if cluster != "local":
        settings = ClusterSettings.read(Path(cluster))
        executor = ClusterExecutor(settings, workers=2, note=note, **limits)
    content = json.loads(Path(plan).read_text())
    run_plan(Plan(FaultyStudy(), content), out=Path(out), executor=executor, watch=say)
