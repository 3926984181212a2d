"""Atomic files and folders: a reader sees the old content or the new, never a mixture."""

import errno
import os
import re
import shutil
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from secrets import token_hex
from weakref import finalize

from kinetarium.errors import OutputError
from kinetarium.storage.regular_file import open_regular, reason

if sys.platform != "win32":
    import fcntl


_TEMPORARY = ".kinetarium-"
STUDIO_SESSION = _TEMPORARY + "studio"
"""File of the studio in the folder of results it shows; like temporary ones, no content of it."""
_SIDE_BY_SIDE = 4
_OWNED = re.compile(
    rf"{re.escape(_TEMPORARY)}(?P<boot>[0-9a-f]+)-(?P<pid>\d+)-(?P<start>[1-9]\d*)-[0-9a-f]{{16}}",
    re.ASCII,
)
_BEGINNING = 4096
"""How much of a file is read to find out what program wrote it [bytes]."""


def make_folder(path: Path) -> None:
    """Create a folder and its missing parents.

    Raises:
        OutputError: If it cannot be created, or a file has its name.
    """
    with _saying_which(path):
        path.mkdir(parents=True, exist_ok=True)


def check_writable(path: Path, *, through_links: bool = False) -> None:
    """Check that a file can be written, before the computation whose result would be lost.

    Raises:
        OutputError: If its folder is missing or read-only, or if the path exists and is
            a folder, not a regular file, or read-only.
    """
    with _saying_which(path):
        _check_target(_target(path, through_links=through_links))


def check_replaceable(path: Path, *, ours: bytes, force: bool = False) -> None:
    """Refuse to replace a file that Kinetarium did not write.

    Args:
        path: The file, existing or not.
        ours: What the beginning of a file of this kind contains if Kinetarium wrote it.
        force: Whether to replace it in any case.

    Raises:
        OutputError: If another program wrote the file, or it cannot be read.
    """
    if force or not os.path.lexists(path):
        return
    try:
        with open_regular(path) as file:
            beginning = file.read(_BEGINNING)
    except (OSError, ValueError) as error:
        raise OutputError(f"cannot write {str(path)!r}: {reason(error)}") from None
    if beginning and ours not in beginning:
        raise OutputError(
            f"{str(path)!r} exists and was not written by Kinetarium; --overwrite replaces it"
        )


def check_folder(folder: Path, *, ours: str) -> None:
    """Refuse to write into a folder that contains files of other programs.

    Replacing the folder would delete them, and a symbolic link in a folder received from
    others may point anywhere.

    Args:
        folder: The folder, existing or not.
        ours: Regular expression of the file names that Kinetarium writes there.

    Raises:
        OutputError: If it contains another name or a link, or cannot be read.
    """
    with _saying_which(folder):
        if folder.is_symlink():
            raise OSError(errno.ELOOP, "it is a symbolic link")
        if not folder.exists():
            return
        for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
            if entry.is_symlink():
                raise OSError(errno.EEXIST, f"it contains the symbolic link {entry.name!r}")
            if not re.fullmatch(ours, entry.name, re.ASCII) and not is_temporary(entry.name):
                raise OSError(
                    errno.EEXIST, f"it contains {entry.name!r}, not written by Kinetarium"
                )


