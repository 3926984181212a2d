"""Sweeps a batch file into a folder and prints how many cases are done, after each of them."""

import sys
from pathlib import Path

from kinetarium.batch.plan import Plan
from kinetarium.batch.sweep import Progress, run_plan
from kinetarium.batch.worker_pool import IsolatedExecutor


def say(progress: Progress) -> None:
    print(progress.done, flush=True)


batch, out = map(Path, sys.argv[1:])
executor = IsolatedExecutor(2, timeout=60.0, memory=2e9)
run_plan(Plan.read(batch), out=out, executor=executor, watch=say)
