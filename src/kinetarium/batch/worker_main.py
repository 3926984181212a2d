"""The main function of a worker process, and the exit status of workers."""

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
    """The resource usage of a process.

    Attributes:
        resident: Resident memory [bytes].
        data: Reserved private memory [bytes].
        cpu: CPU time since its start [s].
    """

    resident: int = 0
    data: int = 0
    cpu: float = 0.0


def process_usage(process: int) -> ProcessUsage:
    """Return the resource usage of a process; zero if it has exited (proc(5))."""
    with suppress(OSError, ValueError, IndexError):
        pages = Path(f"/proc/{process}/statm").read_text().split()
        # The name of a process is in parentheses and may contain any character.
        times = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        cpu = _TICK * (int(times[11]) + int(times[12]))
        return ProcessUsage(_PAGE * int(pages[1]), _PAGE * int(pages[5]), cpu)
    return ProcessUsage()


def oom_kills() -> int:
    """Return the number of processes killed by the system's OOM killer since boot."""
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
    """The exit status of a worker, as the result of its case.

    Attributes:
        status: The status of the run.
        message: The reason, in one line.
        is_verdict: Whether it is a result of the case; not if the exit code is unknown because
            the fork server has exited.
    """

    status: RunStatus
    message: str
    is_verdict: bool = True


def closed_pipe() -> ExitStatus:
    """Return the status of a worker that has closed its end of the pipe."""
    return ExitStatus(RunStatus.CRASHED, "crashed: the worker closed its own pipe")


def vanished(why: str = "") -> ExitStatus:
    """Return the status of a worker whose exit code is unknown, or that never started."""
    reason = one_line(why or "its exit code is unknown, as the fork server has exited")
    return ExitStatus(RunStatus.CRASHED, f"vanished: {reason}", is_verdict=False)


def timed_out(timeout: float) -> ExitStatus:
    """Return the status of a case that exceeded its time limit [s]."""
    return ExitStatus(RunStatus.TIMED_OUT, f"timed out after {timeout:g} s")


def out_of_memory(reason: str) -> ExitStatus:
    """Return the status of a worker that ran out of memory, with the symptom."""
    return ExitStatus(RunStatus.OUT_OF_MEMORY, f"out of memory: {one_line(reason)}")


def exit_status_of(exit_code: int, *, output: str, oom_kill: bool) -> ExitStatus:
    """Return the status of a process that has exited.

    Args:
        exit_code: Its exit code, or minus the signal that killed it.
        output: The end of its output.
        oom_kill: Whether the system's OOM killer has killed processes meanwhile.
    """
    if exit_code == PIPE_LOST:
        return closed_pipe()
    how = _signal_in_words(-exit_code) if exit_code < 0 else f"exited with code {exit_code}"
    if oom_kill and exit_code == -signal.SIGKILL:
        return out_of_memory("killed by the system")
    last = _last_line(output)
    said = f"{how}; last output: {last}" if last else how
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
    """Return the last line that contains a word."""
    lines = (line for line in reversed(output.splitlines()) if any(map(str.isalnum, line)))
    return one_line(next(lines, ""))


@dataclass(frozen=True, slots=True)
class Job:
    """A task for a worker.

    Attributes:
        task: The task.
        runs: The folder of all runs.
        attempt: Number of attempts, including this one, without those in which the worker
            vanished.
        vanished: Number of attempts in which the worker vanished.
    """

    task: Task
    runs: Path
    attempt: int = 1
    vanished: int = 0


def worker_main(connection: Connection, *, output: Path, memory: float) -> None:
    """Run the jobs received through a pipe until it is closed.

    The worker sends None when it is ready, then a Finished for each job, or the
    OutputError if it could not write one.

    Args:
        connection: The worker's end of the pipe.
        output: The file for the output of the worker and its libraries.
        memory: Memory limit [bytes].
    """
    isolate(output, memory=memory)
    try:
        connection.send(None)
        while True:
            job = connection.recv()
            with suppress(OSError):  # so that the last output is that of the current case
                os.truncate(output, 0)
            connection.send(_answer(job))
    except EOFError:
        return
    except OSError:
        os._exit(PIPE_LOST)


def isolate(output: Path, *, memory: float) -> None:
    """Make this process a worker: with its coordinator's life, its own output, and limits.

    Args:
        output: The file for the output of the worker and its libraries.
        memory: Memory limit [bytes].
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the coordinator handles the interrupt
    _exit_with_coordinator()
    _print_to(output)
    _limit(memory)


def _answer(job: Job) -> object:
    try:
        return run_case(job.task, job.runs, attempt=job.attempt)
    except OutputError as error:
        return error


def _exit_with_coordinator() -> None:
    """Exit when the coordinator has exited, for any reason.

    A child of the fork server is killed by the kernel, see `kill_when_closed`.
    """
    coordinator = parent_process()
    if coordinator is not None:
        Thread(target=_wait_and_exit, args=(coordinator.sentinel,), daemon=True).start()


def _wait_and_exit(sentinel: int) -> None:
    wait([sentinel])
    os._exit(PIPE_LOST)


def _print_to(output: Path) -> None:
    """Redirect standard output and error to a file, also of native code.

    The file is opened for appending, so that it can be truncated meanwhile.
    """
    file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for stream in (1, 2):
        os.dup2(file, stream)
    os.close(file)


def _limit(memory: float) -> None:
    """Let allocations fail above a memory limit [bytes].

    RLIMIT_DATA counts private memory only, not mapped libraries; when it is reached
    Python raises MemoryError (getrlimit(2)).
    """
    if sys.platform == "linux":
        usage = process_usage(os.getpid())
        most = int(usage.data + max(memory - usage.resident, 0))
        with suppress(ValueError):  # keep a lower limit set by the user
            resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        # Writing a core dump of a large process takes longer than the case.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
