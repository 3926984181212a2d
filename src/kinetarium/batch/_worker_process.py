"""WorkerProcess: a worker as its coordinator sees it, from start to end."""

import os
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from time import monotonic

from kinetarium.batch.task import Finished
from kinetarium.batch.worker_main import (
    ExitStatus,
    Job,
    ProcessUsage,
    closed_pipe,
    exit_status_of,
    oom_kills,
    out_of_memory,
    process_usage,
    timed_out,
    vanished,
    worker_main,
)
from kinetarium.batch.worker_start import WorkerStart
from kinetarium.errors import OutputError

_START_TIMEOUT = 120.0
"""Time for a worker to get ready [s]; libraries on a slow disk take a while."""

_GRACE = 2.0
"""Time between the end of a worker's pipe and that of the worker [s]; a dying one needs some."""

_KILL_TIMEOUT = 10.0
"""Time for a killed process to be gone [s]."""

_MOST_OUTPUT = 8_000_000
"""A worker's output is emptied when it grows beyond this [bytes]."""

_ASLEEP = 1.0
"""A coordinator that has not looked for so long was stopped itself, such as by ctrl-Z [s]."""

_TAIL = 65_536
"""How much of the output's end is looked at for last words [bytes]."""


class WorkerProcess:
    """One worker: what it is doing, and how it is ended.

    Each worker has a pipe of its own. Whatever state it dies in, it holds no
    lock and has no half of a message that another would wait for.

    Attributes:
        job: What it is doing, or None.
        jobs: How many jobs it was given.
        ready: Whether it has got ready.
    """

    def __init__(self, start: WorkerStart, *, output: Path, memory: float) -> None:
        """Start a worker.

        Args:
            start: Starts the process.
            output: The file that takes its output.
            memory: The most it may use [bytes].

        Raises:
            OSError: If no process can be started.
        """
        self.job: Job | None = None
        self.jobs = 0
        self.ready = False
        self._output = output
        self._memory = memory
        self._since = self._looked = monotonic()
        self._silent_since: float | None = None
        self._usage = self._usage_before = ProcessUsage()
        self._oom_kills = oom_kills()
        self._process, self._connection = start.start(worker_main, output=output, memory=memory)

    @property
    def free(self) -> bool:
        """Whether it can be given a job."""
        return self.ready and self.job is None

    @property
    def wall_s(self) -> float:
        """How long it has been at its job [s]."""
        return monotonic() - self._since

    @property
    def cpu_s(self) -> float:
        """Processor time of its job when last looked at [s]."""
        return max(self._usage.cpu - self._usage_before.cpu, 0.0)

    @property
    def events(self) -> tuple[Connection | int, ...]:
        """What becomes ready when there is something to look at."""
        if self._silent_since is None:
            return self._connection, self._process.sentinel
        return (self._process.sentinel,)

    def assign(self, job: Job) -> None:
        """Let it do a job; if it has died meanwhile, the next look shows it."""
        self.job = job
        self.jobs += 1
        self._since = self._looked = monotonic()
        self._oom_kills = oom_kills()
        self._usage_before = self._usage = process_usage(self._process.pid or 0)
        with suppress(OSError):
            self._connection.send(job)

    def poll(self, timeout: float) -> Finished | ExitStatus | None:
        """See what has become of it, and whether it keeps to its limits.

        Args:
            timeout: The most time for a job [s].

        Returns:
            The job's result, or how the worker ended or must be ended, or None if all is well.

        Raises:
            OutputError: If it could not write a result.
        """
        asleep, self._looked = monotonic() - self._looked, monotonic()
        if asleep > _ASLEEP:  # and so may the worker have been, whose time that is not
            self._since += asleep
        alive = self._process.is_alive()  # asked first, so that last words are still heard
        try:
            if self._silent_since is None and self._connection.poll():
                return self._heard(self._connection.recv())
        except OutputError:
            raise
        except Exception:  # the pipe's end, or bytes that are no message
            self._silent_since = monotonic()
        if not alive:
            code = self._process.exitcode
            if code is None:
                # Only a process of the fork server can say why it never came.
                return vanished(getattr(self._process, "failure", ""))
            killed = oom_kills() > self._oom_kills
            return exit_status_of(code, output=self._last_output(), oom_kill=killed)
        if self._silent_since is not None:
            return closed_pipe() if monotonic() - self._silent_since > _GRACE else None
        return self._over_limit(timeout)

    def stop(self) -> None:
        """End it at once, whatever it is doing."""
        self._process.kill()
        self._process.join(_KILL_TIMEOUT)
        self._connection.close()
        with suppress(ValueError):  # not even a kill ends a process that waits for a dead disk
            self._process.close()
        self._output.unlink(missing_ok=True)

    def _heard(self, answer: object) -> Finished | None:
        if isinstance(answer, OutputError):
            raise answer
        if isinstance(answer, Finished):
            self.job = None
            return answer
        self.ready = True
        return None

    def _over_limit(self, timeout: float) -> ExitStatus | None:
        self._usage = process_usage(self._process.pid or 0)
        if self.job is None:
            late = not self.ready and self.wall_s > _START_TIMEOUT
            return timed_out(_START_TIMEOUT) if late else None
        if self._usage.resident > self._memory:
            return out_of_memory(f"more than {self._memory / 1e6:.0f} MB in use")
        if self.wall_s > timeout:
            return timed_out(timeout)
        with suppress(OSError):
            if self._output.stat().st_size > _MOST_OUTPUT:
                os.truncate(self._output, 0)
        return None

    def _last_output(self) -> str:
        try:
            with self._output.open("rb") as file:
                file.seek(max(self._output.stat().st_size - _TAIL, 0))
                return file.read(_TAIL).decode(errors="replace")
        except OSError:  # it ended before it had one
            return ""
