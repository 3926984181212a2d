"""ResultFolder: all results of one study, in the folder named by `--out`."""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any, Self

from kinetarium.errors import KinetariumError, OutputError
from kinetarium.recording.checksums import check_listed, unseal_folder, write_checksums
from kinetarium.recording.index import index_bytes, read_index
from kinetarium.recording.recording import Run
from kinetarium.recording.run_folder import (
    RunFileError,
    read_run,
    read_timing,
    verify_run,
    write_run,
)
from kinetarium.storage.atomic import (
    FolderLock,
    is_temporary,
    make_folder,
    remove_leftovers,
    write_atomic,
    write_folder_atomic,
)
from kinetarium.storage.regular_file import reason
from kinetarium.storage.serialization import (
    MOST_TOML_BYTES,
    read_sealed_json,
    read_toml,
    sealed_json,
    to_toml,
)
from kinetarium.storage.strict_json import strict_json

_MOST_CHARACTERS = 60


def differences(held: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:
    """Describe every value in which two dictionaries differ; a missing one equals None.

    Returns:
        Such as "height 1.0 instead of 0.5".
    """
    there, wanted = _leaves(held, ()), _leaves(asked, ())
    return [
        f"{path[-1]} {_in_words(there.get(path))} instead of {_in_words(wanted.get(path))}"
        for path in there | wanted
        if there.get(path) != wanted.get(path)
    ]


def _leaves(data: Mapping[str, Any], path: tuple[str, ...]) -> dict[tuple[str, ...], Any]:
    """Return the values of nested dictionaries by their key paths."""
    found: dict[tuple[str, ...], Any] = {}
    for name, value in data.items():
        if isinstance(value, Mapping):
            found |= _leaves(value, (*path, name))
        else:
            found[*path, name] = value
    return found


def _in_words(value: Any) -> str:
    if value is None:
        return "none"
    text = strict_json(value, indent=None)
    text = text[1:-1] if isinstance(value, str) else text
    if len(text) <= _MOST_CHARACTERS:
        return text
    # Paths differ at their ends.
    is_path = isinstance(value, str) and "/" in value
    return f"...{text[-_MOST_CHARACTERS:]}" if is_path else f"{text[:_MOST_CHARACTERS]}..."


CONFIG = "config.toml"
ENVIRONMENT = "environment.json"
INDEX = "index.sqlite"
RUNS = "runs"
METRICS = "metrics.json"
TIMING = "timing.json"
REPORT = "report.html"
TABLE = "sweep.parquet"
FIGURES = "figures"
FILES = (CONFIG, ENVIRONMENT, INDEX, METRICS, TABLE, REPORT)
"""The files that depend on the runs alone; timing.json does not, and has its own seal."""

_KEY = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}", re.ASCII)
_PICTURE = re.compile(r"\d+-[a-z0-9-]*\.(svg|png)", re.ASCII)
_MOST_DIFFERENCES = 3
_INDEX_EVERY = 1.0
"""Shortest interval at which the index is written while runs come in [s]."""


class ResultFolderError(KinetariumError):
    """A folder that contains something else than the requested results."""


