"""Index: the runs of a result folder in one SQLite file."""

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from kinetarium.errors import KinetariumError, OutputError
from kinetarium.recording.atomic import write_atomic
from kinetarium.recording.plain import from_plain, to_plain
from kinetarium.recording.run import Run
from kinetarium.recording.strict_json import strict_json

SCHEMA_VERSION = 1

_TABLE = (
    'CREATE TABLE runs (key TEXT PRIMARY KEY, position INTEGER, study TEXT, "case" TEXT, '
    "status TEXT, message TEXT, rows TEXT) WITHOUT ROWID"
)
_INSERT = "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?)"
_SELECT = "SELECT * FROM runs ORDER BY position, key"
_WAIT_SECONDS = 5.0


class IndexFileError(KinetariumError):
    """An index that is broken, something else, or of a later release."""


class Index:
    """The runs that are kept, in the order of the report.

    Whatever is added is on the disk when `add` returns. Of several processes
    only one may write.
    """

    def __init__(self, path: Path, *, writing: bool = True) -> None:
        """Open an index.

        Args:
            path: The file.
            writing: Whether runs will be added; the file is then made if it is missing.

        Raises:
            OutputError: If the file cannot be opened, or not written to.
            IndexFileError: If it is not an index, or of a later release.
        """
        self._path = path
        if writing and not os.path.exists(path):
            write_atomic(path, _database_of([]))
        with self._saying_which():
            self._database = _connect(path)
        try:
            with self._saying_which():
                self._check()
                if writing:
                    # Not the write-ahead log: in its mode whoever merely has the index open
                    # keeps it from ever becoming a single file again.
                    self._database.execute("PRAGMA journal_mode = DELETE")
                    self._database.execute("PRAGMA synchronous = EXTRA")
        except BaseException:
            self._database.close()
            raise

    def __enter__(self) -> Self:
        """Give the index."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the index."""
        self.close()

    def close(self) -> None:
        """Close the file; once is enough."""
        self._database.close()

    def add(self, run: Run, *, position: int) -> None:
        """Add a run, or replace the one of the same key.

        Args:
            run: The run; what it recorded is not kept here.
            position: Its place in the report, counted from 0.

        Raises:
            OutputError: If it cannot be written.
        """
        row = _row(run, position)
        with self._saying_which():
            self._database.execute(_INSERT, row)

    def remove(self, key: str) -> None:
        """Remove the run of a key, if there is one.

        Raises:
            OutputError: If it cannot be written.
        """
        with self._saying_which():
            self._database.execute("DELETE FROM runs WHERE key = ?", (key,))

    def keys(self) -> tuple[str, ...]:
        """Give the keys of all runs in their order.

        Raises:
            IndexFileError: If the file is broken.
        """
        return tuple(run.key for run in self.rows())

    def rows(self) -> tuple[Run, ...]:
        """Give all runs in their order, without what they recorded.

        Raises:
            IndexFileError: If the file is broken.
        """
        with self._saying_which():
            rows = self._database.execute(_SELECT).fetchall()
        try:
            return tuple(map(_run, rows))
        except (ValueError, TypeError, RecursionError, KinetariumError):
            raise IndexFileError(f"{str(self._path)!r} holds a broken row") from None

    def compact(self) -> None:
        """Close the index as a single file whose bytes depend on its rows alone.

        Raises:
            OutputError: If it cannot be written.
        """
        with self._saying_which():
            rows = self._database.execute(_SELECT).fetchall()
            self._database.close()
        write_atomic(self._path, _database_of(rows))

    def _check(self) -> None:
        version = self._database.execute("PRAGMA user_version").fetchone()[0]
        if version > SCHEMA_VERSION:
            raise IndexFileError(
                f"{str(self._path)!r} is of a later release: it has schema {version}, "
                f"this release reads up to {SCHEMA_VERSION}"
            )
        # Anything beside the table, such as a view in its place, would run when it is read.
        if self._database.execute("SELECT sql FROM sqlite_master").fetchall() != [(_TABLE,)]:
            raise IndexFileError(f"{str(self._path)!r} is not an index of runs")

    @contextmanager
    def _saying_which(self) -> Iterator[None]:
        """Turn SQLite's errors into ours."""
        broken = (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)
        try:
            yield
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF in broken:
                raise IndexFileError(
                    f"{str(self._path)!r} is not an index: {error}; remove it, and it is made"
                    " again from the runs"
                ) from None
            raise OutputError(f"cannot use {str(self._path)!r}: {error}") from None


def _connect(path: Path) -> sqlite3.Connection:
    # To read, too: after a kill the first who comes has to undo what was half-written. SQLite
    # itself makes do with a file that may only be read.
    address = f"{path.absolute().as_uri()}?mode=rw"
    return sqlite3.connect(address, uri=True, timeout=_WAIT_SECONDS, isolation_level=None)


def _database_of(rows: list[Any]) -> bytes:
    """Give the content of a file that never was another one."""
    database = sqlite3.connect(":memory:", isolation_level=None)
    try:
        database.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        database.execute(_TABLE)
        database.execute("BEGIN")
        database.executemany(_INSERT, rows)
        database.execute("COMMIT")
        return database.serialize()
    finally:
        database.close()


def _row(run: Run, position: int) -> tuple[Any, ...]:
    # A message may quote a file's name that is no text; SQLite takes text alone.
    message = run.message.encode(errors="backslashreplace").decode()
    case = strict_json(to_plain(run.case), indent=None)
    rows = strict_json(to_plain(run.rows), indent=None)
    return run.key, position, run.study, case, run.status.value, message, rows


def _run(row: tuple[Any, ...]) -> Run:
    key, _, study, case, status, message, rows = row
    plain = {
        "key": key,
        "study": study,
        "case": json.loads(case),
        "status": status,
        "message": message,
        "rows": json.loads(rows),
    }
    return from_plain(Run, plain, where=key)
