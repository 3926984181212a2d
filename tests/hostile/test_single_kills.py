"""kill -9 of one process of a sweep: the result is that of a sweep that nobody disturbed."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

import pytest

from hostile.processes import fork_servers, processes, wait_until, workers
from kinetarium.recording.run_folder import verify_run
from needs import needs

pytestmark = [pytest.mark.engine, needs("linux")]

SCRIPT = Path(__file__).with_name("sweep_script.py")
BATCH = """\
study = "drop"
[config]
duration = 0.5
height = 0.1
[grid]
engine = ["mujoco", "bullet"]
mass = [0.5, 1.0, 1.5]
timestep = [0.0005, 0.001]
"""
CASES = 12

ORPHAN = (
    "Traceback (most recent call last):\n"
    '  File "<string>", line 36, in <module>\n'
    "BrokenPipeError: [Errno 32] Broken pipe\n"
)
"""What a child of GLFW's binding says, which MuJoCo loads, when its parent is killed meanwhile."""

VICTIMS: Mapping[str, Callable[[int], list[int]]] = {
    "coordinator": lambda coordinator: [coordinator],
    "worker": workers,
    "fork server": fork_servers,
    "everybody": processes,
}
"""Whom a kill hits, chosen from what the coordinator's session consists of at that moment."""


@dataclass(frozen=True)
class Whole:
    """A sweep that nobody disturbed.

    Attributes:
        batch: The batch file.
        files: What is in its folder, without measured times.
        seconds: How long it took [s].
    """

    batch: Path
    files: Mapping[str, bytes]
    seconds: float


class Sweep:
    """A sweep in a session of its own, with a temporary folder of its own."""

    def __init__(self, batch: Path, folder: Path) -> None:
        self.out = folder / "out"
        self.temporary = folder / "temporary"
        self.temporary.mkdir(parents=True, exist_ok=True)
        self._process = subprocess.Popen(
            [sys.executable, str(SCRIPT), str(batch), str(self.out)],
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": str(self.temporary)},
        )
        self.pid = self._process.pid

    def is_over(self) -> bool:
        return self._process.poll() is not None

    def end(self) -> tuple[int, list[int]]:
        """Wait for its end; return the exit code and how many cases were done, each time told."""
        output, errors = self._process.communicate(timeout=300)
        assert errors in ("", ORPHAN)
        wait_until(lambda: not processes(self.pid))
        assert list(self.temporary.iterdir()) == []
        return self._process.returncode, [int(line) for line in output.splitlines()]


def contents(out: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(out)): b"" if path.is_dir() else path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.name != "timing.json"
    }


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    folder = tmp_path_factory.mktemp("whole")
    batch = folder / "batch.toml"
    batch.write_text(BATCH)
    begin = time.monotonic()
    sweep = Sweep(batch, folder)
    code, told = sweep.end()
    seconds = time.monotonic() - begin
    assert (code, told) == (0, list(range(CASES + 1)))
    return Whole(batch, contents(sweep.out), seconds)


def disturb(sweep: Sweep, victim: str, *, moment: float, chance: random.Random) -> list[int]:
    """Kill processes of a sweep at a moment [s]; return which, none if it was over before."""
    time.sleep(moment)
    wait_until(lambda: VICTIMS[victim](sweep.pid) or sweep.is_over())
    found = [] if sweep.is_over() else VICTIMS[victim](sweep.pid)
    hit = found if victim == "everybody" else chance.sample(found, min(len(found), 1))
    for pid in hit:
        os.kill(pid, signal.SIGKILL)
    return hit


def check_kills(kills: int, whole: Whole, folder: Path, *, seed: int, resume: bool) -> None:
    """Disturb sweeps, each until it ends in spite of that, and compare what comes of them.

    Args:
        kills: How many processes, or sessions of them, are killed in all.
        whole: What must come of it.
        folder: Where to do it.
        seed: Chooses the moments.
        resume: Whether a sweep that has ended is resumed, too.
    """
    chance = random.Random(seed)
    done = dict.fromkeys(VICTIMS, 0)
    victims, told_before, number = cycle(VICTIMS), 0, 0
    while sum(done.values()) < kills:
        sweep, victim = Sweep(whole.batch, folder / str(number)), next(victims)
        hit = disturb(sweep, victim, moment=chance.uniform(0.0, whole.seconds), chance=chance)
        code, told = sweep.end()
        done[victim] += bool(hit)
        assert code in ((0, -signal.SIGKILL) if sweep.pid in hit else (0,))
        assert min(told, default=told_before) >= told_before, "acknowledged runs were lost"
        told_before = max(told, default=told_before)
        for run in sweep.out.glob("runs/[!.]*"):
            verify_run(run)
        if code == 0 or sum(done.values()) == kills:
            if code != 0 or resume:
                assert Sweep(whole.batch, folder / str(number)).end()[0] == 0
            files = contents(sweep.out)
            assert files.keys() == whole.files.keys()
            assert [name for name in files if files[name] != whole.files[name]] == []
            told_before, number = 0, number + 1
    print(f"killed: {done}, whole in the end: {number}")


def test_12_kills(whole: Whole, tmp_path: Path) -> None:
    check_kills(12, whole, tmp_path, seed=1, resume=False)


@pytest.mark.slow
def test_200_kills(whole: Whole, tmp_path: Path) -> None:
    check_kills(200, whole, tmp_path, seed=2, resume=True)
