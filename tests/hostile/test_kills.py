"""kill -9 of a whole batch at random moments: what was acknowledged stays, nothing is torn."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kinetarium.recording.run_folder import verify_run

BATCH = """\
study = "drop"
[config]
engine = "mujoco"
duration = 0.5
height = 0.1
[grid]
mass = [0.5, 1.0, 1.5, 2.0, 2.5, 3.0]
size = [0.05, 0.075, 0.1, 0.125, 0.15]
timestep = [0.0005, 0.001]
"""
CASES = 60


def start(batch: Path, out: Path) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-m", "kinetarium", "batch", batch, "--workers", "2", "--out", out]
    return subprocess.Popen(
        words, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def acknowledged(out: Path) -> set[str]:
    return {path.parent.name for path in out.glob("runs/[!.]*/manifest.json")}


def contents(out: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.name != "timing.json"
    }


def check_whole(out: Path) -> None:
    if (out / "runs").is_dir():
        for folder in (out / "runs").iterdir():
            if not folder.name.startswith("."):
                verify_run(folder)


def killed_to_the_end(batch: Path, out: Path, *, kills: int, moments: random.Random) -> int:
    """Run a batch that is killed up to so many times; give how often it was."""
    kept: set[str] = set()
    for kill in range(kills + 1):
        process = start(batch, out)
        try:
            if kill == kills:
                raise subprocess.TimeoutExpired("", 0)
            process.wait(moments.uniform(0.2, 3.0))
        except subprocess.TimeoutExpired:
            if kill < kills:
                os.killpg(process.pid, signal.SIGKILL)
        _, error = process.communicate()
        check_whole(out)
        now = acknowledged(out)
        assert kept <= now, f"{len(kept - now)} acknowledged runs were lost"
        kept = now
        if process.returncode == 0:
            return kill
        assert process.returncode == -signal.SIGKILL, error.decode()
    raise AssertionError("the last session, which nobody killed, did not finish")


@pytest.fixture(scope="module")
def batch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("batch") / "batch.toml"
    path.write_text(BATCH)
    return path


@pytest.fixture(scope="module")
def unkilled(batch: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    out = tmp_path_factory.mktemp("unkilled") / "out"
    process = start(batch, out)
    _, error = process.communicate()
    assert process.returncode == 0, error.decode()
    assert len(acknowledged(out)) == CASES
    return contents(out)


def survive(
    kills: int, seed: int, *, batch: Path, folder: Path, unkilled: dict[str, bytes]
) -> None:
    moments = random.Random(seed)
    number = 0
    while kills > 0:
        out = folder / f"out-{number}"
        number += 1
        kills -= killed_to_the_end(batch, out, kills=min(kills, 12), moments=moments)
        found = contents(out)
        assert found.keys() == unkilled.keys()
        different = [name for name, content in found.items() if content != unkilled[name]]
        assert different == []


def test_8_kills(batch: Path, tmp_path: Path, unkilled: dict[str, bytes]) -> None:
    survive(8, 1, batch=batch, folder=tmp_path, unkilled=unkilled)


@pytest.mark.slow
def test_200_kills(batch: Path, tmp_path: Path, unkilled: dict[str, bytes]) -> None:
    survive(200, 2, batch=batch, folder=tmp_path, unkilled=unkilled)
