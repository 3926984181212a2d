import math
import os
import sqlite3
from pathlib import Path

import pytest

from kinetarium.recording.index import IndexFileError, index_bytes, read_index
from kinetarium.recording.recording import Run, RunStatus


def run(number: int) -> Run:
    return Run(
        key=f"key-{number}",
        study="drop",
        case={"number": number, "name": "Ω\udc80"},
        status=RunStatus.TIMED_OUT if number % 3 else RunStatus.COMPLETED,
        message="x" * 200,
        rows=({"value": number / 7, "gone": math.nan},) * (number % 3),
    )


def write(path: Path, count: int) -> Path:
    path.write_bytes(index_bytes({number: run(number) for number in range(count)}))
    return path


def test_there_and_back(tmp_path: Path) -> None:
    found = read_index(write(tmp_path / "index.sqlite", 3))
    assert list(found) == [0, 1, 2]
    for number, one in found.items():
        expected = run(number)
        assert one.case == expected.case and one.status is expected.status
        assert (one.key, one.study) == (expected.key, expected.study)
        assert one.message == expected.message and one.recording is None
        assert len(one.rows) == len(expected.rows)
        assert all(row == {"value": number / 7, "gone": None} for row in one.rows)


def test_the_order_is_that_of_the_positions(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    path.write_bytes(index_bytes({7: run(1), 2: run(3), 5: run(2)}))
    assert [one.key for one in read_index(path).values()] == ["key-3", "key-2", "key-1"]


def test_the_bytes_depend_on_the_runs_alone() -> None:
    numbers = list(range(60))
    forward = index_bytes({number: run(number) for number in numbers})
    assert forward == index_bytes({number: run(number) for number in reversed(numbers)})
    assert forward != index_bytes({number + 1: run(number) for number in numbers})


def test_half_characters_in_a_message(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    path.write_bytes(index_bytes({0: Run("k", "s", {}, RunStatus.FAILED, "no file '\udc80'")}))
    assert read_index(path)[0].message == "no file '\\udc80'"


def test_other_tools_open_it(tmp_path: Path) -> None:
    path = write(tmp_path / "index.sqlite", 60)
    with sqlite3.connect(path) as database:
        assert database.execute("SELECT COUNT(*) FROM runs").fetchone() == (60,)
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()


def test_missing(tmp_path: Path) -> None:
    with pytest.raises(IndexFileError, match="no such file"):
        read_index(tmp_path / "index.sqlite")
    with pytest.raises(IndexFileError, match="not a regular file"):
        read_index(tmp_path)
    (tmp_path / "link").symlink_to(write(tmp_path / "index.sqlite", 1))
    with pytest.raises(IndexFileError, match="symbolic link"):
        read_index(tmp_path / "link")


@pytest.mark.parametrize("suffix", ["-journal", "-wal", "-shm"])
def test_a_journal_beside_it_is_not_looked_at(suffix: str, tmp_path: Path) -> None:
    path = write(tmp_path / "index.sqlite", 2)
    journal = tmp_path / f"index.sqlite{suffix}"
    journal.write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + bytes(2000))
    assert len(read_index(path)) == 2
    assert sorted(os.listdir(tmp_path)) == ["index.sqlite", journal.name]


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("PRAGMA user_version = 2", "of a later release: it has schema 2"),
        ("CREATE TABLE other (key TEXT)", "is not an index of runs"),
        (
            "CREATE VIEW runs AS WITH RECURSIVE x(i) AS (SELECT 1 UNION ALL SELECT i FROM x) "
            "SELECT i FROM x; PRAGMA user_version = 1",
            "is not an index of runs",
        ),
    ],
)
def test_other_databases(script: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    if script.startswith("PRAGMA"):
        write(path, 0)
    with sqlite3.connect(path) as database:
        database.executescript(script)
    database.close()
    with pytest.raises(IndexFileError, match=message):
        read_index(path)


def test_a_database_in_write_ahead_mode(tmp_path: Path) -> None:
    path = write(tmp_path / "index.sqlite", 1)
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA journal_mode = WAL")
    database.close()
    with pytest.raises(IndexFileError, match="is not an index"):
        read_index(path)


def test_no_database(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    for content in (b"", b"something else entirely" * 100):
        path.write_bytes(content)
        with pytest.raises(IndexFileError, match="is not an index"):
            read_index(path)
        assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("key", b"blob"),
        ("position", -1),
        ("position", "first"),
        ("study", None),
        ('"case"', "["),
        ('"case"', "[]"),
        ('"case"', None),
        ("status", "good"),
        ("rows", "{}"),
        ("rows", "[1]"),
        ("rows", "[" * 100_000),
    ],
)
def test_broken_rows(column: str, value: object, tmp_path: Path) -> None:
    path = write(tmp_path / "index.sqlite", 1)
    with sqlite3.connect(path) as database:
        database.execute(f"UPDATE runs SET {column} = ?", (value,))
    database.close()
    with pytest.raises(IndexFileError, match="broken row"):
        read_index(path)


def test_two_runs_in_one_place(tmp_path: Path) -> None:
    path = write(tmp_path / "index.sqlite", 2)
    with sqlite3.connect(path) as database:
        database.execute("UPDATE runs SET position = 0")
    database.close()
    with pytest.raises(IndexFileError, match="two runs at one position"):
        read_index(path)


def test_broken_pages(tmp_path: Path) -> None:
    path = write(tmp_path / "index.sqlite", 60)
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)
    with pytest.raises(IndexFileError, match="malformed"):
        read_index(path)
