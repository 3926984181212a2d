"""The fork server process: it has all libraries loaded, and forks workers.

It shares nothing with its coordinator that has a name: no file, no socket in the temporary
folder, no semaphore. So nothing is left behind when one of them is killed, and the kernel kills
the others. Python's own fork server leaves its socket and a second process, and does not tell
whether a worker died or the server itself.
"""

import fcntl
import json
import os
import signal
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import current_process
from multiprocessing.connection import Connection, wait
from typing import NoReturn

_FDS = 3
"""A request is one byte with the worker's pipe, its status socket and its lifeline."""


@dataclass(frozen=True, slots=True)
class _Child:
    """A running worker in the server.

    Attributes:
        pid: Its process.
        status: Socket for its start and its exit code.
        lifeline: Its lifeline, kept open here in case the worker closes its own.
    """

    pid: int
    status: socket.socket
    lifeline: int


def serve(control: int, lifeline: int, *, engines: Sequence[str]) -> None:
    """Load libraries, then fork workers on request until the coordinator exits.

    Args:
        control: The socket of requests.
        lifeline: The pipe whose closing kills this process; it only has to stay open.
        engines: Engines to load.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the coordinator handles the interrupt
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    _preload(engines)
    children: dict[int, _Child] = {}
    with socket.socket(fileno=control) as requests:
        while True:
            for event in wait([requests, *children]):
                if isinstance(event, int):
                    _report_end(children.pop(event), pidfd=event)
                elif not _answer(requests, children, lifeline):
                    return


def kill_when_closed(pipe: int, process: int) -> None:
    """Have the kernel kill a process as soon as the other end of a pipe is closed.

    It works on a process that is stopped, or in a native call that never returns (F_SETSIG and
    O_ASYNC of fcntl(2)). PR_SET_PDEATHSIG of prctl(2) does not suffice: it refers to the thread
    that forked, and the parent of a worker is the fork server, not the coordinator.

    Args:
        pipe: The read end; the signal is set until it is closed everywhere.
    """
    fcntl.fcntl(pipe, fcntl.F_SETOWN, process)
    fcntl.fcntl(pipe, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)
    if wait([pipe], timeout=0):  # it was closed before the signal was set
        os.kill(process, signal.SIGKILL)


def _answer(requests: socket.socket, children: dict[int, _Child], lifeline: int) -> bool:
    """Fork a worker; return False if the coordinator has exited."""
    request, fds, _, _ = socket.recv_fds(requests, 1, _FDS, socket.MSG_CMSG_CLOEXEC)
    if not request:
        return False
    if len(fds) < _FDS:  # the limit of open files was reached; the rest was dropped
        for fd in fds:
            os.close(fd)
        return True
    connection, status_fd, worker_lifeline = fds
    status = socket.socket(fileno=status_fd)
    try:
        pid = os.fork()
    except OSError as error:
        _send(status, {"error": str(error)})
        status.close()
        os.close(worker_lifeline)
        os.close(connection)
        return True
    # In both processes: a worker may be stopped, and its coordinator killed, right after the fork.
    kill_when_closed(worker_lifeline, pid or os.getpid())
    if pid == 0:
        requests.close()
        status.close()
        os.close(lifeline)
        for pidfd, child in children.items():
            os.close(pidfd)
            os.close(child.lifeline)
            child.status.close()
        _become_worker(connection)
    os.close(connection)
    pidfd = os.pidfd_open(pid)
    children[pidfd] = _Child(pid, status, worker_lifeline)
    _send(status, {"pid": pid}, [pidfd])
    return True


def _report_end(child: _Child, *, pidfd: int) -> None:
    _, how = os.waitpid(child.pid, 0)
    _send(child.status, {"code": os.waitstatus_to_exitcode(how)})
    child.status.close()
    os.close(child.lifeline)
    os.close(pidfd)


def _send(status: socket.socket, message: dict[str, int | str], fds: Sequence[int] = ()) -> None:
    with suppress(OSError):  # the coordinator has closed its end
        socket.send_fds(status, [json.dumps(message).encode()], fds)


def _become_worker(pipe: int) -> NoReturn:
    """Run the function that the coordinator sends, and exit."""
    code = 1
    try:
        current_process().daemon = True  # it must not have child processes
        _work(Connection(pipe))
        code = 0
    except BaseException:  # the server's code must not continue in the child
        sys.excepthook(*sys.exc_info())
    finally:
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _work(connection: Connection) -> None:
    with suppress(EOFError):  # the coordinator has cancelled the request
        sys.path[:], folder = connection.recv()  # first: the next message may need them
        if folder is not None:
            os.chdir(folder)
        function, args, named = connection.recv()
        function(connection, *args, **named)


def _preload(engines: Sequence[str]) -> None:
    """Load what a worker needs, and engines; without it workers are only slower.

    An engine that fails to load is left to the case that needs it.

    Args:
        engines: Names of engines.
    """
    with suppress(Exception), _quiet():
        import kinetarium.batch.worker_main
        import kinetarium.rollout.loop  # noqa: F401
        from kinetarium.engines.registry import open_engine

        for name in engines:
            with suppress(Exception):
                open_engine(name)


@contextmanager
def _quiet() -> Iterator[None]:
    """Discard what libraries print while they are loaded."""
    kept = [os.dup(stream) for stream in (1, 2)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        for stream in (1, 2):
            os.dup2(nowhere, stream)
        yield
    finally:
        for stream, before in zip((1, 2), kept, strict=True):
            os.dup2(before, stream)
            os.close(before)
        os.close(nowhere)
