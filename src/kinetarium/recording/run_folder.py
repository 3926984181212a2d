"""A run as a folder, written atomically: one .npy file per channel and a manifest."""

import io
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import file_digest, sha256
from io import BufferedReader
from math import prod
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np

from kinetarium.errors import KinetariumError
from kinetarium.recording.recording import Channel, Recording, Run, RunStatus
from kinetarium.spatial.arrays import Array
from kinetarium.storage.atomic import write_folder_atomic
from kinetarium.storage.regular_file import open_regular, reason
from kinetarium.storage.serialization import (
    MOST_JSON_BYTES,
    from_builtins,
    read_sealed_json,
    sealed_json,
    to_builtins,
)

MANIFEST = "manifest.json"
TIMING = "timing.json"

_FILE_NAME = re.compile(r"[0-9]{2,}-[a-z0-9-]+\.npy", re.ASCII)
_DTYPE = re.compile(r"[<>|][biufc][0-9]{1,2}", re.ASCII)


class RunFileError(KinetariumError):
    """A run folder that is broken, was changed, or is of a later release."""


@dataclass(frozen=True, slots=True)
class _ChannelEntry:
    file: str
    unit: str
    columns: tuple[str, ...]
    dtype: str
    shape: tuple[Annotated[int, msgspec.Meta(ge=0)], ...]
    sha256: str


@dataclass(frozen=True, slots=True)
class _RecordingEntry:
    status: str
    facts: dict[str, Any]
    channels: dict[str, _ChannelEntry]


@dataclass(frozen=True, slots=True)
class _RunManifest:
    key: str
    study: str
    case: dict[str, Any]
    status: RunStatus
    message: str
    rows: tuple[dict[str, Any], ...]
    recording: _RecordingEntry | None


def write_run(folder: Path, run: Run, *, timing: Mapping[str, float]) -> None:
    """Write a run, replacing an existing one.

    Everything but the timing depends on the run alone, byte for byte.

    Args:
        folder: The run folder; its parent must exist.
        run: The run; numbers that are not finite become None, except in channels.
        timing: The times of the run by name [s].

    Raises:
        OutputError: If it cannot be written; the previous content is then unchanged.
        RunFileError: If a channel is not numeric.
    """
    files = {TIMING: sealed_json(timing)}
    manifest = _RunManifest(
        key=run.key,
        study=run.study,
        case=dict(run.case),
        status=run.status,
        message=run.message,
        rows=tuple(dict(row) for row in run.rows),
        recording=_add_channels(files, run.recording) if run.recording else None,
    )
    files[MANIFEST] = sealed_json(to_builtins(manifest))
    if len(files[MANIFEST]) > MOST_JSON_BYTES:
        raise RunFileError(f"its rows and facts are larger than {MOST_JSON_BYTES // 10**6} MB")
    write_folder_atomic(folder, files)


def read_run(folder: Path, *, recorded: bool = True) -> Run:
    """Open a run.

    Sizes and headers of all channels are checked. The values stay on disk: each
    access to a channel maps its file again, read-only, so that any number of runs
    can be open at once; the first access compares it with its hash.

    Args:
        folder: The run folder.
        recorded: Whether its recording is opened.

    Raises:
        RunFileError: If it is missing, incomplete, invalid or of a later release.
    """
    manifest = _read_manifest(folder)
    recording = None
    if manifest.recording and recorded:
        channels = _MappedChannels(folder, manifest.recording.channels)
        recording = Recording(channels, manifest.recording.status, manifest.recording.facts)
    return Run(
        key=manifest.key,
        study=manifest.study,
        case=manifest.case,
        status=manifest.status,
        message=manifest.message,
        rows=manifest.rows,
        recording=recording,
    )


def read_timing(folder: Path) -> dict[str, float]:
    """Return the times of a run by name [s].

    Raises:
        RunFileError: If it cannot be read.
    """
    try:
        path = folder / TIMING
        return from_builtins(dict[str, float], read_sealed_json(path), where=repr(str(path)))
    except KinetariumError as error:
        raise RunFileError(str(error)) from None


def verify_run(folder: Path) -> None:
    """Compare every file of a run with its hash.

    Raises:
        RunFileError: If the run cannot be opened, a file has changed, or the folder contains
            a file that is not part of the run.
    """
    manifest = _read_manifest(folder)
    read_timing(folder)
    entries = manifest.recording.channels.values() if manifest.recording else ()
    for entry in entries:
        _check_hash(folder / entry.file, entry)
    expected = {MANIFEST, TIMING, *(entry.file for entry in entries)}
    if others := sorted(set(os.listdir(folder)) - expected):
        raise RunFileError(f"{str(folder / others[0])!r} is not part of the run")


