"""ForkServer and ForkedProcess: handles of the fork server and its workers."""

import atexit
import json
import os
import signal
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from subprocess import DEVNULL, Popen
from threading import Lock
from time import monotonic
from typing import Any

from kinetarium.batch._fork_server import kill_when_closed

_MAIN = (
    "import sys; sys.path[:] = {path!a}; from kinetarium.batch._fork_server import serve;"
    " serve({control}, {lifeline}, engines={engines!a})"
)

_FLAGS = {
    "optimize": "-O",
    "dont_write_bytecode": "-B",
    "no_user_site": "-s",
    "ignore_environment": "-E",
}
"""Interpreter flags to pass on."""

_ANSWER_TIMEOUT = 60.0
"""Timeout of a request; after it the server is stopped or stuck [s]."""

_REPORT_TIMEOUT = 5.0
"""Timeout for the exit code of a worker that has exited [s]."""

_LONGEST_MESSAGE = 4096


class ForkServer:
    """A fork server. A process has one at a time, which is replaced when it has exited.

    Attributes:
        has_forked: Whether it has ever forked a worker.
    """

    _current: "ForkServer | None" = None
    _lock = Lock()

    @classmethod
    def current(cls, engines: Sequence[str], *, environment: Mapping[str, str]) -> "ForkServer":
        """Return the server of this process, started if there is none.

        Args:
            engines: Engines that a new server loads.
            environment: Environment variables of a new server, besides those of this process.

        Raises:
            OSError: If none can be started.
        """
        with cls._lock:
            server = cls._current
            if server is None or server._owner != os.getpid():
                cls._current = cls(engines, environment=environment)
            elif not server.is_alive():
                # A library that crashes while it is loaded kills the server; without preloading
                # the crash is that of the case that needs the library.
                server.stop()
                again = engines if server.has_forked else ()
                cls._current = cls(again, environment=environment)
            assert cls._current is not None
            return cls._current

    def __init__(self, engines: Sequence[str], *, environment: Mapping[str, str]) -> None:
        """Start a server without waiting until it has loaded anything; use `current`."""
        self.has_forked = False
        self._owner = os.getpid()
        self._control, theirs = socket.socketpair()
        self._control.settimeout(_ANSWER_TIMEOUT)
        lifeline, write_end = os.pipe()
        self._lifeline = os.fdopen(write_end, "wb", buffering=0)
        main = _MAIN.format(
            path=sys.path, control=theirs.fileno(), lifeline=lifeline, engines=list(engines)
        )
        try:
            with theirs, _ignoring_sigint():
                self._process = Popen(
                    [sys.executable, *_interpreter_flags(), "-c", main],
                    stdin=DEVNULL,
                    env={**os.environ, **environment},
                    pass_fds=(theirs.fileno(), lifeline),
                )
            kill_when_closed(lifeline, self._process.pid)
        except BaseException:
            self._control.close()
            self._lifeline.close()
            raise
        finally:
            os.close(lifeline)
        atexit.register(self.stop)

    def is_alive(self) -> bool:
        """Return whether it accepts requests."""
        return not self._lifeline.closed and self._process.poll() is None

    def fork(self, connection: Connection) -> "ForkedProcess":
        """Request a worker, without waiting for it.

        Args:
            connection: The worker's end of its pipe.

        Raises:
            ConnectionError: If the server has exited.
            TimeoutError: If it does not accept requests.
        """
        status, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        lifeline, write_end = os.pipe()
        process = ForkedProcess(self, status, write_end)
        try:
            with theirs:
                fds = [connection.fileno(), theirs.fileno(), lifeline]
                socket.send_fds(self._control, [b"f"], fds)
        except (ConnectionError, TimeoutError):
            process.close()
            self.stop()  # a dying server would still appear alive
            raise
        except BaseException:
            process.close()
            raise
        finally:
            os.close(lifeline)
        return process

    def stop(self) -> None:
        """Kill it; its workers continue. May be called repeatedly."""
        atexit.unregister(self.stop)
        if self._owner == os.getpid():
            self._control.close()
            self._lifeline.close()
            self._process.kill()  # a child of this process may hold the lifeline, too
            self._process.wait()


