"""Whatever a case does to its worker costs one row that says so, and nothing else."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from conformance.engine_names import ENGINES
from hostile.faulty_study import Fault
from hostile.processes import fork_servers, processes, wait_until, workers
from kinetarium.batch.worker import SerialExecutor, Task
from kinetarium.batch.worker_main import exit_status_of
from kinetarium.batch.worker_pool import IsolatedExecutor, WorkerError
from kinetarium.errors import KinetariumError, OutputError
from kinetarium.recording.run_folder import read_run, read_timing, verify_run
from kinetarium.storage.atomic import remove_leftovers
from needs import needs

pytestmark = [pytest.mark.engine, needs("linux")]

TESTS = Path(__file__).parents[1]
SCRIPT = Path(__file__).with_name("batch_script.py")
MEMORY = 400e6

CRASHES = {
    Fault.SEGV: ("crashed", "crashed: SIGSEGV (segmentation fault); last output: here comes"),
    Fault.ABRT: ("crashed", "crashed: SIGABRT (aborted); last output: here comes ABRT"),
    Fault.EXIT: ("crashed", "exited with code 3; last output: here comes exit"),
    Fault.EXIT_ZERO: ("crashed", "exited with code 0; last output: here comes exit 0"),
    Fault.EXIT_255: ("crashed", "exited with code 255; last output: here comes exit 255"),
    Fault.KILLED: ("crashed", "crashed: SIGKILL (killed); last output: here comes killed"),
    Fault.CLOSED_PIPE: ("crashed", "crashed: the worker closed its own pipe"),
}  # fmt: skip
MEMORY_FAULTS = {
    Fault.PYTHON_MEMORY: ("out of memory", "out of memory: "),
    Fault.NATIVE_MEMORY: ("out of memory", "out of memory: "),
    Fault.SHARED_MEMORY: ("out of memory", "out of memory: more than 400 MB in use"),
}
ERRORS = {
    Fault.STDERR: ("completed", ""),
    Fault.EXCEPTION: ("failed", "ZeroDivisionError: division by [31mzero xxx"),
    Fault.SYSTEM_EXIT: ("failed", "SystemExit: 5"),
    Fault.UNWRITABLE: ("failed", "RunFileError: channel 'time' has dtype object, not numbers"),
    Fault.UNSUPPORTED: ("unsupported", "engine 'toy' has no mimic, which this case needs"),
    Fault.DIVERGED: ("diverged", "diverged after 0.25 s"),
}
HANGS = {
    Fault.HANG: ("timed out", "timed out after 4 s"),
    Fault.HANG_WITH_GIL: ("timed out", "timed out after 4 s"),
}
HARMLESS = {Fault.NONE: ("completed", ""), Fault.SLOW: ("completed", "")}
EXPECTED = HARMLESS | CRASHES | MEMORY_FAULTS | ERRORS | HANGS


def task(number: int, fault: Fault, *, engine: str = "", diary: str = "") -> Task:
    case = {"fault": str(fault), "engine": engine, "number": number, "diary": diary}
    return Task(f"case-{number:03d}", "faulty", "hostile.faulty_study:FaultyStudy", case)


def among_healthy(faults: Sequence[Fault], *, engines: Sequence[str], diary: str) -> list[Task]:
    """Make a batch with a healthy case before, between and after faulty ones."""
    kinds = [(fault, engine) for engine in engines for fault in faults]
    batch = [(Fault.NONE, engines[0])]
    for fault, engine in kinds:
        batch += [(fault, engine), (Fault.NONE, engine)]
    return [task(i, fault, engine=engine, diary=diary) for i, (fault, engine) in enumerate(batch)]


def start_script(
    tasks: Sequence[Task], runs: Path, *, workers: int, timeout: float = 300.0
) -> subprocess.Popen[str]:
    """Start a script that runs a batch in a session of its own.

    A new process has a new fork server, with the engines of this batch.
    """
    runs.mkdir()
    order = {
        "path": str(TESTS),
        "workers": workers,
        "timeout": timeout,
        "memory": MEMORY,
        "runs": str(runs),
        "tasks": [
            {"key": t.key, "study": t.study, "study_class": t.study_class, "case": dict(t.case)}
            for t in tasks
        ],
    }
    script = subprocess.Popen(
        [sys.executable, str(SCRIPT)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert script.stdin
    script.stdin.write(json.dumps(order))
    script.stdin.close()
    script.stdin = None
    return script


def run_script(tasks: Sequence[Task], runs: Path, **settings: Any) -> list[dict[str, Any]]:
    script = start_script(tasks, runs, **settings)
    output, errors = script.communicate(timeout=600)
    assert script.returncode == 0, errors
    assert errors == ""
    first, *rows = map(json.loads, output.splitlines())
    assert first == {"script": script.pid}  # the script ran once: no worker ran it again
    return rows


def files(run: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(run.iterdir()) if p.name != "timing.json"}


def check_rows(rows: Sequence[dict[str, Any]], tasks: Sequence[Task], runs: Path) -> None:
    assert sorted(row["task"]["key"] for row in rows) == [t.key for t in tasks]
    assert sorted(path.name for path in runs.iterdir()) == [t.key for t in tasks]
    for row in rows:
        fault = Fault(row["task"]["case"]["fault"])
        status, message = EXPECTED[fault]
        assert row["status"] == status, (fault, row)
        assert row["message"].startswith(message), (fault, row)
        assert len(row["message"]) <= 350
        folder = runs / row["task"]["key"]
        verify_run(folder)
        run = read_run(folder)
        assert (run.status, run.message) == (row["status"], row["message"])
        assert dict(run.case) == row["task"]["case"]
        assert (run.recording is None) == (status not in ("completed", "diverged"))
        timing = read_timing(folder)
        assert timing["attempts"] == row["timing"]["attempts"]
        assert timing["attempts"] == (2 if fault in CRASHES else 1) or fault in MEMORY_FAULTS


def check_faults(engines: Sequence[str], folder: Path) -> None:
    diary = folder / "diary"
    tasks = among_healthy([*CRASHES, *ERRORS], engines=engines, diary=str(diary))
    one, two, none = folder / "one", folder / "two", folder / "none"
    check_rows(run_script(tasks, one, workers=1), tasks, one)
    check_next_begins_soon(diary)
    check_rows(run_script(tasks, two, workers=2), tasks, two)
    for t in tasks:
        assert files(one / t.key) == files(two / t.key)
    none.mkdir()
    harmless = [t for t in tasks if t.case["fault"] not in CRASHES]
    list(SerialExecutor().execute(harmless, runs=none))
    for t in harmless:
        assert files(none / t.key) == files(one / t.key)


def check_memory(engines: Sequence[str], folder: Path) -> None:
    tasks = among_healthy([*MEMORY_FAULTS], engines=engines, diary="")
    check_rows(run_script(tasks, folder / "runs", workers=2), tasks, folder / "runs")


def check_next_begins_soon(diary: Path) -> None:
    """Look at the time from a fault to the next line: 0.03 s on a quiet machine, 2 s on a poor."""
    entries = [line.split(maxsplit=3) for line in diary.read_text().splitlines()]
    for (time_1, _, what_1, case), (time_2, *_) in pairwise(entries):
        if what_1 == "fault":
            assert float(time_2) - float(time_1) < 5.0, case


def test_faults_cost_one_row_each(tmp_path: Path) -> None:
    check_faults(["mujoco", "physx"], tmp_path)


@pytest.mark.slow
def test_faults_cost_one_row_each_in_every_engine(tmp_path: Path) -> None:
    check_faults(ENGINES, tmp_path)


def test_lack_of_memory_costs_one_row_each(tmp_path: Path) -> None:
    check_memory(["mujoco", "physx"], tmp_path)


@pytest.mark.slow
def test_lack_of_memory_costs_one_row_each_in_every_engine(tmp_path: Path) -> None:
    check_memory(ENGINES, tmp_path)


def test_hangs_end_at_their_time_out(tmp_path: Path) -> None:
    tasks = among_healthy([*HANGS], engines=["mujoco", "physx"], diary="")
    rows = run_script(tasks, tmp_path / "runs", workers=4, timeout=4.0)
    check_rows(rows, tasks, tmp_path / "runs")


@pytest.mark.slow
def test_hangs_end_at_their_time_out_in_every_engine(tmp_path: Path) -> None:
    tasks = among_healthy([*HANGS], engines=ENGINES, diary=str(tmp_path / "diary"))
    rows = run_script(tasks, tmp_path / "runs", workers=1, timeout=4.0)
    check_rows(rows, tasks, tmp_path / "runs")


def test_a_library_that_crashes_on_being_loaded_costs_its_own_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "package" / "bomb-1.0.dist-info"
    package.mkdir(parents=True)
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: bomb\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[kinetarium.engines]\nbomb = bomb:Bomb\n")
    (package.parent / "bomb.py").write_text("import os\nos.abort()\n")
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    tasks = [task(0, Fault.NONE, engine="mujoco"), task(1, Fault.NONE, engine="bomb")]
    rows = run_script(tasks, tmp_path / "runs", workers=2)
    assert {row["task"]["key"]: row["status"] for row in rows} == {
        "case-000": "completed",
        "case-001": "crashed",
    }


def test_a_crash_by_chance_is_no_result(tmp_path: Path) -> None:
    chance = task(0, Fault.SEGV_ONCE, engine="mujoco", diary=str(tmp_path / "diary"))
    runs = tmp_path / "runs"
    runs.mkdir()
    [finished] = IsolatedExecutor(1, timeout=60.0, memory=MEMORY).execute([chance], runs=runs)
    assert (finished.status, finished.timing["attempts"]) == ("completed", 2)
    assert read_run(runs / chance.key).status == "completed"


def test_a_worker_that_vanished_is_no_verdict(tmp_path: Path) -> None:
    vanishing = task(0, Fault.VANISH_ONCE, engine="mujoco", diary=str(tmp_path / "diary"))
    tasks = [vanishing, task(1, Fault.SLOW), task(2, Fault.EXIT_255)]
    rows = run_script(tasks, tmp_path / "runs", workers=2)
    found = {row["task"]["key"]: (row["status"], row["timing"]["attempts"]) for row in rows}
    assert found == {
        "case-000": ("completed", 1),
        "case-001": ("completed", 1),
        "case-002": ("crashed", 2),
    }


def test_workers_that_vanish_without_end_are_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kinetarium.batch.worker_pool._MOST_VANISHED", 2)
    executor = IsolatedExecutor(1, timeout=60.0, memory=MEMORY)
    with pytest.raises(
        WorkerError, match="lost 3 times; the last vanished: its exit code is unknown"
    ):
        list(executor.execute([task(0, Fault.VANISH)], runs=tmp_path))
    assert list(tmp_path.iterdir()) == []


def check_killed_servers(folder: Path, *, kills: int, seed: int) -> None:
    """Kill the fork server at moments of which many are within its start or a case."""
    faults = [Fault.SLOW, Fault.NONE, Fault.SEGV, Fault.EXIT_255, Fault.SLOW, Fault.EXCEPTION] * 4
    tasks = [task(i, fault, engine="mujoco") for i, fault in enumerate(faults)]
    script = start_script(tasks, folder / "runs", workers=2)
    moments = random.Random(seed)
    for _ in range(kills):
        wait_until(lambda: fork_servers(script.pid) or script.poll() is not None)
        time.sleep(moments.choice([0.1, 1.0]) * moments.random())
        for server in fork_servers(script.pid):
            os.kill(server, signal.SIGKILL)
    output, errors = script.communicate(timeout=600)
    assert (script.returncode, errors) == (0, "")
    check_rows(list(map(json.loads, output.splitlines()[1:])), tasks, folder / "runs")


def test_a_killed_fork_server_costs_no_row(tmp_path: Path) -> None:
    check_killed_servers(tmp_path, kills=6, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_a_killed_fork_server_costs_no_row_at_any_moment(seed: int, tmp_path: Path) -> None:
    check_killed_servers(tmp_path, kills=8, seed=seed)


def test_healthy_workers_are_used_again(tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    tasks = [task(i, Fault.NONE, engine="mujoco", diary=str(diary)) for i in range(10)]
    runs = tmp_path / "runs"
    runs.mkdir()
    list(IsolatedExecutor(2, timeout=60.0, memory=MEMORY).execute(tasks, runs=runs))
    assert len({line.split()[1] for line in diary.read_text().splitlines()}) <= 2


def test_closing_ends_everything_and_leaves_whole_runs(tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    faults = [Fault.NONE, Fault.HANG, Fault.HANG_WITH_GIL, Fault.NONE]
    tasks = [task(i, fault, engine="mujoco", diary=str(diary)) for i, fault in enumerate(faults)]
    results = IsolatedExecutor(3, timeout=600.0, memory=MEMORY).execute(tasks, runs=tmp_path)
    given = {next(results).task.key, next(results).task.key}
    results.close()
    assert {path.name for path in tmp_path.iterdir() if path.is_dir()} == given
    started = [Path("/proc", line.split()[1]) for line in diary.read_text().splitlines()]
    wait_until(lambda: not any(path.exists() for path in started))


def test_a_full_or_missing_folder_is_an_error_of_the_user(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    runs.write_text("not a folder")
    with pytest.raises(OutputError):
        list(IsolatedExecutor(1, timeout=60.0, memory=MEMORY).execute([], runs=runs))


def test_what_a_worker_cannot_write_ends_the_batch(tmp_path: Path) -> None:
    blocked = task(0, Fault.NONE)
    (tmp_path / blocked.key).symlink_to(tmp_path / "gone" / "elsewhere")
    executor = IsolatedExecutor(1, timeout=60.0, memory=MEMORY)
    with pytest.raises(OutputError, match="cannot write"):
        list(executor.execute([blocked], runs=tmp_path))


def test_a_study_of_the_script_itself_is_refused(tmp_path: Path) -> None:
    executor = IsolatedExecutor(1, timeout=60.0, memory=MEMORY)
    mine = Task("key", "mine", "__main__:Mine", {})
    with pytest.raises(KinetariumError, match="move it to a module"):
        next(executor.execute([mine], runs=tmp_path))


@pytest.mark.parametrize("place", ["no_such_module:Study", "hostile.faulty_study:NoStudy"])
def test_a_study_that_is_not_there_is_a_row(place: str, tmp_path: Path) -> None:
    executor = IsolatedExecutor(1, timeout=60.0, memory=MEMORY)
    [finished] = executor.execute([Task("key", "lost", place, {})], runs=tmp_path)
    assert finished.status == "failed"
    assert "no_such_module" in finished.message or "NoStudy" in finished.message


def test_the_environment_stays_as_it_was(tmp_path: Path) -> None:
    before, main = dict(os.environ), sys.modules["__main__"]
    list(
        IsolatedExecutor(1, timeout=60.0, memory=MEMORY).execute(
            [task(0, Fault.NONE)], runs=tmp_path
        )
    )
    assert dict(os.environ) == before
    assert sys.modules["__main__"] is main


@pytest.fixture
def hanging(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Yield a script with one run finished and two workers that hang."""
    faults = [Fault.NONE, Fault.HANG, Fault.HANG_WITH_GIL, Fault.NONE]
    diary = tmp_path / "diary"
    tasks = [task(i, fault, engine="mujoco", diary=str(diary)) for i, fault in enumerate(faults)]
    script = start_script(tasks, tmp_path / "runs", workers=2)
    assert script.stdout
    script.stdout.readline()
    assert json.loads(script.stdout.readline())["status"] == "completed"
    wait_until(lambda: diary.read_text().count("fault") == 2)
    try:
        yield script
    finally:
        for process in processes(script.pid):
            os.kill(process, signal.SIGKILL)
        script.communicate()


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGTERM])
def test_workers_die_with_their_coordinator(
    signal_number: int, hanging: subprocess.Popen[str], tmp_path: Path
) -> None:
    assert len(processes(hanging.pid)) >= 4  # the script, the fork server, two workers
    hanging.send_signal(signal_number)
    hanging.wait()
    wait_until(lambda: not processes(hanging.pid))
    remove_leftovers(tmp_path / "runs")
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["case-000"]


