"""FolderLock: one writer for a folder, until it lets go or dies."""

import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path
from weakref import finalize

from kinetarium.errors import OutputError
from kinetarium.recording.regular_file import reason

if sys.platform != "win32":
    import fcntl


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
