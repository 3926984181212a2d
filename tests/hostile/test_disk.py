"""Disks that are full, read-only or closed, and processes killed while they write."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from hostile.disk import contents, create, key, run, write_runs
from kinetarium.errors import OutputError
from kinetarium.recording.result_folder import ResultFolder
from kinetarium.recording.run_folder import read_run, verify_run, write_run
from kinetarium.storage.atomic import make_folder, write_atomic, write_folder_atomic
from needs import COMPLETE, leave

TESTS = Path(__file__).parents[1]
NOBODY = 65534


def child(folder: Path, *actions: str, limits: str = "") -> list[str]:
    """Try things in a process of its own, under limits; give what each one said."""
    script = f"""if True:
        import os, resource, sys
        sys.path.insert(0, {str(TESTS)!r})
        from pathlib import Path
        from hostile.disk import create, key, run
        from kinetarium.errors import KinetariumError, OutputError
        from kinetarium.storage.atomic import *
        from kinetarium.recording.result_folder import ResultFolder
        from kinetarium.recording.run_folder import *
        folder = Path(sys.argv[1])
        run(0)  # whatever has to be imported is, as long as it may be read
        {limits or "pass"}
        for action in sys.argv[2:]:
            try:
                print("done:", eval(action))
            except OutputError as error:
                print("refused:", error)
            except KinetariumError as error:
                print("unreadable:", error)
    """
    words = [sys.executable, "-c", script, str(folder), *actions]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and not done.stderr, done.stderr
    said = done.stdout.splitlines()
    assert len(said) == len(actions), said
    return said


AS_NOBODY = f"os.setgroups([]) or os.setgid({NOBODY}) or os.setuid({NOBODY})"
NOT_ROOT = AS_NOBODY if hasattr(os, "getuid") and os.getuid() == 0 else ""
SMALL_FILES = "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))"


@pytest.fixture
def open_path() -> Iterator[Path]:
    """A folder that other users reach; pytest's own are closed to them."""
    with TemporaryDirectory() as name:
        path = Path(name)
        path.chmod(0o755)
        yield path
        for folder in [path, *path.rglob("*")]:
            if folder.is_dir():
                folder.chmod(0o755)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 400 kB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    # The machines of CI let their users become root; at home nobody is asked for a password.
    root = ["sudo", "-n"] if COMPLETE and os.geteuid() else []
    words = [*root, "mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(disk)]
    try:
        done = subprocess.run(words, capture_output=True, text=True)
    except FileNotFoundError as error:
        leave(f"a small disk ({error})")
    if done.returncode:
        leave(f"a small disk ({done.stderr.strip()})")
    yield disk
    subprocess.run([*root, "umount", str(disk)], check=True)


def fill(file: Path) -> None:
    with open(file, "ab", buffering=0) as filler, pytest.raises(OSError, match="No space left"):
        while True:
            filler.write(bytes(1000))


def test_a_full_disk(small_disk: Path) -> None:
    reserve, filler, kept = small_disk / "reserve", small_disk / "filler", 0
    reserve.write_bytes(bytes(100_000))
    with create(small_disk / "out") as folder:
        with pytest.raises(OutputError, match=r"full|no space left"):
            for number in range(1000):
                folder.add(run(number), number)
                kept += 1
        assert kept > 3
        fill(filler)
        before = contents(small_disk)
        for write in (
            lambda: folder.add(run(1000), 1000),
            lambda: folder.write_metrics({"x": "y" * 10_000}),
            lambda: folder.write_report("x" * 10_000),
            lambda: folder.write_figures({"a.svg": b"x" * 10_000}),
            lambda: write_atomic(filler, bytes(10_000)),
        ):
            with pytest.raises(OutputError, match=r"full|no space left") as refusal:
                write()
            assert "\n" not in str(refusal.value)
        assert contents(small_disk) == before
        assert not list(small_disk.rglob(".kinetarium-*"))
        assert [run.key for run in folder.runs()] == [key(number) for number in range(kept)]
        reserve.unlink()
        # If it was a row that the disk had no room for, its run is taken up.
        order = [key(number) for number in range(1000)]
        assert folder.committed(order) in (set(order[:kept]), set(order[: kept + 1]))
        folder.add(run(kept), kept)
        folder.finish()
        for one in folder.runs():
            verify_run(folder.run_folder(one.key))


def test_a_full_disk_from_the_start(small_disk: Path) -> None:
    fill(small_disk / "filler")
    with pytest.raises(OutputError, match=r"full|no space left"):
        create(small_disk / "out")
    assert not list(small_disk.rglob(".kinetarium-*"))
    (small_disk / "filler").unlink()
    create(small_disk / "out").close()


def test_files_that_may_not_grow(tmp_path: Path) -> None:
    write_run(tmp_path / "old", run(0), timing={})
    write_atomic(tmp_path / "file", b"old")
    before = contents(tmp_path)
    said = child(
        tmp_path,
        "write_run(folder / 'old', run(1), timing={})",
        "write_run(folder / 'new', run(1), timing={})",
        "write_atomic(folder / 'file', bytes(3000))",
        limits=SMALL_FILES,
    )
    assert all(line.endswith("file too large") for line in said)
    assert contents(tmp_path) == before
    [line] = child(tmp_path, "create(folder / 'out')", limits=SMALL_FILES)
    assert line.startswith("refused: cannot ")
    assert not list(tmp_path.rglob(".kinetarium-*"))
    create(tmp_path / "out").close()


def test_folders_that_are_read_only(open_path: Path) -> None:
    with create(open_path / "out") as folder:
        folder.add(run(0), 0)
    write_atomic(open_path / "file", b"old")
    before = contents(open_path)
    for path in [open_path, *open_path.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    said = child(
        open_path,
        "write_atomic(folder / 'file', b'new')",
        "write_atomic(folder / 'new', b'new')",
        "write_folder_atomic(folder / 'out', {'a': b''})",
        "write_run(folder / 'out' / 'runs' / key(0), run(1), timing={})",
        "write_run(folder / 'out' / 'runs' / key(1), run(1), timing={})",
        "create(folder / 'out').add(run(1), 1)",
        "create(folder / 'out').finish()",
        "create(folder / 'out').write_metrics({})",
        "create(folder / 'another')",
        "make_folder(folder / 'a' / 'b')",
        limits=NOT_ROOT,
    )
    assert [line for line in said if not line.startswith("refused: cannot ")] == []
    said = child(
        open_path,
        "[run.key for run in ResultFolder.open(folder / 'out').runs()]",
        "verify_run(folder / 'out' / 'runs' / key(0))",
        limits=NOT_ROOT,
    )
    assert said == [f"done: {[key(0)]}", "done: None"]
    assert contents(open_path) == before


@pytest.mark.parametrize("mode", [0o000, 0o444, 0o111])
def test_folders_without_permission(mode: int, open_path: Path) -> None:
    create(open_path / "out").close()
    (open_path / "out").chmod(mode)
    said = child(
        open_path,
        "create(folder / 'out')",
        "make_folder(folder / 'out' / 'a')",
        "ResultFolder.open(folder / 'out').committed()",
        limits=NOT_ROOT,
    )
    assert [line.partition(":")[0] for line in said] == [
        "refused",
        "refused",
        "done" if mode == 0o111 else "unreadable",
    ]


def test_parents_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"mine")
    below = tmp_path / "file" / "a" / "b"
    for write in (
        lambda: make_folder(below),
        lambda: write_atomic(below, b""),
        lambda: write_folder_atomic(below, {}),
        lambda: write_run(below, run(0), timing={}),
        lambda: create(below),
    ):
        with pytest.raises(OutputError, match="cannot write") as refusal:
            write()
        assert "\n" not in str(refusal.value)
    assert contents(tmp_path) == {"file": b"mine"}


COUNT = 30


def write_and_kill(out: Path, *, after: float) -> tuple[set[str], bool]:
    """Let a process write runs until it is killed; give what it acknowledged, and if it ended."""
    answers, sender = os.pipe()
    process = os.fork()
    if process == 0:
        code = 1
        try:
            write_runs(
                out, count=COUNT, acknowledge=lambda key: os.write(sender, f"{key} ".encode())
            )
            code = 0
        finally:
            os._exit(code)
    os.close(sender)
    time.sleep(after)
    os.kill(process, signal.SIGKILL)
    with open(answers) as said:
        acknowledged = set(said.read().split())
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    assert code in (0, -signal.SIGKILL)
    return acknowledged, code == 0


def survive(path: Path, *, kills: int, seed: int) -> None:
    """Kill a writer again and again, in as many folders as it takes."""
    moments = random.Random(seed)
    write_runs(path / "unkilled", count=COUNT, acknowledge=print)
    expected = contents(path / "unkilled")
    killed = folders = 0
    while killed < kills:
        out, acknowledged, ended = path / f"{folders}", set[str](), False
        while not ended and killed < kills:
            said, ended = write_and_kill(out, after=moments.uniform(0.0, 0.2))
            killed += not ended
            acknowledged |= said
            check(out, acknowledged)
        write_runs(out, count=COUNT, acknowledge=print)
        assert contents(out) == expected
        folders += 1


def check(out: Path, acknowledged: set[str]) -> None:
    """Look for runs that are torn or lost."""
    if not (out / "index.sqlite").exists():
        assert not acknowledged
        return
    for path in (out / "runs").iterdir():
        if not path.name.startswith("."):
            verify_run(path)
    assert ResultFolder.open(out).committed() >= acknowledged
    if (out / "metrics.json").exists():
        json.loads((out / "metrics.json").read_text())


def test_20_kills(tmp_path: Path) -> None:
    survive(tmp_path, kills=20, seed=1)


@pytest.mark.slow
def test_100_kills(tmp_path: Path) -> None:
    survive(tmp_path, kills=100, seed=2)


def test_a_run_that_is_replaced_is_the_old_or_the_new(tmp_path: Path) -> None:
    write_run(tmp_path / "run", run(0), timing={})
    write_run(tmp_path / "run", run(1), timing={})
    assert read_run(tmp_path / "run").key == key(1)
    assert os.listdir(tmp_path) == ["run"]
