"""Every bad file, each in a process of its own: at most 10 s of CPU and 1 GB, one clean refusal."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from hostile.bad_mjcf import bad_mjcfs
from hostile.bad_urdf import bad_urdfs
from hostile.case import Case

CASES = [*bad_urdfs(), *bad_mjcfs()]
HEAVIEST = sorted(CASES, key=lambda case: -len(case.data))[:8]


def _inspect(case: Case, folder: Path) -> None:
    file = folder / "bad.xml"
    file.write_bytes(case.data)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "kinetarium", "inspect", str(file), "--json", "-"],
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (10, 10)),
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 2, done.stderr
    answer = json.loads(done.stdout)
    assert answer["ok"] is False
    assert case.code in [error["code"] for error in answer["errors"]]
    assert "Traceback" not in done.stderr
    assert after.ru_maxrss < 1_000_000  # kB, the largest of all children so far
    assert after.ru_utime - before.ru_utime < 10


@pytest.mark.parametrize("case", HEAVIEST, ids=lambda case: case.name)
def test_the_heaviest(case: Case, tmp_path: Path) -> None:
    _inspect(case, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_one(case: Case, tmp_path: Path) -> None:
    _inspect(case, tmp_path)
