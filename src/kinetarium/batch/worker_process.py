"""WorkerProcess: the coordinator's handle of a worker.

Workers start quickly, with one thread each, and never import the user's script.
"""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from time import monotonic
from types import ModuleType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeAlias

from kinetarium.batch.worker import Finished
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
from kinetarium.errors import OutputError

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

    from kinetarium.batch._forked import ForkedProcess

Parameters = ParamSpec("Parameters")

ONE_THREAD = {
    f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMBA")
}
"""Environment variables of workers; libraries read them when they are loaded."""

_TRIES = 3
"""A server may exit between the check and the request; then another one is used."""


StartedProcess: TypeAlias = "ForkedProcess | BaseProcess"
"""A process forked by our own server, or one of `multiprocessing`."""


class WorkerStart:
    """Starts workers that share loaded libraries.

    On Linux workers are forked by a server that has the libraries loaded; elsewhere
    each is spawned. A process has one such server, so that engines which only later
    batches need are loaded by each worker.
    """

    def __init__(self, engines: Sequence[str]) -> None:
        """Set the engines that the workers will need."""
        self._engines = tuple(engines)

    def begin(self) -> None:
        """Start the fork server, if there is one, without waiting."""
        if _can_fork():
            from kinetarium.batch._forked import ForkServer

            with suppress(OSError):
                ForkServer.current(self._engines, environment=ONE_THREAD)

    def start(
        self,
        main: Callable[Concatenate[Connection, Parameters], None],
        *args: Parameters.args,
        **named: Parameters.kwargs,
    ) -> tuple[StartedProcess, Connection]:
        """Start a process that calls a function.

        Args:
            main: The function; its first argument is its end of a pipe.
            *args: Its other arguments.
            **named: Its keyword arguments.

        Returns:
            The process, which may be about to start, and our end of the pipe.

        Raises:
            OSError: If no process can be started.
        """
        if _can_fork():
            return self._fork(main, args, named)
        return _spawn(main, args, named)

    def _fork(
        self, main: Callable[..., None], args: tuple[Any, ...], named: Mapping[str, Any]
    ) -> tuple[StartedProcess, Connection]:
        ours, theirs = Pipe()
        with ExitStack() as undo:
            undo.callback(ours.close)
            with theirs:
                process = self._ask_for_process(theirs)
            undo.callback(process.close)
            with suppress(ConnectionError):  # it has exited, which the next poll detects
                ours.send((sys.path, _folder()))
                ours.send((main, args, named))
            undo.pop_all()
        return process, ours

    def _ask_for_process(self, connection: Connection) -> StartedProcess:
        from kinetarium.batch._forked import ForkServer

        for _ in range(_TRIES - 1):
            with suppress(ConnectionError, TimeoutError):
                server = ForkServer.current(self._engines, environment=ONE_THREAD)
                return server.fork(connection)
        return ForkServer.current(self._engines, environment=ONE_THREAD).fork(connection)


def _spawn(
    main: Callable[..., None], args: tuple[Any, ...], named: Mapping[str, Any]
) -> tuple[StartedProcess, Connection]:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=main, args=(theirs, *args), kwargs=named, daemon=True)
    with ExitStack() as undo:
        undo.callback(ours.close)
        with theirs, _environment({**ONE_THREAD, "PYTHONUTF8": "1"}), _without_main():
            process.start()
        undo.pop_all()
    return process, ours


def _can_fork() -> bool:
    """Return whether a fork server is supported; it needs pidfds (Linux 5.3)."""
    if sys.platform != "linux":
        return False
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError:
        return False
    return True


def _folder() -> str | None:
    """Return the current folder, if it still exists."""
    try:
        return os.getcwd()
    except OSError:
        return None


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for processes started meanwhile."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _without_main() -> Iterator[None]:
    """Hide the main module from new processes, as in an interactive session.

    They would run the user's script again, which starts workers in turn if it has no
    `if __name__ == "__main__"`.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


_START_TIMEOUT = 120.0
"""Timeout for a worker to become ready [s]; loading libraries from a slow disk takes long."""

_GRACE = 2.0
"""Time between the closing of a worker's pipe and its exit [s]."""

_KILL_TIMEOUT = 10.0
"""Timeout for a killed process to exit [s]."""

_MOST_OUTPUT = 8_000_000
"""Size at which a worker's output file is truncated [bytes]."""

_ASLEEP = 1.0
"""Time without polling after which the coordinator was stopped, such as by Ctrl-Z [s]."""

_TAIL = 65_536
"""Size of the end of the output that is searched for a reason [bytes]."""


class WorkerProcess:
    """One worker, its job and its limits.

    Each worker has its own pipe. In whatever state it dies, it holds no lock and no
    partial message for which another would wait.

    Attributes:
        job: Its current job, or None.
        jobs: Number of assigned jobs.
        ready: Whether it is ready.
    """

    def __init__(self, start: WorkerStart, *, output: Path, memory: float) -> None:
        """Start a worker.

        Args:
            start: Starts the process.
            output: The file for its output.
            memory: Memory limit [bytes].

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
        """Whether a job can be assigned to it."""
        return self.ready and self.job is None

    @property
    def wall_s(self) -> float:
        """Wall time of its job [s]."""
        return monotonic() - self._since

    @property
    def cpu_s(self) -> float:
        """CPU time of its job at the last poll [s]."""
        return max(self._usage.cpu - self._usage_before.cpu, 0.0)

    @property
    def events(self) -> tuple[Connection | int, ...]:
        """Descriptors that become ready on a change of state."""
        if self._silent_since is None:
            return self._connection, self._process.sentinel
        return (self._process.sentinel,)

    def assign(self, job: Job) -> None:
        """Assign a job; if it has died meanwhile, the next poll detects it."""
        self.job = job
        self.jobs += 1
        self._since = self._looked = monotonic()
        self._oom_kills = oom_kills()
        self._usage_before = self._usage = process_usage(self._process.pid or 0)
        with suppress(OSError):
            self._connection.send(job)

    def poll(self, timeout: float) -> Finished | ExitStatus | None:
        """Check for a result, and enforce its limits.

        Args:
            timeout: Time limit for a job [s].

        Returns:
            The job's result, or the exit status of a worker that exited or must be killed, or
            None.

        Raises:
            OutputError: If it could not write a result.
        """
        asleep, self._looked = monotonic() - self._looked, monotonic()
        if asleep > _ASLEEP:  # the worker may have been stopped as well: do not count the time
            self._since += asleep
        alive = self._process.is_alive()  # checked first, so that a last message is still received
        try:
            if self._silent_since is None and self._connection.poll():
                return self._heard(self._connection.recv())
        except OutputError:
            raise
        except Exception:  # the end of the pipe, or an invalid message
            self._silent_since = monotonic()
        if not alive:
            code = self._process.exitcode
            if code is None:
                # Only a process of the fork server has a reason why it never started.
                return vanished(getattr(self._process, "failure", ""))
            killed = oom_kills() > self._oom_kills
            return exit_status_of(code, output=self._last_output(), oom_kill=killed)
        if self._silent_since is not None:
            return closed_pipe() if monotonic() - self._silent_since > _GRACE else None
        return self._over_limit(timeout)

    def stop(self) -> None:
        """Kill it."""
        self._process.kill()
        self._process.join(_KILL_TIMEOUT)
        self._connection.close()
        with suppress(ValueError):  # a process in uninterruptible sleep survives SIGKILL
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
        except OSError:  # it exited before it had one
            return ""
