"""What a run measures of itself goes into timing.json and nowhere else."""

import json
from pathlib import Path

import pytest

from kinetarium.batch.plan import Plan
from kinetarium.batch.sweep import run_plan
from kinetarium.batch.worker import Executor, SerialExecutor
from kinetarium.batch.worker_pool import IsolatedExecutor
from unit.timed_study import Config, Timed

EXECUTORS = {
    "serial": SerialExecutor(),
    "isolated": IsolatedExecutor(1, timeout=60, memory=2e9),
}


@pytest.mark.parametrize("executor", EXECUTORS.values(), ids=EXECUTORS)
def test_a_measured_time_is_kept_apart_from_results(executor: Executor, tmp_path: Path) -> None:
    plan = Plan.of(Timed(), Config(measured=0.125))
    folder, findings = run_plan(plan, out=tmp_path / "out", executor=executor)
    (run,) = json.loads((tmp_path / "out/timing.json").read_text())["runs"]
    assert run["tick_s"] == 0.125
    assert run["cpu_s"] >= 0  # what the batch measures itself has the last word
    assert findings.headline.rows == ((0.125,),)
    (kept,) = folder.runs()
    assert kept.recording and kept.recording.timing == {}
    elsewhere = [path for path in (tmp_path / "out").rglob("*") if path.name != "timing.json"]
    assert not any(b"tick_s" in path.read_bytes() for path in elsewhere if path.is_file())


def test_a_time_that_is_no_number_fails_its_case_alone(tmp_path: Path) -> None:
    plan = Plan.of(Timed(), Config(measured=-1.0))
    folder, _ = run_plan(plan, out=tmp_path / "out", executor=SerialExecutor())
    (run,) = folder.runs()
    assert run.status == "failed" and "measured times must be finite" in run.message
