"""Run a study on every engine, and read its recordings back from the folder."""

from pathlib import Path
from tempfile import TemporaryDirectory

from kinetarium import sweep
from kinetarium.batch.plan import Plan
from kinetarium.batch.study import open_study
from kinetarium.batch.worker_pool import IsolatedExecutor

drop = open_study("drop")
plan = Plan.of(drop, drop.config(height=0.05, duration=0.4))
with TemporaryDirectory() as place:
    executor = IsolatedExecutor(2, timeout=60, memory=2e9)
    folder, findings = sweep(plan, out=Path(place) / "drop", executor=executor)
    for run in folder.runs():
        error = findings.summary[run.case["engine"]]["fall_error_m"]["median"]
        samples = len(run.recording["time"])
        print(
            f"{run.case['engine']:8} {run.status}: {samples} samples, off by {error * 1e3:.3f} mm"
        )
        assert run.status == "completed" and error < 1e-3