class ResultFolder:
    """The results of one config in one environment.

    Each run has its own folder, written atomically; the index lists the runs, and is
    rewritten from time to time and at the end. Only one process may write, and only within
    the `with` block of `create` or `writing`; any process may read at any time. At the end
    of the block the checksums of all files are written to checksums.json.

    Attributes:
        path: The folder.
        config: The study's config, as JSON-like data.
        environment: Versions and machine, as JSON-like data.
    """

    def __init__(self, path: Path) -> None:
        """Use `create` or `open`."""
        self.path = path
        self.config: dict[str, Any] = {}
        self.environment: dict[str, Any] = {}
        self._lock: FolderLock | None = None
        self._index: dict[int, Run] | None = None
        """While writing: the runs by their position in the report, without recordings."""
        self._changed = self._index_is_old = False
        self._index_due = 0.0

    @classmethod
    def create(
        cls,
        path: Path,
        *,
        config: Mapping[str, Any],
        environment: Mapping[str, Any],
        shown: str = "",
    ) -> Self:
        """Create a result folder, or resume one, and lock it against other writers.

        Use it as `with ResultFolder.create(...) as folder:`.

        Args:
            path: The folder; it is created with its parents.
            config: The study's config, as JSON-like data.
            environment: What the results are made with, as JSON-like data.
            shown: Table of the config that says what the report shows, if it has one. That of
                an existing folder may differ, and is then replaced; the runs stay.

        Raises:
            OutputError: If it cannot be written, or another process is writing it.
            ResultFolderError: If it contains something else already.
        """
        toml = to_toml(config).encode()
        if len(toml) > MOST_TOML_BYTES:
            raise ResultFolderError(f"the config takes more than {MOST_TOML_BYTES} bytes")
        if above := result_folder_above(path):
            raise ResultFolderError(
                f"{str(path)!r} is inside the result folder {str(above)!r}; choose another --out"
            )
        make_folder(path)
        folder = cls(path)
        folder._lock = FolderLock(path)
        try:
            folder._refuse_links_and_journals()
            if not os.path.exists(path / CONFIG):
                folder._refuse_other_files()
                folder._write(CONFIG, toml)
            folder.config = _read_config(path)
            folder.environment = json.loads(strict_json(environment))
            # A process that was killed while it created the folder may have left it incomplete.
            if os.path.exists(path / ENVIRONMENT):
                folder.environment = read_sealed_json(path / ENVIRONMENT)
            folder._refuse_another(config, shown=shown)
            if folder.config.get(shown) != config.get(shown):
                folder._write(CONFIG, toml)
                folder.config = _read_config(path)
            if not os.path.exists(path / ENVIRONMENT):
                folder._write(ENVIRONMENT, sealed_json(environment))
            make_folder(folder.runs_path)
            if not os.path.exists(path / INDEX):
                folder._write(INDEX, index_bytes({}))
        except BaseException:
            folder.close()
            raise
        return folder

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open an existing folder; reading needs no write permission.

        Raises:
            ResultFolderError: If it is not a result folder.
            SerializationError: If one of its files is broken or of a later release.
        """
        folder = cls(path)
        for name in (CONFIG, ENVIRONMENT, INDEX):
            if not os.path.lexists(path / name):
                raise ResultFolderError(f"{str(path)!r} is not a result folder: no {name}")
        folder.config = _read_config(path)
        folder.environment = read_sealed_json(path / ENVIRONMENT)
        if not isinstance(folder.config.get("study"), str):
            raise ResultFolderError(f"{str(path / CONFIG)!r} does not name a study")
        if not isinstance(folder.environment.get("versions"), dict):
            raise ResultFolderError(f"{str(path / ENVIRONMENT)!r} has no versions")
        return folder

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Lock the folder against other writers.

        Raises:
            OutputError: If another process is writing it.
        """
        if self._lock:
            yield
            return
        self._lock = FolderLock(self.path)
        with self:
            self._refuse_links_and_journals()
            yield

    def __enter__(self) -> Self:
        """Return the folder."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the folder."""
        if error is None:
            self.close()
        else:
            with suppress(OutputError):  # the first error is the one to report
                self.close()

    def close(self) -> None:
        """Write index and checksums and release the lock; further calls do nothing.

        Raises:
            OutputError: If they cannot be written.
        """
        if not self._lock:
            return
        try:
            if self._index_is_old:
                self._write_index()
            if self._changed:
                write_checksums(self.path, FILES, folders=(FIGURES,))
        finally:
            self._index, self._changed, self._index_is_old = None, False, False
            self._lock.release()
            self._lock = None

    @property
    def runs_path(self) -> Path:
        """The folder that contains the run folders."""
        return self.path / RUNS

    @property
    def is_writing(self) -> bool:
        """Whether this object may write to the folder."""
        return self._lock is not None

    @property
    def is_finished(self) -> bool:
        """Whether all runs were scored: metrics.json exists."""
        return os.path.isfile(self.path / METRICS)

    @property
    def metrics(self) -> dict[str, Any]:
        """The content of metrics.json, without its schema version.

        Raises:
            SerializationError: If it is missing, broken or of a later release.
        """
        return read_sealed_json(self.path / METRICS)

    def run_folder(self, key: str) -> Path:
        """Return the folder of a run, existing or not.

        Raises:
            RunFileError: If the key is not a valid name, or a symbolic link is in the way.
        """
        if not _KEY.fullmatch(key):
            raise RunFileError(f"{key!r} is not the key of a run")
        for path in (self.runs_path, self.runs_path / key):
            if path.is_symlink():
                raise RunFileError(f"{str(path)!r} is a symbolic link")
        return self.runs_path / key

    def committed(self, order: Sequence[str] = ()) -> set[str]:
        """Return the keys of the completed runs.

        While writing, the index is updated from the run folders, each of which is compared
        with its checksums: a lost or damaged run counts as missing.

        Args:
            order: The keys of all runs in the order of the report.

        Raises:
            OutputError: If the runs cannot be listed.
            IndexFileError: If the index is broken.
        """
        if not self._lock:
            return {run.key for run in self.rows() if self._opens(run.key)}
        listed = {run.key: position for position, run in self._writing_index().items()}
        places = listed | {key: position for position, key in enumerate(order)}
        last = max(places.values(), default=-1)
        kept: dict[int, Run] = {}
        for key in self._keys_on_disk():
            if self._is_sound(key):
                last += key not in places
                run = replace(read_run(self.run_folder(key)), recording=None)
                kept[places.get(key, last)] = run
        if {position: run.key for position, run in kept.items()} != {
            position: key for key, position in listed.items()
        }:
            self._index, self._index_is_old = kept, True
            self._begin_change()
        return {run.key for run in kept.values()}

    def refuse_other_runs(self, keys: Iterable[str], *, versions: Mapping[str, str]) -> None:
        """Check that the folder has no other runs than those of the config.

        Args:
            keys: The keys of all runs of the config.
            versions: The versions of what they depend on, by name.

        Raises:
            ResultFolderError: If it has others: made with other versions, or of another config.
        """
        asked = set(keys)
        others = (key for key in self._keys_on_disk() if key not in asked and self._is_sound(key))
        if next(others, None) is None:
            return
        held = self.environment.get("versions") or {}
        if not held.keys() >= versions.keys():
            made = "of an earlier release of Kinetarium"
        elif found := differences({name: held[name] for name in versions}, versions):
            made = f"made with other versions: {_shortened(found)}"
        else:
            raise ResultFolderError(
                f"'{self.path}' contains runs of other inputs: since then a file was changed, such"
                " as the robot's, its config.toml was edited, or an engine removed; choose another"
                " --out or remove it"
            )
        raise ResultFolderError(
            f"'{self.path}' contains runs {made}; choose another --out or remove it"
        )

    def renew_environment(self, environment: Mapping[str, Any]) -> None:
        """Replace environment.json if versions have changed that no run in the folder depends on.

        The command and the seed stay those that the folder was created with.
        """
        if self.environment.get("versions") != environment["versions"]:
            first = {name: self.environment.get(name) for name in ("command", "seed")}
            self.environment = json.loads(strict_json({**environment, **first}))
            self._write(ENVIRONMENT, sealed_json(self.environment))

    def add(self, run: Run, position: int, *, timing: Mapping[str, float] | None = None) -> None:
        """Store a run; it is on the disk when this returns.

        Its folder is written, unless a worker did so already; `run` may then come without
        its recording.

        Args:
            position: Its position in the report, counted from 0.
            timing: Its times by name [s], or None.

        Raises:
            OutputError: If it cannot be written.
        """
        self._begin_change()
        if not self._opens(run.key):
            write_run(self.run_folder(run.key), run, timing=timing or {})
        self.add_written(run.key, position)

    def add_written(self, key: str, position: int) -> None:
        """List a run whose folder a worker has written.

        Args:
            position: Its position in the report, counted from 0.

        Raises:
            RunFileError: If it cannot be read.
            OutputError: If the index cannot be written.
        """
        index = self._writing_index()
        self._begin_change()
        index[position] = read_run(self.run_folder(key), recorded=False)
        self._index_is_old = True
        if monotonic() > self._index_due:
            self._write_index()

    def rows(self) -> tuple[Run, ...]:
        """Return the runs in their order, without their recordings.

        Runs that the index does not list yet come last, by their keys.

        Raises:
            IndexFileError: If the index is broken or was changed.
            RunFileError: If a run is broken.
        """
        if self._index is not None:
            return tuple(run for _, run in sorted(self._index.items()))
        listed = {run.key: run for run in check_listed(self.path, INDEX, read_index).values()}
        later = [key for key in self._keys_on_disk() if key not in listed and self._opens(key)]
        return (*listed.values(), *(read_run(self.run_folder(key)) for key in later))

    def runs(self) -> Iterator[Run]:
        """Yield the runs in their order, with their recordings.

        Raises:
            RunFileError: If a run is broken.
        """
        for run in self.rows():
            yield read_run(self.run_folder(run.key))

    def timings(self) -> dict[str, dict[str, float]]:
        """Return the times of each run [s] by key, in their order.

        Raises:
            RunFileError: If a run is broken.
        """
        return {run.key: read_timing(self.run_folder(run.key)) for run in self.rows()}

    def write_metrics(self, payload: Mapping[str, Any]) -> None:
        """Write metrics.json, which marks the folder as finished."""
        self._write(METRICS, sealed_json(payload))

    def write_timing(self, payload: Mapping[str, Any]) -> None:
        """Write timing.json: everything measured in wall-clock or CPU time."""
        self._write(TIMING, sealed_json(payload))

    def write_table(self, data: bytes) -> None:
        """Write sweep.parquet, the table of a sweep."""
        self._write(TABLE, data)

    def write_report(self, html: str) -> None:
        """Write report.html."""
        self._write(REPORT, html.encode(errors="xmlcharrefreplace"))

    def write_figures(self, files: Mapping[str, bytes]) -> None:
        """Write the folder figures/, each file by its name.

        Raises:
            ResultFolderError: If the folder contains other files.
        """
        self._begin_change()
        figures = self.path / FIGURES
        for name in sorted(os.listdir(figures)) if figures.is_dir() else ():
            if not _PICTURE.fullmatch(name):
                raise ResultFolderError(
                    f"{str(figures / name)!r} was not written by Kinetarium; move it elsewhere"
                )
        write_folder_atomic(self.path / FIGURES, files)

    def finish(self) -> None:
        """Remove temporary files and write the index of all runs."""
        self._writing_index()
        self._write_index()
        remove_leftovers(self.path)
        remove_leftovers(self.runs_path)

    def _write(self, name: str, data: bytes) -> None:
        self._begin_change()
        write_atomic(self.path / name, data)

    def _begin_change(self) -> None:
        """Remove the checksums before the first change, so that none are left after a kill."""
        self._check_writing()
        if not self._changed:
            unseal_folder(self.path)
            self._changed = True

    def _check_writing(self) -> None:
        if not self._lock:
            raise RuntimeError("a result folder can only be written within `create` or `writing`")

    def _writing_index(self) -> dict[int, Run]:
        self._check_writing()
        if self._index is None:
            self._index = check_listed(self.path, INDEX, read_index)
        return self._index

    def _write_index(self) -> None:
        """Write the index; the next write is scheduled so that indexing costs little time."""
        began = monotonic()
        self._write(INDEX, index_bytes(self._index or {}))
        self._index_is_old = False
        took = monotonic() - began
        self._index_due = began + max(_INDEX_EVERY, 50 * took)

    def _keys_on_disk(self) -> list[str]:
        names = (entry.name for entry in _entries(self.runs_path))
        return sorted(name for name in names if _KEY.fullmatch(name))

    def _opens(self, key: str) -> bool:
        try:
            read_timing(self.run_folder(key))
            return read_run(self.run_folder(key)).key == key
        except RunFileError:
            return False

    def _is_sound(self, key: str) -> bool:
        try:
            verify_run(self.run_folder(key))
            return read_run(self.run_folder(key)).key == key
        except (RunFileError, OSError):
            return False

    def _refuse_links_and_journals(self) -> None:
        """Refuse symbolic links and SQLite journals, which a received folder may contain.

        Kinetarium itself never lets SQLite open a file in place, but other tools do, and a
        journal beside a replaced index would corrupt it.
        """
        for suffix in ("-journal", "-wal", "-shm"):
            if os.path.lexists(self.path / f"{INDEX}{suffix}"):
                raise ResultFolderError(
                    f"{str(self.path / f'{INDEX}{suffix}')!r} is not part of a result folder;"
                    " remove it"
                )
        for folder in (self.path, self.runs_path):
            for entry in _entries(folder):
                if entry.is_symlink():
                    raise ResultFolderError(
                        f"{entry.path!r} is a symbolic link, which is not allowed in a result"
                        " folder; remove it"
                    )

    def _refuse_other_files(self) -> None:
        names = (entry.name for entry in _entries(self.path))
        if first := min((name for name in names if not is_temporary(name)), default=None):
            raise ResultFolderError(
                f"{str(self.path)!r} is not a result folder and not empty: it has {first!r}; "
                "choose another --out"
            )

    def _refuse_another(self, config: Mapping[str, Any], *, shown: str) -> None:
        held, asked = (
            {name: name == shown or value for name, value in each.items()}
            for each in (self.config, json.loads(strict_json(config)))
        )  # fmt: skip
        if held.get("study") not in (None, asked.get("study")):
            # Values of different studies have nothing to compare.
            held, asked = ({"study": each.get("study")} for each in (held, asked))
        found = differences(held, asked)
        if found:
            raise ResultFolderError(
                f"{str(self.path)!r} contains another run: {_shortened(found)};"
                " choose another --out or remove it"
            )


def _shortened(found: Sequence[str]) -> str:
    more = len(found) - _MOST_DIFFERENCES
    return ", ".join([*found[:_MOST_DIFFERENCES], *([f"{more} more"] if more > 0 else [])])


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        return list(os.scandir(folder)) if folder.is_dir() else []
    except OSError as error:
        raise OutputError(f"cannot read {str(folder)!r}: {reason(error)}") from None


def _read_config(path: Path) -> dict[str, Any]:
    return check_listed(path, CONFIG, lambda file: read_toml(file, through_links=False))


def result_folder_above(path: Path) -> Path | None:
    """Return the result folder that contains a path, or None."""
    for above in path.absolute().parents:
        if os.path.isfile(above / CONFIG) and os.path.isfile(above / INDEX):
            return above
    return None
