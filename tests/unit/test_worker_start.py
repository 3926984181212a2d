"""Processes that are started for workers: what they find, and what is known of their end."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from hostile.processes import fork_servers, wait_until
from kinetarium.batch.worker import Task
from kinetarium.batch.worker_pool import IsolatedExecutor
from kinetarium.batch.worker_process import WorkerStart
from needs import needs
from unit.worker_tasks import describe, exit_with, sleep, touch

linux = needs("linux")  # there is a fork server on Linux alone


@pytest.fixture
def server() -> Iterator[int]:
    """Yield the fork server of this process, and end it afterwards, for it may be maltreated."""
    process, connection = WorkerStart(()).start(describe)
    with connection:
        connection.recv()
    process.kill()
    process.close()
    [pid] = fork_servers(os.getpid())
    yield pid
    if pid in fork_servers(os.getpid()):
        os.kill(pid, signal.SIGKILL)


@pytest.fixture(params=[pytest.param("forked", marks=linux), "spawned"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "spawned":
        monkeypatch.setattr("kinetarium.batch.worker_process._can_fork", lambda: False)
    return str(request.param)


def test_what_a_process_finds(way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path / "own")
    process, connection = WorkerStart(()).start(describe, b"x" * 5_000_000, name="value")
    with connection:
        found = connection.recv()
    process.join()
    assert not process.is_alive()
    assert process.exitcode == 0
    process.close()
    assert found["args"] == (b"x" * 5_000_000,)
    assert found["named"] == {"name": "value"}
    assert found["folder"] == str(tmp_path)
    assert str(tmp_path / "own") in found["path"]
    assert (found["utf8"], found["threads"], found["daemon"]) == (1, "1", True)
    assert found["script"] is None
    assert found["ignores ctrl-C"] or way == "spawned"


@pytest.mark.parametrize("code", [0, 3, 255])
def test_exit_codes_are_known(way: str, code: int) -> None:
    process, connection = WorkerStart(()).start(exit_with, code)
    with connection:
        wait_until(lambda: not process.is_alive())
    assert process.exitcode == code
    process.close()


def test_cases_run_either_way(way: str, tmp_path: Path) -> None:
    case = {"fault": "none", "engine": "", "number": 0, "diary": ""}
    crash = {**case, "fault": "exit 255"}
    tasks = [
        Task(name, "faulty", "hostile.faulty_study:FaultyStudy", content)
        for name, content in (("healthy", case), ("faulty", crash))
    ]
    ends = IsolatedExecutor(2, timeout=60.0, memory=1e9).execute(tasks, runs=tmp_path)
    assert {end.task.key: end.status for end in ends} == {
        "healthy": "completed",
        "faulty": "crashed",
    }


@linux
def test_a_process_outlives_the_server_and_its_end_is_unknown(server: int) -> None:
    process, connection = WorkerStart(()).start(sleep)
    with connection:
        assert connection.recv() == "sleeping"
        os.kill(server, signal.SIGKILL)
        wait_until(lambda: not fork_servers(os.getpid()))
        assert process.is_alive()
        process.kill()
        process.join()
        assert not process.is_alive()
        assert process.exitcode is None
        process.close()


@linux
def test_another_server_is_started_when_one_has_ended(server: int) -> None:
    os.kill(server, signal.SIGKILL)
    process, connection = WorkerStart(()).start(exit_with, 3)
    with connection:
        wait_until(lambda: not process.is_alive())
    if process.exitcode is None:  # asked for while the server was dying
        process.close()
        process, connection = WorkerStart(()).start(exit_with, 3)
        with connection:
            wait_until(lambda: not process.is_alive())
    assert process.exitcode == 3
    process.close()
    assert server not in fork_servers(os.getpid())


@linux
def test_a_server_that_does_not_answer_is_replaced(
    server: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kinetarium.batch._forked._REPORT_TIMEOUT", 0.1)
    process, connection = WorkerStart(()).start(sleep)
    with connection:
        connection.recv()
        os.kill(server, signal.SIGSTOP)
        process.kill()
        wait_until(lambda: not process.is_alive())
        assert process.exitcode is None
        process.close()
    process, connection = WorkerStart(()).start(exit_with, 3)
    with connection:
        wait_until(lambda: not process.is_alive())
    assert process.exitcode == 3
    process.close()


@linux
def test_a_process_that_is_killed_before_it_is_there_never_comes(
    server: int, tmp_path: Path
) -> None:
    os.kill(server, signal.SIGSTOP)
    process, connection = WorkerStart(()).start(touch, tmp_path / "first")
    process.kill()
    process.close()
    os.kill(server, signal.SIGCONT)
    other, other_connection = WorkerStart(()).start(touch, tmp_path / "second")
    with connection, other_connection:
        assert other_connection.recv() == "touched"  # the server took the first request before
        with pytest.raises((EOFError, ConnectionError)):
            connection.recv()
    other.kill()
    other.close()
    assert [path.name for path in tmp_path.iterdir()] == ["second"]
