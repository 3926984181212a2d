"""Starting workers: quickly, with one thread each, and never with the user's script in them."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection
from types import ModuleType
from typing import Any, Protocol

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
