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

from kinetarium.batch.ending import PIPE_LOST
from kinetarium.batch.process_usage import process_usage
from kinetarium.batch.task import Task
from kinetarium.batch.worker import run_case
from kinetarium.errors import OutputError

if sys.platform == "linux":
    import resource


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
    _die_with_the_coordinator()
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


def _die_with_the_coordinator() -> None:
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