@pytest.mark.parametrize("stopped", ["workers", "fork server", "all"])
def test_stopped_processes_die_with_their_coordinator(
    stopped: str, hanging: subprocess.Popen[str]
) -> None:
    everybody = [pid for pid in processes(hanging.pid) if pid != hanging.pid]
    for pid in {
        "workers": workers(hanging.pid),
        "fork server": fork_servers(hanging.pid),
        "all": everybody,
    }[stopped]:
        os.kill(pid, signal.SIGSTOP)
    hanging.kill()
    hanging.wait()
    wait_until(lambda: not processes(hanging.pid))


def test_time_in_which_everything_is_stopped_does_not_count(tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    slow = task(0, Fault.SLOW, diary=str(diary))
    script = start_script([slow], tmp_path / "runs", workers=1, timeout=2.0)
    wait_until(lambda: diary.exists() and "fault" in diary.read_text())
    os.killpg(script.pid, signal.SIGSTOP)  # as ctrl-Z does
    time.sleep(3.0)
    os.killpg(script.pid, signal.SIGCONT)
    output, errors = script.communicate(timeout=60)
    assert errors == ""
    assert json.loads(output.splitlines()[1])["status"] == "completed"


def test_nothing_is_left_in_the_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    tasks = [task(0, Fault.NONE), task(1, Fault.HANG)]
    script = start_script(tasks, tmp_path / "runs", workers=1)
    assert script.stdout
    script.stdout.readline()
    script.stdout.readline()
    script.kill()
    script.communicate()
    assert list(temporary.iterdir()) == []


def test_ctrl_c_ends_everything(hanging: subprocess.Popen[str], tmp_path: Path) -> None:
    os.killpg(hanging.pid, signal.SIGINT)
    assert hanging.wait(timeout=20.0) != 0
    wait_until(lambda: not processes(hanging.pid))
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["case-000"]
    assert hanging.stderr
    errors = hanging.stderr.read()
    assert errors.count("Traceback") == errors.count("KeyboardInterrupt") == 1  # the script's own


@pytest.mark.parametrize(
    ("code", "output", "oom_kill", "status", "message"),
    [
        (-9, "", True, "out of memory", "out of memory: killed by the system"),
        (-9, "", False, "crashed", "crashed: SIGKILL (killed)"),
        (-11, "", True, "crashed", "crashed: SIGSEGV (segmentation fault)"),
        (-6, "terminate called ...\n  what():  std::bad_alloc\n", False, "out of memory",
         "out of memory: SIGABRT (aborted); last output: what(): std::bad_alloc"),
        (3, "one\ntwo\n---\n\n", False, "crashed", "exited with code 3; last output: two"),
        (-64, "", False, "crashed", "crashed: SIGRTMAX (real-time signal 30)"),
    ],
)  # fmt: skip
def test_endings_in_words(
    code: int, output: str, oom_kill: bool, status: str, message: str
) -> None:
    ending = exit_status_of(code, output=output, oom_kill=oom_kill)
    assert (ending.status, ending.message) == (status, message)