def _add_channels(files: dict[str, bytes], recording: Recording) -> _RecordingEntry:
    entries = {}
    for index, (name, channel) in enumerate(recording.channels.items()):
        values = np.asarray(channel.values, order="C")
        if not _DTYPE.fullmatch(values.dtype.str):
            raise RunFileError(f"channel {name!r} has dtype {values.dtype}, not numbers")
        buffer = io.BytesIO()
        np.lib.format.write_array(buffer, values, allow_pickle=False)
        data = buffer.getvalue()
        file = f"{index:02d}-{_slug(name)}.npy"
        files[file] = data
        entries[name] = _ChannelEntry(
            file=file,
            unit=channel.unit,
            columns=channel.columns,
            dtype=values.dtype.str,
            shape=values.shape,
            sha256=sha256(data).hexdigest(),
        )
    return _RecordingEntry(recording.status, dict(recording.facts), entries)


def _slug(name: str) -> str:
    """Return a name that is valid on any file system; the index before it makes it unique."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "channel"


def _read_manifest(folder: Path) -> _RunManifest:
    path = folder / MANIFEST
    try:
        manifest = from_builtins(_RunManifest, read_sealed_json(path), where=repr(str(path)))
    except KinetariumError as error:
        raise RunFileError(str(error)) from None
    for entry in manifest.recording.channels.values() if manifest.recording else ():
        if not _FILE_NAME.fullmatch(entry.file):
            raise RunFileError(f"{str(path)!r}: {entry.file!r} is not a valid file name")
        if not _DTYPE.fullmatch(entry.dtype):
            raise RunFileError(f"{str(path)!r}: {entry.dtype!r} is not a numeric type")
    return manifest


class _MappedChannels(Mapping[str, Channel]):
    """The channels of a run on disk, memory-mapped on access.

    Each mapping keeps a file descriptor open; mapping all channels of all runs at once
    would exceed the limit of a process.
    """

    def __init__(self, folder: Path, entries: Mapping[str, _ChannelEntry]) -> None:
        self._folder = folder
        self._entries = entries
        self._checked: set[str] = set()
        for entry in entries.values():
            _open_channel(folder / entry.file, entry).close()

    def __getitem__(self, name: str) -> Channel:
        entry = self._entries[name]
        if name not in self._checked:
            _check_hash(self._folder / entry.file, entry)
            self._checked.add(name)
        return Channel(_map_channel(self._folder / entry.file, entry), entry.unit, entry.columns)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def _open_channel(path: Path, entry: _ChannelEntry) -> BufferedReader:
    """Open a file that matches its manifest, positioned at the first value."""
    try:
        file = open_regular(path, through_links=False)
    except (OSError, ValueError) as error:
        raise RunFileError(f"cannot read {str(path)!r}: {reason(error)}") from None
    try:
        if not _has_header(file, entry):
            raise RunFileError(f"{str(path)!r} does not match its manifest")
        start = file.tell()
        if file.seek(0, io.SEEK_END) - start != _dtype(entry).itemsize * prod(entry.shape):
            raise RunFileError(f"{str(path)!r} does not have the size of its array")
        file.seek(start)
        return file
    except OSError as error:
        file.close()
        raise RunFileError(f"cannot read {str(path)!r}: {reason(error)}") from None
    except BaseException:
        file.close()
        raise


def _check_hash(path: Path, entry: _ChannelEntry) -> None:
    with _open_channel(path, entry) as file:
        file.seek(0)
        if file_digest(file, "sha256").hexdigest() != entry.sha256:
            raise RunFileError(f"{str(path)!r} has changed since it was written")


def _has_header(file: BufferedReader, entry: _ChannelEntry) -> bool:
    """Compare a header with the expected one, without parsing it; only its padding may vary.

    The format is that of version 1.0 (numpy.lib.format): a magic string, the header's
    length in two bytes, and the header, padded with spaces and ended by a line break.
    """
    expected = f"{{'descr': {entry.dtype!r}, 'fortran_order': False, 'shape': {entry.shape!r}, }}"
    if file.read(8) != b"\x93NUMPY\x01\x00":
        return False
    header = file.read(int.from_bytes(file.read(2), "little"))
    return header.endswith(b"\n") and header.rstrip() == expected.encode()


def _dtype(entry: _ChannelEntry) -> np.dtype[Any]:
    try:
        return np.dtype(entry.dtype)
    except TypeError:
        raise RunFileError(f"{entry.dtype!r} is not a numeric type") from None


def _map_channel(path: Path, entry: _ChannelEntry) -> Array:
    with _open_channel(path, entry) as file:
        try:
            if 0 in entry.shape:  # an empty file cannot be mapped
                values = np.empty(entry.shape, _dtype(entry))
                values.setflags(write=False)
                return values
            mapped = np.memmap(file, _dtype(entry), mode="r", offset=file.tell(), shape=entry.shape)
        except (OSError, ValueError, MemoryError) as error:
            raise RunFileError(f"cannot map {str(path)!r}: {error}") from None
    return np.asarray(mapped)
