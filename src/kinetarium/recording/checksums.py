"""checksums.json: the SHA-256 of the files of a result folder, to detect damage.

It is removed before the first change of a file and written after the last. It detects
accidents, not forgery: whoever changes a file on purpose can update the checksum.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from hashlib import file_digest
from pathlib import Path
from typing import TypeVar

from kinetarium.errors import KinetariumError, OutputError
from kinetarium.storage.atomic import sync_folder, write_atomic
from kinetarium.storage.regular_file import open_regular, reason
from kinetarium.storage.serialization import from_builtins, read_sealed_json, sealed_json

CHECKSUMS = "checksums.json"

T = TypeVar("T")


class ChecksumError(KinetariumError):
    """A file that has changed since it was written."""


def write_checksums(folder: Path, files: Iterable[str], *, folders: Iterable[str]) -> None:
    """Write the checksums of a folder.

    Args:
        files: Names of files in it; missing ones are skipped.
        folders: Names of subfolders whose files are listed as well.

    Raises:
        OutputError: If a file cannot be read, or the checksums cannot be written.
    """
    names = [*files, *(f"{name}/{file}" for name in folders for file in _listing(folder / name))]
    try:
        found = {name: _digest(folder / name) for name in names if os.path.lexists(folder / name)}
    except OSError as error:
        raise OutputError(f"cannot read {str(folder)!r}: {reason(error)}") from None
    write_atomic(folder / CHECKSUMS, sealed_json({"sha256": found}))


def unseal_folder(folder: Path) -> None:
    """Remove the checksums of a folder that is about to change.

    Raises:
        OutputError: If they cannot be removed.
    """
    try:
        (folder / CHECKSUMS).unlink(missing_ok=True)
        sync_folder(folder)
    except OSError as error:
        raise OutputError(f"cannot write {str(folder)!r}: {reason(error)}") from None


def read_checksums(folder: Path) -> dict[str, str] | None:
    """Return the SHA-256 of the files of a folder by name, or None if it has no checksums.

    It has none while it is being written, if its writer was killed, or if release 0.1 wrote it.

    Raises:
        SerializationError: If they are broken.
    """
    path = folder / CHECKSUMS
    if not os.path.lexists(path):
        return None
    data = read_sealed_json(path)
    return from_builtins(dict[str, str], data.get("sha256"), where=repr(str(path)))


def check_listed(folder: Path, name: str, read: Callable[[Path], T]) -> T:
    """Read a file of a folder and compare it with its checksum, if it has one.

    Raises:
        ChecksumError: If it has changed since it was written.
        SerializationError: If the checksums are broken.
    """
    while True:
        listed = read_checksums(folder)
        value = read(folder / name)
        changed = next(changes(folder, listed, names=(name,)), None) if listed else None
        if changed is None:
            return value
        # Another process may have rewritten the folder meanwhile, checksums included.
        if read_checksums(folder) == listed:
            raise ChecksumError(changed)


def changes(folder: Path, listed: dict[str, str], *, names: Iterable[str]) -> Iterator[str]:
    """Yield a message for each file that does not match its checksum.

    Args:
        names: The files to check; those without a checksum are skipped.
    """
    for name in names:
        if name not in listed:
            continue
        try:
            digest = _digest(folder / name)
        except OSError as error:
            yield f"cannot read {str(folder / name)!r}: {reason(error)}"
            continue
        if digest != listed[name]:
            yield f"{str(folder / name)!r} has changed since it was written"


def _digest(path: Path) -> str:
    with open_regular(path, through_links=False) as file:
        return file_digest(file, "sha256").hexdigest()


def _listing(folder: Path) -> list[str]:
    with suppress(OSError):
        return sorted(os.listdir(folder))
    return []
