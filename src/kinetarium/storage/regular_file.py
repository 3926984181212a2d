"""Reading files of unknown origin: only regular files of bounded size."""

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

_FIRST = 2**16


def open_regular(path: Path, *, through_links: bool = True) -> BufferedReader:
    """Open a regular file to read it.

    Opened without blocking and checked by its descriptor, so that a FIFO does
    not block and the file cannot be exchanged between check and read.

    Raises:
        OSError: If it cannot be opened or is not a regular file.
        ValueError: If the path is invalid.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    if not through_links:
        flags |= getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(path, flags)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_regular(path: Path, *, most: int, through_links: bool = True) -> bytes:
    """Read a whole regular file.

    Args:
        most: The largest size that is read [bytes].

    Raises:
        OSError: If it cannot be read, is not a regular file or too large.
        ValueError: If the path is invalid.
    """
    with open_regular(path, through_links=through_links) as file:
        # A buffer of the whole limit takes longer to allocate than a small file to read.
        data = file.read(min(most + 1, _FIRST))
        if len(data) == _FIRST:
            data += file.read(most + 1 - _FIRST)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most / 1e6:g} MB")
    return data


def reason(error: OSError | ValueError) -> str:
    """Return why a file could not be opened, read or written, as the end of a sentence."""
    if isinstance(error, OSError):
        if error.errno == errno.ELOOP:
            return "it is a symbolic link"
        text = error.strerror or str(error)
        return text[:1].lower() + text[1:]
    return "not a valid path"
