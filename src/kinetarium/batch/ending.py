"""Ending: how a process ended that did not say so itself, in words."""

import signal
from dataclasses import dataclass

from kinetarium.batch.message import one_line
from kinetarium.recording.run import RunStatus

PIPE_LOST = 74
"""Exit code of a worker that cannot reach its coordinator (EX_IOERR of sysexits.h)."""

_LACK_OF_MEMORY = ("bad_alloc", "out of memory", "cannot allocate memory")


@dataclass(frozen=True, slots=True)
class Ending:
    """How a case ended with its worker.

    Attributes:
        status: How.
        message: Why, in one line.
        is_verdict: Whether it says something of the case; a process that nobody saw ending,
            because the fork server was gone, does not.
    """

    status: RunStatus
    message: str
    is_verdict: bool = True


def closed_pipe() -> Ending:
    """Say that a worker has closed its end of the pipe."""
    return Ending(RunStatus.CRASHED, "crashed: the worker closed its own pipe")


def vanished(why: str = "") -> Ending:
    """Say that a worker is gone, and nobody knows how it ended, or why it never came."""
    reason = one_line(why or "the fork server is gone, which alone knows how it ended")
    return Ending(RunStatus.CRASHED, f"vanished: {reason}", is_verdict=False)


def timed_out(timeout: float) -> Ending:
    """Say that a case took longer than it may [s]."""
    return Ending(RunStatus.TIMED_OUT, f"timed out after {timeout:g} s")


def out_of_memory(reason: str) -> Ending:
    """Say that a worker had no memory left, and how that showed."""
    return Ending(RunStatus.OUT_OF_MEMORY, f"out of memory: {one_line(reason)}")


def ending_of(exit_code: int, *, output: str, oom_kill: bool) -> Ending:
    """Tell from what a dead process left behind how it ended.

    Args:
        exit_code: Its exit code; minus the signal if one ended it.
        output: The end of what it wrote.
        oom_kill: Whether the system has killed processes for want of memory meanwhile.
    """
    if exit_code == PIPE_LOST:
        return closed_pipe()
    how = _signal_in_words(-exit_code) if exit_code < 0 else f"exited with code {exit_code}"
    if oom_kill and exit_code == -signal.SIGKILL:
        return out_of_memory("killed by the system")
    last = _last_line(output)
    said = f"{how}; its last words: {last}" if last else how
    if any(words in output.lower() for words in _LACK_OF_MEMORY):
        return out_of_memory(said)
    message = f"crashed: {said}" if exit_code < 0 else said
    return Ending(RunStatus.CRASHED, one_line(message))


def _signal_in_words(number: int) -> str:
    try:
        name = signal.Signals(number).name
    except ValueError:  # real-time signals have no name
        name = f"signal {number}"
    words = signal.strsignal(number)
    return f"{name} ({words.lower()})" if words else name


def _last_line(output: str) -> str:
    """Give the last line that has a word in it."""
    lines = (line for line in reversed(output.splitlines()) if any(map(str.isalnum, line)))
    return one_line(next(lines, ""))
