"""Atomic files and folders: whoever looks finds the old content or the new, never a part."""

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
_SIDE_BY_SIDE = 4
_OWNED = re.compile(
    rf"{re.escape(_TEMPORARY)}(?P<boot>[0-9a-f]+)-(?P<pid>\d+)-(?P<start>[1-9]\d*)-[0-9a-f]{{16}}",
    re.ASCII,
)
_BEGINNING = 4096
"""How much of a file is looked at to tell who wrote it [bytes]."""


def make_folder(path: Path) -> None:
    """Make a folder and those above it, where they are missing.

    Raises:
        OutputError: If it cannot be made, or something else has its name.
    """
    with _saying_which(path):
        path.mkdir(parents=True, exist_ok=True)


def check_writable(path: Path, *, through_links: bool = False) -> None:
    """Refuse a file that could not be written, before the work that would be lost.

    Args:
        path: The file.
        through_links: Whether a symbolic link is written through.

    Raises:
        OutputError: If its folder is missing or closed, or if what is there is
            a folder, not a regular file, or read-only.
    """
    with _saying_which(path):
        _check_target(_target(path, through_links=through_links))


def check_replaceable(path: Path, *, ours: bytes, force: bool = False) -> None:
    """Refuse to replace a file that Kinetarium did not write.

    Args:
        path: The file, there or not.
        ours: What the beginning of a file of this kind contains if Kinetarium wrote it.
        force: Whether the user wants it replaced whatever it is.

    Raises:
        OutputError: If somebody else's file is there, or it cannot be read.
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
            f"{str(path)!r} exists and was not written by Kinetarium; --force replaces it"
        )


def check_folder(folder: Path, *, ours: str) -> None:
    """Refuse to write into a folder that holds anything but files of ours.

    What replaces or removes a folder would remove them, and a symbolic link in a folder
    received from others may lead anywhere.

    Args:
        folder: The folder, there or not.
        ours: Regular expression of the names that Kinetarium itself puts there.

    Raises:
        OutputError: If something else is there, or a link, or the folder cannot be read.
    """
    with _saying_which(folder):
        if folder.is_symlink():
            raise OSError(errno.ELOOP, "it is a symbolic link")
        if not folder.exists():
            return
        for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
            if entry.is_symlink():
                raise OSError(errno.EEXIST, f"it holds {entry.name!r}, a symbolic link")
            if not re.fullmatch(ours, entry.name, re.ASCII) and not is_temporary(entry.name):
                raise OSError(errno.EEXIST, f"it holds {entry.name!r}, which is not ours")


def write_atomic(path: Path, data: bytes, *, through_links: bool = False) -> None:
    """Write a file through a temporary sibling, fsync and one rename.

    Args:
        path: The file; its folder must exist.
        data: The whole content.
        through_links: Whether a symbolic link is written through, so that it keeps
            pointing where it did. Only for a path that the user named: a link in a
            folder received from others may lead anywhere.

    Raises:
        OutputError: If it cannot be written; what was there before is then untouched.
    """
    with _saying_which(path):
        target = _target(path, through_links=through_links)
        _check_target(target)
        if through_links:  # nobody else clears up in a folder of the user's
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
    """Write a folder of files as one: a temporary sibling is filled and then renamed.

    A folder that was there is moved aside first and removed last. A symbolic link is
    refused: what it leads to would be removed.

    Args:
        path: The folder; its parent must exist.
        files: The content of each file by its plain name.

    Raises:
        OutputError: If it cannot be written; what was there before is then untouched.
    """
    with _saying_which(path):
        target = _target(path, through_links=False)
        temporary, aside = _sibling(target), _sibling(target)
        try:
            temporary.mkdir()
            for name, data in files.items():
                if Path(name).name != name:
                    raise ValueError("a file's name is no path")
                (temporary / name).write_bytes(data)
            # Side by side, so that the disk is waited for a few times and not for every file.
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


def remove_leftovers(folder: Path) -> None:
    """Remove what a killed process left half-written in a folder.

    Only for one who knows that nobody is writing there.

    Args:
        folder: The folder; those below it are not looked at.

    Raises:
        OutputError: If the folder cannot be read.
    """
    with _saying_which(folder):
        for path in list(folder.iterdir()):
            if is_temporary(path.name):
                is_folder = path.is_dir() and not path.is_symlink()
                shutil.rmtree(path) if is_folder else path.unlink()


def remove_abandoned(folder: Path) -> None:
    """Remove what processes of this machine that are gone left half-written in a folder.

    Others may be writing there: what a living process or another machine is writing stays.

    Args:
        folder: The folder; those below it are not looked at.

    Raises:
        OutputError: If the folder cannot be read.
    """
    with _saying_which(folder):
        for path in list(folder.iterdir()):
            if (found := _OWNED.fullmatch(path.name)) and found["boot"] == _boot():
                pid = int(found["pid"])
                if found["start"] != _start_of(pid):
                    is_folder = path.is_dir() and not path.is_symlink()
                    shutil.rmtree(path) if is_folder else path.unlink()


def sync_folder(folder: Path) -> None:
    """Make renames inside a folder last; only POSIX lets a folder be opened.

    Raises:
        OSError: If it cannot be opened.
    """
    if os.name == "posix":
        _sync(folder)


def is_temporary(name: str) -> bool:
    """Return whether a name is one of those that are written under before the rename."""
    return name.startswith(_TEMPORARY)


@contextmanager
def _saying_which(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        raise OutputError(f"cannot write {str(path)!r}: {reason(error)}") from error


def _target(path: Path, *, through_links: bool) -> Path:
    """Resolve the folder; its last name too where links are written through."""
    if through_links:
        return Path(os.path.realpath(path))
    target = Path(os.path.realpath(path.parent)) / path.name
    with suppress(FileNotFoundError, NotADirectoryError):
        if stat.S_ISLNK(os.lstat(target).st_mode):
            raise OSError(errno.ELOOP, "it is a symbolic link")
    return target


def _check_target(target: Path) -> None:
    """Refuse, among others, what a rename would replace although nobody meant it to."""
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
    """Name a file on the same file system; not made from the name, which may be long already.

    The name tells whose it is, so that it can be removed when the owner is gone.
    """
    pid = os.getpid()
    owner = f"{_boot()}-{pid}-{_start_of(pid)}"
    return target.parent / f"{_TEMPORARY}{owner}-{token_hex(8)}"


@cache
def _boot() -> str:
    """Return what tells this machine and its start from others; "0" where that is unknown."""
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text()[:8]
    return "0"


def _start_of(pid: int) -> str:
    """Return when a process began [clock ticks since boot], which a recycled pid does not share.

    "0" stands for a process that is gone, or a system that does not say (proc(5)).
    """
    with suppress(OSError):
        # The name in brackets may hold anything; 19 fields behind it is the start.
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[19].decode()
    return "0"


def _sync(path: Path) -> None:
    """Make what was written last."""
    descriptor = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class FolderLock:
    """Keeps other writers off a folder; readers need no lock.

    The lock is on the folder itself and leaves no file behind; the system
    lets go of it when the process ends, however it ends. Windows has no lock
    on folders: there it is the user who must not write to one from two places.
    """

    def __init__(self, folder: Path) -> None:
        """Take the lock.

        Raises:
            OutputError: If another has it, or the folder cannot be opened.
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
        """Let go; once is enough."""
        self._release()