class ForkedProcess:
    """A worker requested from the fork server.

    It outlives the server, but then its exit code is unknown.

    Attributes:
        pid: Its process; None until the server has forked it.
        exitcode: Its exit code, or minus the signal that killed it; None if it is alive, or if
            the exit code is unknown.
        failure: Why it could not be forked, or empty.
    """

    def __init__(self, server: ForkServer, status: socket.socket, lifeline: int) -> None:
        """Use `ForkServer.fork`."""
        self.pid: int | None = None
        self.exitcode: int | None = None
        self.failure = ""
        self._server = server
        self._asked = monotonic()
        self._status = status
        self._lifeline = os.fdopen(lifeline, "wb", buffering=0)
        self._pidfd: int | None = None
        self._ended = False

    @property
    def sentinel(self) -> int:
        """A descriptor that becomes ready on a change of state."""
        return self._status.fileno() if self._pidfd is None else self._pidfd

    def is_alive(self) -> bool:
        """Return whether it is running or about to start; updates `exitcode`."""
        if not self._ended and self._pidfd is None:
            self._receive_start()
        if not self._ended and self._pidfd is not None and wait([self._pidfd], timeout=0):
            self._receive_exit()
        return not self._ended

    def kill(self) -> None:
        """Kill it, even before it has started."""
        if self.is_alive() and self._pidfd is None and self._overdue:
            self._server.stop()
        self._lifeline.close()
        # A worker may have closed its lifeline; a pidfd never refers to another process.
        if self._pidfd is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def join(self, timeout: float | None = None) -> None:
        """Wait until it has exited [s], if it was ever started."""
        if self.is_alive() and self._pidfd is not None:
            wait([self._pidfd], timeout=timeout)

    def close(self) -> None:
        """Release it, which kills it if it is alive; may be called repeatedly."""
        self._ended = True
        self._lifeline.close()
        self._status.close()
        if self._pidfd is not None:
            os.close(self._pidfd)
            self._pidfd = None

    @property
    def _overdue(self) -> bool:
        return monotonic() - self._asked > _ANSWER_TIMEOUT

    def _receive_start(self) -> None:
        message, fds = self._receive(timeout=0.0)
        if message is None:
            return
        if "pid" in message:
            self.pid, self._pidfd = message["pid"], fds[0]
            self._server.has_forked = True
        else:
            self.failure = message.get("error", "the fork server has ended")
            self._ended = True

    def _receive_exit(self) -> None:
        message, _ = self._receive(timeout=_REPORT_TIMEOUT)
        if message is None:
            self._server.stop()  # it is stopped or stuck, and cannot fork workers either
        self.exitcode = (message or {}).get("code")
        self._ended = True

    def _receive(self, *, timeout: float) -> tuple[dict[str, Any] | None, list[int]]:
        """Return a message and its descriptors: None if there is none yet, {} after the last."""
        if not wait([self._status], timeout=timeout):
            return None, []
        try:
            data, fds, _, _ = socket.recv_fds(
                self._status, _LONGEST_MESSAGE, 1, socket.MSG_CMSG_CLOEXEC
            )
        except OSError:
            return {}, []
        return (json.loads(data) if data else {}), fds


def _interpreter_flags() -> list[str]:
    flags = [flag for name, flag in _FLAGS.items() for _ in range(getattr(sys.flags, name))]
    flags += [f"-W{warning}" for warning in sys.warnoptions]
    # Drake's own sources are read in the locale's encoding. File names keep their meaning: both
    # encodings escape non-ASCII bytes in the same way. Others, such as Latin-1, are kept.
    if sys.getfilesystemencoding() in ("ascii", "utf-8"):
        flags += ["-X", "utf8"]
    return flags


@contextmanager
def _ignoring_sigint() -> Iterator[None]:
    """Block SIGINT while the server starts, or Ctrl-C would print a traceback while it loads."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
