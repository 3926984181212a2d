"""A wish to stop is heard once at least, whatever has become of the exception."""

import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from kinetarium.batch.worker import Executor, SerialExecutor, Task
from kinetarium.batch.worker_pool import IsolatedExecutor
from kinetarium.cli import main
from kinetarium.interruption import handling_stop_signals, stop_if_requested, stop_request

SIGNALS = [signal.SIGINT, signal.SIGTERM]


@pytest.fixture(autouse=True)
def usual_answers() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in SIGNALS}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    for number, answer in before.items():
        signal.signal(number, answer)


def swallow(number: int) -> None:
    """Send this process a signal whose exception gets lost, as in many a callback."""
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(number)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_swallowed_wish_is_remembered(number: signal.Signals) -> None:
    with handling_stop_signals():
        stop_if_requested()
        assert stop_request() is None
        swallow(number)
        assert stop_request() is number
        with pytest.raises(KeyboardInterrupt):
            stop_if_requested()
    assert stop_request() is None
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_what_is_ignored_stays_ignored() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with handling_stop_signals():
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_other_threads_leave_signals_alone() -> None:
    seen = []

    def listen() -> None:
        with handling_stop_signals():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=listen)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


@pytest.mark.parametrize(
    "executor", [SerialExecutor(), IsolatedExecutor(1, timeout=60.0, memory=1e9)]
)
def test_no_case_is_started_after_a_swallowed_wish(executor: Executor, tmp_path: Path) -> None:
    task = Task("key", "drop", "kinetarium.studies.drop.study:Drop", {})
    with handling_stop_signals():
        swallow(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            list(executor.execute([task], runs=tmp_path))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("number", SIGNALS)
def test_a_wish_that_became_another_error_is_one_again(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def break_off(*_: object) -> None:
        swallow(number)
        raise ImportError("initialization failed")

    monkeypatch.setattr("kinetarium.cli._command", break_off)
    assert main(["robots"]) == 128 + number
    assert capsys.readouterr().err == "kinetarium: interrupted\n"
