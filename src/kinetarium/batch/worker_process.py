"""WorkerProcess: a worker as its coordinator sees it, from start to end.

Workers start quickly, with one thread each, and never with the user's script in them.
"""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from time import monotonic
from types import ModuleType
from typing import Any, Protocol

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

_ENVIRONMENT = {
    f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMBA")
}
"""What workers are started with; libraries read it when they are loaded."""

_TRIES = 3
"""A server may end between the look at it and the request; another one is asked then."""


class StartedProcess(Protocol):
    """A process that was started: one of `multiprocessing`, or forked off our own server."""

    @property
    def pid(self) -> int | None:
        """Its number, if it is there already."""
        ...

    @property
    def sentinel(self) -> int:
        """What becomes ready when there is something to look at."""
        ...

    @property
    def exitcode(self) -> int | None:
        """How it has ended; None if it has not, or if nobody knows."""
        ...

    def is_alive(self) -> bool:
        """Return whether it is there, or still may come."""
        ...

    def kill(self) -> None:
        """End it at once."""
        ...

    def join(self, timeout: float | None = None) -> None:
        """Wait until it has ended [s]."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


class WorkerStart:
    """Starts workers that share what they have to load.

    On Linux workers are forked off a server that has the libraries loaded;
    elsewhere each starts anew. A process has one such server, so that engines
    which only its later batches need are loaded by each worker.
    """

    def __init__(self, engines: Sequence[str]) -> None:
        """Name the engines that the workers will need."""
        self._engines = tuple(engines)

    def begin(self) -> None:
        """Start the server that workers are forked off, where there is one, and do not wait."""
        if _can_fork():
            from kinetarium.batch._forked import ForkServer

            with suppress(OSError):
                ForkServer.current(self._engines, environment=_ENVIRONMENT)

    def start(
        self, main: Callable[..., None], *args: Any, **named: Any
    ) -> tuple[StartedProcess, Connection]:
        """Start a process that calls a function.

        Args:
            main: The function; it is given its end of a pipe, and the rest after that.
            *args: The rest.
            **named: What it is given by name.

        Returns:
            The process, which may still be on its way, and our end of the pipe.

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
        try:
            with theirs:
                process = self._ask_for_process(theirs)
            try:
                with suppress(ConnectionError):  # it has ended; whoever looks at it sees that
                    ours.send((sys.path, _folder()))
                    ours.send((main, args, named))
            except BaseException:
                process.close()
                raise
        except BaseException:
            ours.close()
            raise
        return process, ours

    def _ask_for_process(self, connection: Connection) -> StartedProcess:
        from kinetarium.batch._forked import ForkServer

        for _ in range(_TRIES - 1):
            with suppress(ConnectionError, TimeoutError):
                server = ForkServer.current(self._engines, environment=_ENVIRONMENT)
                return server.fork(connection)
        return ForkServer.current(self._engines, environment=_ENVIRONMENT).fork(connection)


def _spawn(
    main: Callable[..., None], args: tuple[Any, ...], named: Mapping[str, Any]
) -> tuple[StartedProcess, Connection]:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=main, args=(theirs, *args), kwargs=named, daemon=True)
    try:
        with theirs, _environment({**_ENVIRONMENT, "PYTHONUTF8": "1"}), _without_main():
            process.start()
    except BaseException:
        ours.close()
        raise
    return process, ours


def _can_fork() -> bool:
    """Return whether there is a fork server here; it needs descriptors of processes (Linux 5.3)."""
    if sys.platform != "linux":
        return False
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError:
        return False
    return True


def _folder() -> str | None:
    """Return the folder we are in, if it is still there."""
    try:
        return os.getcwd()
    except OSError:
        return None


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """Set variables for processes started meanwhile."""
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
    """Show a new process an empty main module, as an interactive session has it.

    It would run the user's script again, which starts workers in turn if it has
    no `if __name__ == "__main__"`.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


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
