"""ResultFolder: everything that one study leaves behind, in the folder named by `--out`."""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from kinetarium.errors import KinetariumError, OutputError
from kinetarium.recording.atomic import (
    is_temporary,
    make_folder,
    remove_leftovers,
    write_atomic,
    write_folder_atomic,
)
from kinetarium.recording.differences import differences
from kinetarium.recording.folder_lock import FolderLock
from kinetarium.recording.index import Index
from kinetarium.recording.plain import read_toml, to_toml
from kinetarium.recording.regular_file import reason
from kinetarium.recording.run import Run
from kinetarium.recording.run_folder import RunFileError, read_run, read_timing, write_run
from kinetarium.recording.strict_json import strict_json
from kinetarium.recording.versioned_json import read_versioned_json, versioned_json

CONFIG = "config.toml"
ENVIRONMENT = "environment.json"
INDEX = "index.sqlite"
RUNS = "runs"
METRICS = "metrics.json"
TIMING = "timing.json"
REPORT = "report.html"
FIGURES = "figures"

_KEY = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}", re.ASCII)
_PICTURE = re.compile(r"\d+-[a-z0-9-]*\.(svg|png)", re.ASCII)
_MOST_DIFFERENCES = 3


class ResultFolderError(KinetariumError):
    """A folder that holds something else than the results asked for."""


