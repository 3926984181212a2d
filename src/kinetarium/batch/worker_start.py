"""Starting workers: quickly, with one thread each, and never with the user's script in them."""

import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import forkserver, get_context, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from time import sleep
from types import ModuleType
from typing import Any

PRELOAD = "KINETARIUM_PRELOAD"
"""The variable that tells a fork server which engines to load."""

_ONE_THREAD = {
    f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMBA")
}

_PAUSES = (0.1, 0.5, 2.0)
"""Pauses before another try [s]; a dying server is not told from a living one at once."""


class WorkerStart:
    """Starts workers that share what they have to load.

    On Linux workers are forked off a server that has the libraries loaded;
    elsewhere each starts anew. A process has one such server, so that engines
    which only its later batches need are loaded by each worker.
    """

    def __init__(self, engines: Sequence[str]) -> None:
        """Say which engines the workers will need."""
        self._context: Any = get_context("forkserver" if sys.platform == "linux" else "spawn")
        self._environment = {**_ONE_THREAD, PRELOAD: " ".join(engines)}

    def begin(self) -> None:
        """Start the server that workers are forked off, where there is one, and do not wait."""
        if sys.platform == "linux":
            with suppress(OSError), _environment(self._environment):
                self._start_server()

    def pipe(self) -> tuple[Connection, Connection]:
        """Make a pipe between the coordinator and a worker."""
        ends: tuple[Connection, Connection] = self._context.Pipe()
        return ends

    def start(
        self, main: Callable[..., None], *, args: tuple[Any, ...], **named: Any
    ) -> BaseProcess:
        """Start a process that calls a function.

        Raises:
            OSError: If no process can be started.
            EOFError: If it ended before it was one.
        """
        for pause in _PAUSES:
            try:
                return self._start(main, args, named)
            except (OSError, EOFError):
                # A library that crashes on being loaded takes the server with it; without it
                # the crash is that of the case that needs the library.
                self._environment[PRELOAD] = ""
                sleep(pause)
        return self._start(main, args, named)

    def _start(
        self, main: Callable[..., None], args: tuple[Any, ...], named: Mapping[str, Any]
    ) -> BaseProcess:
        process: BaseProcess = self._context.Process(
            target=main, args=args, kwargs=named, name="kinetarium-worker", daemon=True
        )
        with _environment(self._environment), _without_main():
            if sys.platform == "linux":
                self._start_server()
            process.start()
        return process

    def _start_server(self) -> None:
        self._context.set_forkserver_preload(["kinetarium.batch.preload"])
        resource_tracker.ensure_running()  # which would lift the block again
        with _deaf_to_interrupts():
            forkserver.ensure_running()


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """Set variables for processes started meanwhile; libraries read them when they are loaded."""
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


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Start the server with ctrl-C blocked, or it would complain while it is still loading."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
