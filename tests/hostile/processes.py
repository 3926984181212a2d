"""The processes of a test as the system lists them (proc(5))."""

import time
from collections.abc import Callable
from pathlib import Path


def processes(session: int) -> list[int]:
    """Return the living processes of a session."""
    return [pid for pid in _all() if (words := _stat(pid))[0] not in "ZX" and words[3] == session]


def fork_servers(coordinator: int) -> list[int]:
    """Return the living fork servers of a process."""
    return [pid for pid in _children(coordinator) if b"fork_server" in _command(pid)]


def workers(coordinator: int) -> list[int]:
    """Return the living workers of a process, as long as their fork server lives, too."""
    return [pid for server in fork_servers(coordinator) for pid in _children(server)]


def wait_until(condition: Callable[[], object], *, seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def _children(parent: int) -> list[int]:
    return [pid for pid in _all() if (words := _stat(pid))[0] not in "ZX" and words[1] == parent]


def _all() -> list[int]:
    return [int(folder.name) for folder in Path("/proc").glob("[0-9]*")]


def _stat(pid: int) -> tuple[str, int, int, int]:
    """Return state, parent, group and session; a process that has ended is dead: "X"."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return "X", 0, 0, 0
    return words[0], int(words[1]), int(words[2]), int(words[3])


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
