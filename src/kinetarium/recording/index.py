"""The index of a result folder: its runs in one SQLite file, for listings and other tools.

The run folders are the source of truth; the index can be rebuilt from them. SQLite never
opens the file: it is read into memory and replaced as a whole. For a database that is opened
in place SQLite replays a journal beside it, and a journal may name any file to be deleted.
"""

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from kinetarium.errors import KinetariumError
from kinetarium.recording.recording import Run
from kinetarium.storage.regular_file import read_regular, reason
from kinetarium.storage.serialization import from_builtins, to_builtins
from kinetarium.storage.strict_json import strict_json

SCHEMA_VERSION = 1
MOST_INDEX_BYTES = 1_000_000_000

_TABLE = (
    'CREATE TABLE runs (key TEXT PRIMARY KEY, position INTEGER, study TEXT, "case" TEXT, '
    "status TEXT, message TEXT, rows TEXT) WITHOUT ROWID"
)
_INSERT = "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?)"
_SELECT = "SELECT * FROM runs ORDER BY position, key"
_BROKEN = "remove it, and it is rebuilt from the runs"


class IndexFileError(KinetariumError):
    """An index that is broken, not an index at all, or of a later release."""


def index_bytes(runs: Mapping[int, Run]) -> bytes:
    """Return the content of an index, a function of its runs alone.

    Args:
        runs: The runs by their position in the report, counted from 0. Their recordings
            are not stored.
    """
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        database.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        database.execute(_TABLE)
        database.execute("BEGIN")
        database.executemany(_INSERT, (_row(runs[position], position) for position in sorted(runs)))
        database.execute("COMMIT")
        return database.serialize()


def read_index(path: Path) -> dict[int, Run]:
    """Read an index without writing to the disk.

    Returns:
        The runs by their position in the report, in order, without their recordings.

    Raises:
        IndexFileError: If it cannot be read, is not an index, or of a later release.
    """
    try:
        data = read_regular(path, most=MOST_INDEX_BYTES, through_links=False)
    except (OSError, ValueError) as error:
        raise IndexFileError(f"cannot read {str(path)!r}: {reason(error)}") from None
    try:
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
            database.execute("PRAGMA trusted_schema = OFF")
            database.deserialize(data)
            _check(database, path)
            rows = database.execute(_SELECT).fetchall()
    except (sqlite3.Error, MemoryError) as error:  # MemoryError: an empty file
        why = str(error) or "it is empty"
        raise IndexFileError(f"{str(path)!r} is not an index: {why}; {_BROKEN}") from None
    try:
        runs = {_position(row): _run(row) for row in rows}
    except (ValueError, TypeError, RecursionError, KinetariumError):
        raise IndexFileError(f"{str(path)!r} contains a broken row; {_BROKEN}") from None
    if len(runs) < len(rows):
        raise IndexFileError(f"{str(path)!r} has two runs at one position; {_BROKEN}")
    return runs


def _check(database: sqlite3.Connection, path: Path) -> None:
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        raise IndexFileError(
            f"{str(path)!r} is of a later release: it has schema {version}, "
            f"this release reads up to {SCHEMA_VERSION}"
        )
    # Anything else than the table, such as a view of its name, would be executed by a query.
    if database.execute("SELECT sql FROM sqlite_master").fetchall() != [(_TABLE,)]:
        raise IndexFileError(f"{str(path)!r} is not an index of runs; {_BROKEN}")


def _row(run: Run, position: int) -> tuple[Any, ...]:
    # A message may quote a file name that is not valid text, which SQLite does not accept.
    message = run.message.encode(errors="backslashreplace").decode()
    case = strict_json(to_builtins(run.case), indent=None)
    rows = strict_json(to_builtins(run.rows), indent=None)
    return run.key, position, run.study, case, run.status.value, message, rows


def _position(row: tuple[Any, ...]) -> int:
    if type(row[1]) is not int or row[1] < 0:
        raise ValueError("not a position in the report")
    return row[1]


def _run(row: tuple[Any, ...]) -> Run:
    key, _, study, case, status, message, rows = row
    data = {
        "key": key,
        "study": study,
        "case": json.loads(case),
        "status": status,
        "message": message,
        "rows": json.loads(rows),
    }
    return from_builtins(Run, data, where=key)
