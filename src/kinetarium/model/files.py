"""Reading files of unknown origin: regular files of bounded size, nothing else."""

import os
import stat
from pathlib import Path

from kinetarium.model.findings import Code, Findings

MOST_BYTES = 64 * 2**20
"""The largest file that is read, unless a smaller bound is given."""


def read_regular(
    path: Path, *, findings: Findings, code: Code = Code.UNREADABLE, most: int = MOST_BYTES
) -> bytes:
    """Read a whole regular file.

    Opened without blocking and checked by its descriptor, so that a FIFO does
    not hang the reader and nothing can be swapped in between check and read.

    Args:
        path: The file.
        findings: Names the robot file in the refusal.
        code: The code of the refusal.
        most: The largest size that is read [bytes].

    Raises:
        RobotFileError: If it is missing, not a regular file, or too large.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a valid path"
        raise findings.refusal(
            code,
            f"cannot read {str(path)!r}: {reason.lower()}",
            remedy="name a file that exists and may be read",
        ) from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise findings.refusal(code, f"{str(path)!r} is not a regular file")
        if status.st_size > most:
            raise findings.refusal(
                Code.TOO_LARGE,
                f"{str(path)!r} has {status.st_size / 2**20:.0f} MiB",
                remedy=f"up to {most // 2**20} MiB are read here",
            )
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(most)
    except OSError as error:
        reason = (error.strerror or "read error").lower()
        raise findings.refusal(code, f"cannot read {str(path)!r}: {reason}") from None
    finally:
        os.close(descriptor)
