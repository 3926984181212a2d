"""The inside of a worker process: it keeps to itself, takes tasks and says what came of them."""

import os
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path
from threading import Thread

from kinetarium.batch.worker import Task, run_case
from kinetarium.errors import OutputError, one_line
from kinetarium.recording.recording import RunStatus

if sys.platform == "linux":
    import resource


_PAGE = 0 if sys.platform == "win32" else os.sysconf("SC_PAGE_SIZE")
_TICK = 1.0 if sys.platform == "win32" else 1.0 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class ProcessUsage:
    """What a process uses.

    Attributes:
        resident: Memory that is in use [bytes].
        data: Private memory that is reserved, used or not [bytes].
        cpu: Processor time since its start [s].
    """

    resident: int = 0
    data: int = 0
    cpu: float = 0.0


def process_usage(process: int) -> ProcessUsage:
    """Return what a process uses; nothing if it has ended (proc(5))."""
    with suppress(OSError, ValueError, IndexError):
        pages = Path(f"/proc/{process}/statm").read_text().split()
        # A process's name is in parentheses and may hold anything, parentheses too.
        times = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        cpu = _TICK * (int(times[11]) + int(times[12]))
        return ProcessUsage(_PAGE * int(pages[1]), _PAGE * int(pages[5]), cpu)
    return ProcessUsage()


def oom_kills() -> int:
    """Count the processes that the system has killed for want of memory since it started."""
    with suppress(OSError, ValueError):
        for line in Path("/proc/vmstat").read_text().splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0


PIPE_LOST = 74
"""Exit code of a worker that cannot reach its coordinator (EX_IOERR of sysexits.h)."""

_LACK_OF_MEMORY = ("bad_alloc", "out of memory", "cannot allocate memory")


@dataclass(frozen=True, slots=True)
class ExitStatus:
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


def closed_pipe() -> ExitStatus:
    """Say that a worker has closed its end of the pipe."""
    return ExitStatus(RunStatus.CRASHED, "crashed: the worker closed its own pipe")


def vanished(why: str = "") -> ExitStatus:
    """Say that a worker is gone, and nobody knows how it ended, or why it never came."""
    reason = one_line(why or "the fork server is gone, which alone knows how it ended")
    return ExitStatus(RunStatus.CRASHED, f"vanished: {reason}", is_verdict=False)


def timed_out(timeout: float) -> ExitStatus:
    """Say that a case took longer than it may [s]."""
    return ExitStatus(RunStatus.TIMED_OUT, f"timed out after {timeout:g} s")


def out_of_memory(reason: str) -> ExitStatus:
    """Say that a worker had no memory left, and how that showed."""
    return ExitStatus(RunStatus.OUT_OF_MEMORY, f"out of memory: {one_line(reason)}")


def exit_status_of(exit_code: int, *, output: str, oom_kill: bool) -> ExitStatus:
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
    return ExitStatus(RunStatus.CRASHED, one_line(message))


def _signal_in_words(number: int) -> str:
    try:
        name = signal.Signals(number).name
    except ValueError:  # real-time signals have no name
        name = f"signal {number}"
    words = signal.strsignal(number)
    return f"{name} ({words.lower()})" if words else name


def _last_line(output: str) -> str:
    """Return the last line that has a word in it."""
    lines = (line for line in reversed(output.splitlines()) if any(map(str.isalnum, line)))
    return one_line(next(lines, ""))


@dataclass(frozen=True, slots=True)
class Job:
    """A task on its way to a worker.

    Attributes:
        task: The task.
        runs: The folder of all runs.
        attempt: How often it has been begun, this time included; those in which the worker
            vanished do not count.
        vanished: In how many its worker vanished.
    """

    task: Task
    runs: Path
    attempt: int = 1
    vanished: int = 0


def worker_main(connection: Connection, *, output: Path, memory: float) -> None:
    """Run the jobs that come through a pipe until it is closed.

    The worker says None when it is ready, then a Finished for each job, or the
    OutputError that kept it from writing one.

    Args:
        connection: The worker's end of the pipe.
        output: The file that takes all that the worker and its libraries print.
        memory: The most it may use [bytes].
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is the coordinator who is interrupted
    _exit_with_coordinator()
    _print_to(output)
    _limit(memory)
    try:
        connection.send(None)
        while True:
            job = connection.recv()
            with suppress(OSError):  # what is quoted after a crash is of the case that crashed
                os.truncate(output, 0)
            connection.send(_answer(job))
    except EOFError:
        return
    except OSError:
        os._exit(PIPE_LOST)


def _answer(job: Job) -> object:
    try:
        return run_case(job.task, job.runs, attempt=job.attempt)
    except OutputError as error:
        return error


def _exit_with_coordinator() -> None:
    """End this process when the coordinator has ended, however that was.

    A process of the fork server is ended by the kernel, see `kill_when_closed`.
    """
    coordinator = parent_process()
    if coordinator is not None:
        Thread(target=_wait_and_exit, args=(coordinator.sentinel,), daemon=True).start()


def _wait_and_exit(sentinel: int) -> None:
    wait([sentinel])
    os._exit(PIPE_LOST)


def _print_to(output: Path) -> None:
    """Send standard output and error to a file, from native code too.

    The file is appended to, so that whoever empties it makes room.
    """
    file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for stream in (1, 2):
        os.dup2(file, stream)
    os.close(file)


def _limit(memory: float) -> None:
    """Let allocations fail when the memory in use would pass a limit [bytes].

    RLIMIT_DATA counts private memory alone, not the libraries that are mapped,
    and when it is reached Python raises MemoryError (getrlimit(2)).
    """
    if sys.platform == "linux":
        usage = process_usage(os.getpid())
        most = int(usage.data + max(memory - usage.resident, 0))
        with suppress(ValueError):  # a lower limit of the user's own stays
            resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        # A core file of a large process takes longer to write than the case to run.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
