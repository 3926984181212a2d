"""A queue of jobs: submitted by a stand-in for SLURM on this machine, refused, or not there."""

import gc
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from hostile.processes import wait_until
from kinetarium.batch.cluster.connection import ClusterError, ClusterSettings, connected, job_script
from kinetarium.batch.cluster.executor import ClusterExecutor
from kinetarium.batch.plan import Plan
from kinetarium.batch.sweep import run_plan
from kinetarium.batch.worker_pool import SerialExecutor

PLAN = {
    "study": "drop",
    "config": {"engine": ["mujoco"], "height": 0.01, "duration": 0.1},
    "grid": {"mass": [1.0, 2.0, 3.0]},
}
SBATCH = """#!/bin/sh
cp "$1" {folder}/script  # as SLURM does: the file is removed at once
setsid sh {folder}/script >{folder}/log 2>&1 &
echo $! >{folder}/job
echo "Submitted batch job $!"
"""
SCANCEL = """#!/bin/sh
kill -- -"$1"
"""
REFUSING = """#!/bin/sh
echo "sbatch: error: Invalid account or account/partition combination specified" >&2
exit 1
"""


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder, the first of the path, with the commands of the queue."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


def command(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text.format(folder=folder))
    (folder / name).chmod(0o755)


def settings(tmp_path: Path) -> ClusterSettings:
    file = tmp_path / "slurm.toml"
    file.write_text(
        f'system = "slurm"\njobs = 1\ncores = 2\nmemory = 8.0\naccount = "arm"\n'
        f'interface = "lo"\nfolder = "{tmp_path}"\nlease = 1.0\n'
        f'prologue = ["export PYTHONPATH={os.pathsep.join(filter(None, sys.path))}"]\n'
    )
    return ClusterSettings.read(file)


def test_jobs_of_a_queue_run_a_sweep_and_are_cancelled(tmp_path: Path, commands: Path) -> None:
    command(commands, "sbatch", SBATCH)
    command(commands, "scancel", SCANCEL)
    plan = Plan.of_content(PLAN)
    # The number of workers is that of this machine; a queue has its jobs.
    executor = ClusterExecutor(settings(tmp_path), workers=0, timeout=60.0, memory=2e9)
    folder, _ = run_plan(plan, out=tmp_path / "queue", executor=executor)
    alone, _ = run_plan(plan, out=tmp_path / "alone", executor=SerialExecutor())
    assert folder.metrics == alone.metrics
    assert "#SBATCH -A arm" in (commands / "script").read_text()
    job = int((commands / "job").read_text())
    wait_until(lambda: not _runs(job), seconds=30.0)
    # Keys of the certificates are removed with the cluster that Dask keeps them in.
    gc.collect()
    assert not list(tmp_path.glob(".dask-jobqueue*"))


def _runs(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_job_that_the_queue_refuses_is_one_line(tmp_path: Path, commands: Path) -> None:
    command(commands, "sbatch", REFUSING)
    before = time.monotonic()
    with pytest.raises(ClusterError, match="Invalid account") as refusal:
        with connected(settings(tmp_path), workers=1):
            pass
    assert "\n" not in str(refusal.value)
    assert time.monotonic() - before < 60.0


def test_a_machine_without_the_queue_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        ClusterError, match="there is no slurm on this machine: no command 'sbatch'"
    ):
        with connected(settings(tmp_path), workers=1):
            pass


def test_an_unknown_network_interface_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(
        ClusterError, match="'nowhere0' is not a valid network interface"
    ) as refusal:
        job_script(replace(settings(tmp_path), interface="nowhere0"))
    assert "\n" not in str(refusal.value)
