"""kill -9 of a whole comparison at random moments: it goes on, and ends as if nothing had been."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

KILLS = 2


def start(out: Path, *, workers: int) -> subprocess.Popen[bytes]:
    words = [
        sys.executable, "-m", "kinetarium", "compare-engines", "--quick", "--engine", "mujoco",
        "--starts", "1", "--workers", str(workers), "--out", str(out),
    ]  # fmt: skip
    return subprocess.Popen(
        words, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )


def finish(out: Path, *, workers: int) -> None:
    process = start(out, workers=workers)
    _, error = process.communicate(timeout=300)
    assert process.returncode == 0, error.decode()


def results(out: Path) -> dict[str, bytes]:
    """Return everything that does not depend on how long it took."""
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and (path.name == "metrics.json" or "runs" in path.parts)
        if path.name != "timing.json"
    }


@pytest.mark.engine
def test_a_killed_comparison_goes_on_and_ends_the_same(tmp_path: Path) -> None:
    finish(tmp_path / "whole", workers=1)
    moments = random.Random(os.getpid())
    kept: set[str] = set()
    for _ in range(KILLS):
        process = start(tmp_path / "killed", workers=2)
        try:
            process.wait(moments.uniform(0.5, 6.0))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        there = {path.parent.name for path in (tmp_path / "killed").glob("*/runs/*/manifest.json")}
        assert kept <= there
        kept = there
    (tmp_path / "killed").mkdir(exist_ok=True)  # on a busy machine both were killed before
    (tmp_path / "killed" / ".kinetarium-of-one-that-was-killed").touch()
    finish(tmp_path / "killed", workers=2)
    assert list((tmp_path / "killed").rglob(".*")) == []
    whole, killed = results(tmp_path / "whole"), results(tmp_path / "killed")
    assert killed.keys() == whole.keys()
    assert [name for name in whole if killed[name] != whole[name]] == []
    assert {Path(name).parent.name for name in whole if name.endswith("metrics.json")} == {
        "grasp", "slide", "drive",
    }  # fmt: skip
