"""ForkServer and ForkedProcess: the fork server and its workers as their coordinator sees them."""

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
"""How this interpreter was started, as far as it matters to another one."""

_ANSWER_TIMEOUT = 60.0
"""A server that leaves a request alone for so long is stopped or stuck [s]."""

_REPORT_TIMEOUT = 5.0
"""Time for the server to tell the exit code of a worker that has ended [s]."""

_LONGEST_MESSAGE = 4096


class ForkServer:
    """A fork server. A process has one at a time, and another one when that has ended.

    Attributes:
        has_forked: Whether it has ever forked a worker.
    """

    _current: "ForkServer | None" = None
    _lock = Lock()

    @classmethod
    def current(cls, engines: Sequence[str], *, environment: Mapping[str, str]) -> "ForkServer":
        """Return the server of this process, started anew if there is none.

        Args:
            engines: Engines that a new server loads.
            environment: Variables that a new server is started with, besides those of this process.

        Raises:
            OSError: If none can be started.
        """
        with cls._lock:
            server = cls._current
            if server is None or server._owner != os.getpid():
                cls._current = cls(engines, environment=environment)
            elif not server.is_alive():
                # A library that crashes on being loaded takes the server with it; without it
                # the crash is that of the case that needs the library.
                server.stop()
                again = engines if server.has_forked else ()
                cls._current = cls(again, environment=environment)
            assert cls._current is not None
            return cls._current

    def __init__(self, engines: Sequence[str], *, environment: Mapping[str, str]) -> None:
        """Start a server, and do not wait until it has loaded anything; use `current`."""
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
        """Return whether it can be asked for workers."""
        return not self._lifeline.closed and self._process.poll() is None

    def fork(self, connection: Connection) -> "ForkedProcess":
        """Ask for a worker, and do not wait for it.

        Args:
            connection: The worker's end of its pipe, through which it is told what to do.

        Raises:
            ConnectionError: If the server has ended.
            TimeoutError: If it takes no requests.
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
            self.stop()  # one that is just dying would be taken for alive
            raise
        except BaseException:
            process.close()
            raise
        finally:
            os.close(lifeline)
        return process

    def stop(self) -> None:
        """End it at once; its workers go on. Once is enough."""
        atexit.unregister(self.stop)
        if self._owner == os.getpid():
            self._control.close()
            self._lifeline.close()
            self._process.kill()  # a process forked off this one may hold the lifeline, too
            self._process.wait()


class ForkedProcess:
    """A worker that the fork server was asked for, from the request on.

    It outlives the server, but then nobody can tell its exit code any more.

    Attributes:
        pid: Its process; None until the server has forked it.
        exitcode: Its exit code, minus the signal if one ended it; None if it is alive, or if
            nobody knows how it ended.
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
        """What becomes ready when there is something to look at."""
        return self._status.fileno() if self._pidfd is None else self._pidfd

    def is_alive(self) -> bool:
        """Return whether it is there, or still may come; `exitcode` is up to date afterwards."""
        if not self._ended and self._pidfd is None:
            self._receive_start()
        if not self._ended and self._pidfd is not None and wait([self._pidfd], timeout=0):
            self._receive_exit()
        return not self._ended

    def kill(self) -> None:
        """End it, whether it is there already or comes later."""
        if self.is_alive() and self._pidfd is None and self._overdue:
            self._server.stop()
        self._lifeline.close()
        # A worker may have closed its lifeline, and a signal to one that has ended hits nobody.
        if self._pidfd is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def join(self, timeout: float | None = None) -> None:
        """Wait until it has ended, if it has ever been there [s]."""
        if self.is_alive() and self._pidfd is not None:
            wait([self._pidfd], timeout=timeout)

    def close(self) -> None:
        """Let go of it, which ends it if it is alive; once is enough."""
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
            self._server.stop()  # it is stopped or stuck, and could not fork workers either
        self.exitcode = (message or {}).get("code")
        self._ended = True

    def _receive(self, *, timeout: float) -> tuple[dict[str, Any] | None, list[int]]:
        """Return a message and what came with it: None if there is none yet, {} after the last."""
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
    # Drake's own sources are read in the locale's encoding. File names keep their meaning: what
    # ASCII cannot say is escaped in the same way in both. Others, such as Latin-1, stay.
    if sys.getfilesystemencoding() in ("ascii", "utf-8"):
        flags += ["-X", "utf8"]
    return flags


@contextmanager
def _ignoring_sigint() -> Iterator[None]:
    """Start the server with ctrl-C blocked, or it would complain while it is still loading."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