def write_atomic(path: Path, data: bytes, *, through_links: bool = False) -> None:
    """Write a file atomically: a temporary file beside it, fsync and one rename.

    Args:
        path: The file; its folder must exist.
        through_links: Whether a symbolic link is followed, so that it keeps its target.
            Only for a path that the user named: a link in a folder received from others
            may point anywhere.

    Raises:
        OutputError: If it cannot be written; the previous content is then unchanged.
    """
    with _saying_which(path):
        target = _target(path, through_links=through_links)
        _check_target(target)
        if through_links:  # nothing else cleans up in a folder of the user's
            remove_abandoned(target.parent)
        temporary = _sibling(target)
        try:
            temporary.write_bytes(data)
            _sync(temporary)
            os.replace(temporary, target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        sync_folder(target.parent)


def write_folder_atomic(path: Path, files: Mapping[str, bytes]) -> None:
    """Write a folder of files atomically: a temporary folder beside it is filled, then renamed.

    An existing folder is moved aside first and deleted last. A symbolic link is refused,
    since its target would be deleted.

    Args:
        path: The folder; its parent must exist.

    Raises:
        OutputError: If it cannot be written; the previous content is then unchanged.
    """
    with _saying_which(path):
        target = _target(path, through_links=False)
        temporary, aside = _sibling(target), _sibling(target)
        try:
            temporary.mkdir()
            for name, data in files.items():
                if Path(name).name != name:
                    raise ValueError("a file name may not contain a path")
                (temporary / name).write_bytes(data)
            # In parallel, since each fsync waits for the disk.
            with ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:
                list(pool.map(_sync, [temporary / name for name in files]))
            sync_folder(temporary)
            if target.exists():
                target.rename(aside)
            temporary.rename(target)
        except BaseException:
            if aside.exists() and not target.exists():
                aside.rename(target)
            shutil.rmtree(temporary, ignore_errors=True)
            raise
        sync_folder(target.parent)
        shutil.rmtree(aside, ignore_errors=True)


def remove_leftovers(folder: Path, *, keep: Path | None = None) -> None:
    """Remove the temporary files that a killed process left in a folder.

    Only for callers that know that no other process is writing there.

    Args:
        folder: The folder; its subfolders are not searched.
        keep: A temporary file or folder that stays, or None.

    Raises:
        OutputError: If the folder cannot be read.
    """
    with _saying_which(folder):
        for path in list(folder.iterdir()):
            if is_temporary(path.name) and path != keep and path.name != STUDIO_SESSION:
                _remove(path)


def remove_abandoned(folder: Path) -> None:
    """Remove the temporary files in a folder whose process on this machine has ended.

    Others may be writing there: files of running processes and of other machines stay.

    Args:
        folder: The folder; its subfolders are not searched.

    Raises:
        OutputError: If the folder cannot be read.
    """
    with _saying_which(folder):
        for path in list(folder.iterdir()):
            if (found := _OWNED.fullmatch(path.name)) and found["boot"] == _boot():
                if found["start"] != _start_of(int(found["pid"])):
                    _remove(path)


def _remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def sync_folder(folder: Path) -> None:
    """Flush renames within a folder to disk; only POSIX can open a folder.

    Raises:
        OSError: If it cannot be opened.
    """
    if os.name == "posix":
        _sync(folder)


def is_temporary(name: str) -> bool:
    """Return whether a name is that of a temporary file or folder before its rename."""
    return name.startswith(_TEMPORARY)


@contextmanager
def _saying_which(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        raise OutputError(f"cannot write {str(path)!r}: {reason(error)}") from error


def _target(path: Path, *, through_links: bool) -> Path:
    """Resolve the links of the path's folder, and of the path itself with `through_links`."""
    if through_links:
        return Path(os.path.realpath(path))
    target = Path(os.path.realpath(path.parent)) / path.name
    with suppress(FileNotFoundError, NotADirectoryError):
        if stat.S_ISLNK(os.lstat(target).st_mode):
            raise OSError(errno.ELOOP, "it is a symbolic link")
    return target


def _check_target(target: Path) -> None:
    """Refuse targets that cannot be written, or that a rename would silently replace."""
    if not target.parent.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, f"{str(target.parent)!r} is not a folder")
    if not os.access(target.parent, os.W_OK):
        raise PermissionError(errno.EACCES, f"{str(target.parent)!r} is read-only")
    if not target.exists():
        return
    mode = target.stat().st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder")
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is not a regular file")
    if not mode & 0o222:
        raise PermissionError(errno.EACCES, "it is read-only")


def _sibling(target: Path) -> Path:
    """Return a temporary name on the same file system, independent of the target's length.

    The name identifies the process, so that the file can be removed when that has ended.
    """
    pid = os.getpid()
    owner = f"{_boot()}-{pid}-{_start_of(pid)}"
    return target.parent / f"{_TEMPORARY}{owner}-{token_hex(8)}"


@cache
def _boot() -> str:
    """Return an identifier of this machine's boot; "0" where the system has none."""
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text()[:8]
    return "0"


def _start_of(pid: int) -> str:
    """Return the start time of a process [clock ticks since boot], to detect a reused pid.

    "0" for a process that has ended, or a system without this information (proc(5)).
    """
    with suppress(OSError):
        # The name in brackets may contain anything; the start time is 19 fields after it.
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[19].decode()
    return "0"


def _sync(path: Path) -> None:
    """Flush a file to disk."""
    descriptor = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def cache_folder() -> Path:
    """Return the folder in which Kinetarium keeps what it can make again.

    Raises:
        OutputError: If the user has no home folder.
    """
    try:
        home = Path.home()
    except RuntimeError:
        raise OutputError("there is no home folder: set HOME") from None
    if sys.platform == "win32":
        root = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        root = home / "Library" / "Caches"
    else:
        root = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return root / "kinetarium"


class FolderLock:
    """Locks a folder against other writers; readers need no lock.

    The lock is on the folder itself and leaves no file behind; the system releases it
    when the process ends, in whatever way. Windows has no locks on folders: there the
    user must not write to one folder from two processes.
    """

    def __init__(self, folder: Path) -> None:
        """Take the lock.

        Raises:
            OutputError: If another process has it, or the folder cannot be opened.
        """
        self._release: Callable[[], object] = lambda: None
        if sys.platform != "win32":
            try:
                descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            except OSError as error:
                raise OutputError(f"cannot write {str(folder)!r}: {reason(error)}") from None
            self._release = finalize(self, os.close, descriptor)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                self.release()
                if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                    raise OutputError(f"another kinetarium is writing {str(folder)!r}") from None
                raise OutputError(f"cannot lock {str(folder)!r}: {reason(error)}") from None

    def release(self) -> None:
        """Release the lock; further calls do nothing."""
        self._release()