class ResultFolder:
    """The results of one config in one environment.

    A run has a folder of its own and a row in the index: the folder is written
    first and the row last, so that a row stands for a whole run. Only one process
    may write, and only between `create` or `writing` and the end of their block;
    anybody may read at any time.

    Attributes:
        path: The folder.
        config: What was asked for, as plain data.
        environment: What it was made with, as plain data.
    """

    def __init__(self, path: Path) -> None:
        """Use `create` or `open`."""
        self.path = path
        self.config: dict[str, Any] = {}
        self.environment: dict[str, Any] = {}
        self._lock: FolderLock | None = None
        self._index: Index | None = None

    @classmethod
    def create(
        cls, path: Path, *, config: Mapping[str, Any], environment: Mapping[str, Any]
    ) -> Self:
        """Make a folder for results, or go on with one, and keep other writers off it.

        Use it as `with ResultFolder.create(...) as folder:`.

        Args:
            path: The folder; it and those above it are made.
            config: What is asked for, as plain data.
            environment: What its results depend on besides, as plain data.

        Raises:
            OutputError: If it cannot be written, or another process is writing it.
            ResultFolderError: If it holds something else already.
        """
        toml = to_toml(config).encode()
        if above := result_folder_above(path):
            raise ResultFolderError(
                f"{str(path)!r} is inside the result folder {str(above)!r}; choose another --out"
            )
        make_folder(path)
        folder = cls(path)
        folder._lock = FolderLock(path)
        try:
            folder._refuse_links()
            if not os.path.exists(path / CONFIG):
                folder._refuse_what_is_there()
                write_atomic(path / CONFIG, toml)
            folder.config = read_toml(path / CONFIG)
            folder.environment = json.loads(strict_json(environment))
            # A process that was killed while it made the folder may have left out the rest.
            if os.path.exists(path / ENVIRONMENT):
                folder.environment = read_versioned_json(path / ENVIRONMENT)
            folder._refuse_another(config, environment)
            if not os.path.exists(path / ENVIRONMENT):
                write_atomic(path / ENVIRONMENT, versioned_json(environment))
            make_folder(folder.runs_path)
            if not os.path.exists(path / INDEX):
                Index(path / INDEX).compact()
        except BaseException:
            folder.close()
            raise
        return folder

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a folder that is there; to read, no permission to write is needed.

        Raises:
            ResultFolderError: If it is not a result folder.
            PlainDataError: If one of its files is broken or of a later release.
        """
        folder = cls(path)
        for name in (CONFIG, ENVIRONMENT, INDEX):
            if not os.path.lexists(path / name):
                raise ResultFolderError(f"{str(path)!r} is not a result folder: no {name}")
        folder.config = read_toml(path / CONFIG)
        folder.environment = read_versioned_json(path / ENVIRONMENT)
        if not isinstance(folder.config.get("study"), str):
            raise ResultFolderError(f"{str(path / CONFIG)!r} names no study")
        if not isinstance(folder.environment.get("versions"), dict):
            raise ResultFolderError(f"{str(path / ENVIRONMENT)!r} names no versions")
        return folder

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep other writers off the folder.

        Raises:
            OutputError: If another process is writing it.
        """
        if self._lock:
            yield
            return
        self._lock = FolderLock(self.path)
        try:
            self._refuse_links()
            yield
        finally:
            self.close()

    def __enter__(self) -> Self:
        """Give the folder."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let others write."""
        self.close()

    def close(self) -> None:
        """Let others write; once is enough."""
        if self._index:
            self._index.close()
            self._index = None
        if self._lock:
            self._lock.release()
            self._lock = None

    @property
    def runs_path(self) -> Path:
        """Where the folders of the runs are."""
        return self.path / RUNS

    @property
    def is_finished(self) -> bool:
        """Whether all runs were judged: the metrics are there."""
        return os.path.isfile(self.path / METRICS)

    @property
    def metrics(self) -> dict[str, Any]:
        """What is in metrics.json, without its schema version.

        Raises:
            PlainDataError: If there is none, or it is broken or of a later release.
        """
        return read_versioned_json(self.path / METRICS)

    def run_folder(self, key: str) -> Path:
        """Give the folder of a run, there or not.

        Raises:
            RunFileError: If the key is no plain name.
        """
        if not _KEY.fullmatch(key):
            raise RunFileError(f"{key!r} is no key of a run")
        return self.runs_path / key

    def committed(self, order: Sequence[str] = ()) -> set[str]:
        """Give the keys of the runs that are kept.

        While writing, index and folders are brought together. A run that ended just
        as the process was killed has a folder and no row: it gets one. A row whose
        folder was lost or broken since is removed.

        Args:
            order: The keys of all runs in the order of the report; a folder without a
                row is taken up only if its place is known from here.

        Raises:
            OutputError: If the index cannot be read or written.
            IndexFileError: If the index is broken.
        """
        with self._reading() as index:
            rows = set(index.keys())
        positions = {key: position for position, key in enumerate(order)}
        kept = {key for key in rows | positions.keys() if self._opens(key)}
        if not self._lock:
            return kept & rows
        for key in kept - rows:
            self._writing_index().add(read_run(self.run_folder(key)), position=positions[key])
        for key in rows - kept:
            self._writing_index().remove(key)
        return kept

    def add(self, run: Run, position: int, *, timing: Mapping[str, float] | None = None) -> None:
        """Keep a run; it is on the disk when this returns.

        Its folder is written, unless a worker did so already: then it is left as it
        is, and `run` may come without its recording.

        Args:
            run: The run.
            position: Its place in the report, counted from 0.
            timing: What it cost by name [s]; nothing is known if None.

        Raises:
            OutputError: If it cannot be written.
        """
        index = self._writing_index()
        folder = self.run_folder(run.key)
        if not self._opens(run.key):
            write_run(folder, run, timing=timing or {})
        index.add(read_run(folder), position=position)

    def runs(self) -> Iterator[Run]:
        """Give the runs in their order, with what they recorded.

        Raises:
            RunFileError: If a run is broken.
        """
        with self._reading() as index:
            keys = index.keys()
        for key in keys:
            yield read_run(self.run_folder(key))

    def timings(self) -> dict[str, dict[str, float]]:
        """Give what each run cost [s] by key, in their order.

        Raises:
            RunFileError: If a run is broken.
        """
        with self._reading() as index:
            return {key: read_timing(self.run_folder(key)) for key in index.keys()}

    def write_metrics(self, payload: Mapping[str, Any]) -> None:
        """Write metrics.json, which marks the folder as finished."""
        self._write(METRICS, versioned_json(payload))

    def write_timing(self, payload: Mapping[str, Any]) -> None:
        """Write timing.json: everything measured in wall-clock or CPU time."""
        self._write(TIMING, versioned_json(payload))

    def write_report(self, html: str) -> None:
        """Write report.html."""
        self._write(REPORT, html.encode(errors="xmlcharrefreplace"))

    def write_figures(self, files: Mapping[str, bytes]) -> None:
        """Write the folder figures/, each file by its plain name.

        Raises:
            ResultFolderError: If somebody has put something else there.
        """
        self._check_writing()
        figures = self.path / FIGURES
        for name in sorted(os.listdir(figures)) if figures.is_dir() else ():
            if not _PICTURE.fullmatch(name):
                raise ResultFolderError(
                    f"{str(figures / name)!r} is not one of our pictures; move it elsewhere"
                )
        write_folder_atomic(self.path / FIGURES, files)

    def finish(self) -> None:
        """Leave nothing but results: no temporary files, and an index made of its rows alone."""
        self._writing_index().compact()
        self._index = None
        remove_leftovers(self.path)
        remove_leftovers(self.runs_path)

    def _write(self, name: str, data: bytes) -> None:
        self._check_writing()
        write_atomic(self.path / name, data)

    def _check_writing(self) -> None:
        if not self._lock:
            raise RuntimeError("a result folder is written within `writing` alone")

    def _writing_index(self) -> Index:
        """Open late: opened for writing, an index is no longer compact."""
        self._check_writing()
        self._index = self._index or Index(self.path / INDEX)
        return self._index

    def _reading(self) -> Index:
        return Index(self.path / INDEX, writing=False)

    def _opens(self, key: str) -> bool:
        try:
            read_timing(self.run_folder(key))
            return read_run(self.run_folder(key)).key == key
        except RunFileError:
            return False

    def _refuse_links(self) -> None:
        """Refuse what would lead outside: a folder that was sent may hold any link."""
        for folder in (self.path, self.runs_path):
            try:
                entries = list(os.scandir(folder)) if folder.is_dir() else []
            except OSError as error:
                raise OutputError(f"cannot read {str(folder)!r}: {reason(error)}") from None
            for entry in entries:
                if entry.is_symlink():
                    raise ResultFolderError(
                        f"{entry.path!r} is a symbolic link, and a result folder holds none;"
                        " remove it"
                    )

    def _refuse_what_is_there(self) -> None:
        try:
            names = sorted(name for name in os.listdir(self.path) if not is_temporary(name))
        except OSError as error:
            raise OutputError(f"cannot read {str(self.path)!r}: {reason(error)}") from None
        if names:
            raise ResultFolderError(
                f"{str(self.path)!r} is not a result folder and not empty: it holds {names[0]!r}; "
                "choose another --out"
            )

    def _refuse_another(self, config: Mapping[str, Any], environment: Mapping[str, Any]) -> None:
        # Through JSON, as what is held has gone through a file. Of the environment only
        # versions change a result; the command may be another one, such as to go on with it.
        asked = json.loads(strict_json({**config, "versions": environment.get("versions")}))
        found = differences({**self.config, "versions": self.environment.get("versions")}, asked)
        if found:
            more = len(found) - _MOST_DIFFERENCES
            shown = found[:_MOST_DIFFERENCES] + ([f"{more} more"] if more > 0 else [])
            raise ResultFolderError(
                f"{str(self.path)!r} holds another run: {', '.join(shown)}; "
                "choose another --out or remove it"
            )


def result_folder_above(path: Path) -> Path | None:
    """Find the result folder that a path is inside of, where only results may be put."""
    for above in path.absolute().parents:
        if os.path.isfile(above / CONFIG) and os.path.isfile(above / INDEX):
            return above
    return None
