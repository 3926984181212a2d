"""verify_folder: compare every file of a result folder with its checksum."""

import os
from collections.abc import Iterator
from pathlib import Path

from kinetarium.errors import KinetariumError
from kinetarium.recording.checksums import CHECKSUMS, changes, read_checksums
from kinetarium.recording.index import read_index
from kinetarium.recording.result_folder import (
    FIGURES,
    FILES,
    INDEX,
    METRICS,
    RUNS,
    TIMING,
    ResultFolder,
)
from kinetarium.recording.run_folder import verify_run
from kinetarium.storage.serialization import read_sealed_json


def verify_folder(path: Path) -> list[str]:
    """Compare every file of a result folder with its checksum.

    Returns:
        A message for each file that is damaged, missing, or not part of the folder.

    Raises:
        KinetariumError: If the result folder cannot be opened.
    """
    folder = ResultFolder.open(path)
    return [*_files(path), *_runs(folder)]


def _files(path: Path) -> Iterator[str]:
    """Check the files beside the runs."""
    try:
        listed = read_checksums(path)
    except KinetariumError as error:
        yield str(error)
        return
    if listed is None:
        yield (
            f"{str(path)!r} has no {CHECKSUMS}: it is being written, is incomplete after a kill"
            " (kinetarium resume), or is of release 0.1"
        )
        return
    yield from changes(path, listed, names=listed)
    names = {*os.listdir(path)} - {CHECKSUMS, TIMING, FIGURES, RUNS}
    if (path / FIGURES).is_dir():
        names |= {f"{FIGURES}/{name}" for name in os.listdir(path / FIGURES)}
    for name in sorted(names - listed.keys()):
        yield f"{str(path / name)!r} is not part of the results"
    for name in (METRICS, TIMING):
        if os.path.lexists(path / name):
            try:
                read_sealed_json(path / name)
            except KinetariumError as error:
                yield str(error)
    for name in FILES:
        if name in listed and not os.path.lexists(path / name):
            yield f"{str(path / name)!r} is missing"


def _runs(folder: ResultFolder) -> Iterator[str]:
    """Check every run, and that the index lists all of them."""
    try:
        indexed = {run.key for run in read_index(folder.path / INDEX).values()}
        found = set(os.listdir(folder.runs_path))
    except (KinetariumError, OSError) as error:
        yield str(error)
        return
    for key in sorted(indexed - found):
        yield f"the run {key!r} is missing"
    for key in sorted(found - indexed):
        yield f"{str(folder.runs_path / key)!r} is not in the index"
    for key in sorted(found & indexed):
        try:
            verify_run(folder.run_folder(key))
        except (KinetariumError, OSError) as error:
            yield str(error)
